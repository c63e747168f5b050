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

struct cursor {
    sqlite3_vtab_cursor base;
    const struct clr_entries *entries; /* the statement's; NULL: none was bound */
    uint32_t code;
};

static int connect_table(sqlite3 *db, void *argument, int count, const char *const *arguments,
                         sqlite3_vtab **table, char **error)
{
    const struct module *module = argument;

    (void)count;
    (void)arguments;
    (void)error;
    return clr_virtual_table_connect(db, module->declaration, argument, table);
}

static int best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    return clr_virtual_table_plan(info, SOURCE);
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
    (void)table;
    return clr_virtual_table_open(sizeof(struct cursor), result);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                  sqlite3_value **arguments)
{
    struct cursor *cursor = (struct cursor *)base;

    (void)number;
    (void)text;
    cursor->entries = count == 1 ? sqlite3_value_pointer(arguments[0], pointer_type) : NULL;
    cursor->code = cursor->entries == NULL ? 0 : cursor->entries->first;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->code++;
    return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;

    return cursor->entries == NULL || cursor->code >= cursor->entries->end;
}

/* The bytes stay the dictionary's, which outlives the statement's step. */
static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number)
{
    const struct clr_entries *entries = ((const struct cursor *)base)->entries;

    if (number == ENTRY)
        clr_scalar_set(result, &entries->dictionary->entries[((const struct cursor *)base)->code],
                       entries->encoding, SQLITE_STATIC);
    return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *number)
{
    *number = ((const struct cursor *)base)->code;
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
                        "source HIDDEN)",
                        clr_affinity_declaration(type->affinity), type->collation);
    if (module->declaration != NULL)
        return module;
    sqlite3_free(module);
    return NULL;
}

int clr_entries_register(struct clr_connection *connection, const struct clr_column_type *type)
{
    static const struct clr_attachment_kind kind = {sizeof(struct modules), free_modules};
    static const sqlite3_module methods = {.iVersion = 0,
                                           .xConnect = connect_table,
                                           .xBestIndex = best_index,
                                           .xDisconnect = clr_virtual_table_disconnect,
                                           .xOpen = open_cursor,
                                           .xClose = clr_virtual_table_close,
                                           .xFilter = filter,
                                           .xNext = next,
                                           .xEof = eof,
                                           .xColumn = column,
                                           .xRowid = rowid};
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
