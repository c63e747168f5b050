#include "sqlite/lookups/entries.h"

#include "query/query.h"
#include "sqlite/schema/schema_lock.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/virtual_table.h"

#include <string.h>

/*
 * The tables are eponymous: nothing is created in a schema. Each stays registered with the
 * connection, as a statement that was prepared may still need it.
 */

struct module {
    struct module *next;
    char *declaration;
    char name[]; /* as the connection knows it, without quotes */
};

struct modules {
    struct clr_attachment base;
    struct module *first;
};

static const char pointer_type[] = "clreduce entries";

static char *write_name(const struct clr_column_type *type, const char *format)
{
    return sqlite3_mprintf(format, (int)type->affinity, type->collation);
}

char *clr_entries_name(const struct clr_column_type *type)
{
    return write_name(type, "\"clreduce_entries_%d_%w\"");
}

/* ---- The table. */

enum { ENTRY, SOURCE };

static int connect_table(sqlite3 *db, void *argument, int count, const char *const *arguments,
                         sqlite3_vtab **table, char **error)
{
    const struct module *module = argument;

    (void)count;
    (void)arguments;
    (void)error;
    return clr_virtual_table_connect(db, module->declaration, argument, SOURCE, table);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                  sqlite3_value **arguments)
{
    const struct clr_entries *entries =
        count == 1 ? sqlite3_value_pointer(arguments[0], pointer_type) : NULL;

    (void)number;
    (void)text;
    return entries == NULL ? clr_bound_begin(base, NULL, 0, 0)
                           : clr_bound_begin(base, entries, entries->first, entries->end);
}

/* Gives the last time of the unit that an entry stands for. */
static void set_last(sqlite3_context *result, const struct clr_entries *entries,
                     const struct clr_scalar *entry)
{
    unsigned char last[CLR_TIMESTAMP_MOST];
    struct clr_scalar number;
    struct clr_value value;

    if (entry->tag != CLR_TAG_BYTES) {
        number = clr_time_unit_of_number(entries->last_of, true, *entry);
        clr_scalar_set(result, &number, entries->encoding, SQLITE_STATIC);
        return;
    }
    value = clr_bytes_value(entry->bits);
    if (value.kind == CLR_KIND_TEXT &&
        clr_time_unit_of_text(entries->last_of, true, value.bytes, value.as.size, last))
        sqlite3_result_text(result, (const char *)last, (int)value.as.size, SQLITE_TRANSIENT);
    else
        clr_scalar_set(result, entry, entries->encoding, SQLITE_STATIC);
}

/* The bytes stay the dictionary's, which outlives the statement's step. */
static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number)
{
    const struct clr_bound_cursor *cursor = (const struct clr_bound_cursor *)base;
    const struct clr_entries *entries = cursor->source;
    const struct clr_scalar *entry =
        &entries->dictionary->entries[clr_entries_at(entries, (uint32_t)cursor->row)];

    if (number == ENTRY && entries->last_of != CLR_TIME_NONE)
        set_last(result, entries, entry);
    else if (number == ENTRY)
        clr_scalar_set(result, entry, entries->encoding, SQLITE_STATIC);
    return SQLITE_OK;
}

/* ---- Registering it. */

static void free_modules(struct clr_connection *connection, void *attachment)
{
    struct modules *modules = attachment;
    struct module *module;

    (void)connection;
    while ((module = modules->first) != NULL) {
        modules->first = module->next;
        sqlite3_free(module->declaration);
        sqlite3_free(module);
    }
}

static struct module *new_module(const struct clr_column_type *type, const char *name)
{
    struct module *module = sqlite3_malloc64(sizeof *module + strlen(name) + 1);

    if (module == NULL)
        return NULL;
    memcpy(module->name, name, strlen(name) + 1);
    module->declaration =
        sqlite3_mprintf("CREATE TABLE entries(\"" CLR_LOOKUP_COLUMN "\"%s COLLATE \"%w\", "
                        "\"clreduce:source\" HIDDEN)",
                        clr_affinity_declaration(type->affinity), type->collation);
    if (module->declaration != NULL)
        return module;
    sqlite3_free(module);
    return NULL;
}

int clr_entries_register(struct clr_connection *connection, const struct clr_column_type *type)
{
    static const struct clr_attachment_kind kind = {sizeof(struct modules), free_modules};
    static const sqlite3_module methods = {CLR_BOUND_METHODS, .xConnect = connect_table,
                                           .xFilter = filter, .xColumn = column};
    struct modules *modules = clr_connection_attach(connection, &kind);
    char *name;
    struct module *module;
    int rc = SQLITE_NOMEM;

    if (clr_schema_may_go(connection->db))
        return SQLITE_ERROR;
    name = write_name(type, "clreduce_entries_%d_%s");
    if (modules == NULL || name == NULL)
        goto done;
    rc = SQLITE_OK;
    for (module = modules->first; module != NULL; module = module->next) {
        if (sqlite3_stricmp(module->name, name) == 0)
            goto done;
    }
    module = new_module(type, name);
    if (module == NULL) {
        rc = SQLITE_NOMEM;
        goto done;
    }
    module->next = modules->first;
    modules->first = module;
    rc = sqlite3_create_module_v2(connection->db, module->name, &methods, module, NULL);
    if (rc != SQLITE_OK) {
        modules->first = module->next;
        sqlite3_free(module->declaration);
        sqlite3_free(module);
    }
done:
    sqlite3_free(name);
    return rc;
}

int clr_entries_bind(sqlite3_stmt *statement, int parameter, struct clr_entries *entries)
{
    return sqlite3_bind_pointer(statement, parameter, entries, pointer_type, NULL);
}
