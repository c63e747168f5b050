#include "sqlite/schema/table_names.h"

#include "sqlite/session/schema_names.h"

#include <string.h>

/* A database in which the name was looked for, and its generation then. */
struct clr_looked_into {
    struct clr_database *database;
    int generation;
};

/* Adds a database, in a read transaction, and looks into it. */
static int look_into(struct clr_connection *connection, const char *schema, const char *name,
                     struct clr_table_names *names, struct clr_table_info *table,
                     struct clr_reason *reason)
{
    const sqlite3_uint64 count = (sqlite3_uint64)names->count + 1;
    struct clr_looked_into *list = sqlite3_realloc64(names->list, count * sizeof *list);
    struct clr_database *database;
    enum clr_reason_code why;

    if (list == NULL)
        return SQLITE_NOMEM;
    names->list = list;
    database = clr_database_get(connection, schema);
    if (database == NULL) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_UNREAD);
        return SQLITE_OK;
    }
    clr_database_hold(database, &why);
    if (why != CLR_WHY_NONE) {
        clr_database_release(database);
        clr_reason_set(reason, why);
        return SQLITE_OK;
    }
    list[names->count++] = (struct clr_looked_into){database, database->generation};
    return clr_table_info_read(connection->db, schema, name, table, reason);
}

int clr_table_names_find(struct clr_connection *connection, const char *schema, const char *name,
                         struct clr_table_names *names, struct clr_table_info *table,
                         struct clr_reason *reason)
{
    struct clr_schema_names all;
    int rc, i;

    if (schema != NULL)
        return look_into(connection, schema, name, names, table, reason);
    rc = look_into(connection, "temp", name, names, table, reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NO_TABLE)
        rc = look_into(connection, "main", name, names, table, reason);
    if (rc != SQLITE_OK || reason->code != CLR_WHY_NO_TABLE)
        return rc;
    rc = clr_schema_names_read(connection->db, &all);
    if (rc != SQLITE_OK) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_LOCKED);
        return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
    }
    for (i = 1; i < all.count && rc == SQLITE_OK && reason->code == CLR_WHY_NO_TABLE; i++) {
        if (sqlite3_stricmp(all.list[i], "temp") != 0)
            rc = look_into(connection, all.list[i], name, names, table, reason);
    }
    clr_schema_names_free(&all);
    return rc;
}

void clr_table_names_release(struct clr_table_names *names)
{
    int i;

    for (i = 0; i < names->count; i++)
        clr_database_release(names->list[i].database);
}

bool clr_table_names_hold(const struct clr_table_names *names, struct clr_reason *reason)
{
    const int last = names->count - 1;
    bool same = names->list[last].generation == names->list[last].database->generation;
    enum clr_reason_code why;
    int i;

    /* The last one is the table's, which is held. */
    for (i = 0; i < last && same; i++) {
        struct clr_database *database = names->list[i].database;
        clr_database_hold(database, &why);
        if (why != CLR_WHY_NONE)
            clr_reason_set_name(reason, CLR_WHY_NAMES_UNREAD, database->schema,
                                strlen(database->schema));
        same = why == CLR_WHY_NONE && names->list[i].generation == database->generation;
        clr_database_release(database);
    }
    return same;
}

void clr_table_names_free(struct clr_table_names *names)
{
    sqlite3_free(names->list);
    *names = (struct clr_table_names){NULL, 0};
}
