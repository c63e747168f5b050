/*
 * Which table the SELECT's name means. It is looked for in temp, main and then the attached
 * databases, so what it means changes with the schema of any database that comes before the
 * table's own, while that one's does not. ATTACH adds a last one; DETACH expires all statements.
 */
#include "sqlite/views/acceleration_private.h"

#include <string.h>

/* A database in which the name was looked for. */
struct clr_named {
    struct clr_database *database;
    int generation; /* of the database, when the plan was made */
};

/* Adds a database, in a read transaction, and looks into it. SQLITE_NOTFOUND: it has no such name;
   else as clr_table_info_read(). */
static int look_into(struct clr_acceleration *acceleration, const char *schema, const char *name,
                     const char **reason)
{
    const sqlite3_uint64 count = (sqlite3_uint64)acceleration->named_count + 1;
    struct clr_named *named =
        sqlite3_realloc64(acceleration->named, count * sizeof *acceleration->named);
    int rc;

    if (named == NULL)
        return SQLITE_NOMEM;
    acceleration->named = named;
    named += acceleration->named_count;
    named->database = clr_database_get(acceleration->connection, schema);
    if (named->database == NULL) {
        *reason = "the database's schema could not be read";
        return SQLITE_ERROR;
    }
    rc = clr_database_hold(named->database, reason);
    if (rc != SQLITE_OK) {
        clr_database_release(named->database);
        return SQLITE_BUSY; /* is to be looked at again */
    }
    named->generation = named->database->generation;
    acceleration->named_count++;
    return clr_table_info_read(acceleration->connection->db, schema, name, &acceleration->table,
                               reason);
}

int clr_acceleration_name(struct clr_acceleration *acceleration, const struct clr_query *query,
                          const char **reason)
{
    sqlite3_stmt *list = NULL;
    int rc;

    acceleration->named_count = 0;
    if (query->schema != NULL)
        return look_into(acceleration, query->schema, query->table, reason);
    rc = look_into(acceleration, "temp", query->table, reason);
    if (rc == SQLITE_NOTFOUND)
        rc = look_into(acceleration, "main", query->table, reason);
    if (rc == SQLITE_NOTFOUND && sqlite3_prepare_v2(acceleration->connection->db,
                                                    "PRAGMA database_list", -1, &list, NULL) != 0)
        rc = SQLITE_NOMEM;
    while (rc == SQLITE_NOTFOUND && list != NULL && sqlite3_step(list) == SQLITE_ROW) {
        const char *schema = (const char *)sqlite3_column_text(list, 1);
        if (sqlite3_column_int(list, 0) > 1)
            rc = schema == NULL ? SQLITE_NOMEM
                                : look_into(acceleration, schema, query->table, reason);
    }
    sqlite3_finalize(list);
    return rc;
}

void clr_acceleration_named(struct clr_acceleration *acceleration)
{
    int i;

    for (i = 0; i < acceleration->named_count; i++)
        clr_database_release(acceleration->named[i].database);
}

int clr_acceleration_check_names(struct clr_acceleration *acceleration)
{
    const char *reason;
    int i, rc = SQLITE_ROW;

    if (acceleration->generation != acceleration->database->generation)
        return SQLITE_SCHEMA;
    /* The last one is the table's, which is held. */
    for (i = 0; i < acceleration->named_count - 1 && rc == SQLITE_ROW; i++) {
        const struct clr_named *named = &acceleration->named[i];
        if (clr_database_hold(named->database, &reason) != SQLITE_OK)
            rc = clr_acceleration_by_rows(
                acceleration, "database %s, which may have a table of the name, could not be read",
                named->database->schema);
        else if (named->generation != named->database->generation)
            rc = SQLITE_SCHEMA;
        clr_database_release(named->database);
    }
    return rc;
}
