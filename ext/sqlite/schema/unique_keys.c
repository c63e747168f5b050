#include "sqlite/schema/unique_keys.h"

#include "sqlite/session/statement.h"

#include <string.h>

/* The keys that are read so far. */
struct keys {
    struct clr_unique_key *list;
    int count;
};

/* Adds a key without columns. Returns NULL without memory. */
static struct clr_unique_key *add_key(struct keys *keys)
{
    struct clr_unique_key *list =
        sqlite3_realloc64(keys->list, ((sqlite3_uint64)keys->count + 1) * sizeof *list);

    if (list == NULL)
        return NULL;
    keys->list = list;
    memset(&list[keys->count], 0, sizeof *list);
    return &list[keys->count++];
}

static int add_rowid(const struct clr_table_info *table, struct keys *keys)
{
    int i;

    for (i = 0; i <= table->column_count && !table->without_rowid; i++) {
        struct clr_unique_key *key;

        if (i < table->column_count && table->columns[i].field.index != CLR_FIELD_ROWID)
            continue;
        key = add_key(keys);
        if (key == NULL)
            return SQLITE_NOMEM;
        key->count = 1;
        key->columns[0] = i;
        strcpy(key->collations[0], "BINARY");
    }
    return SQLITE_OK;
}

/* Adds the columns of an index, whose list PRAGMA index_xinfo gives. Returns whether it is a key
   that may be used. */
static bool take_columns(sqlite3_stmt *statement, const struct clr_table_info *table,
                         struct clr_unique_key *key)
{
    /* seqno, cid, name, desc, coll, key */
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 2);
        const char *collation = (const char *)sqlite3_column_text(statement, 4);

        if (sqlite3_column_int(statement, 5) == 0)
            continue;
        if (key->count == CLR_MOST_KEY_COLUMNS || name == NULL || collation == NULL ||
            strlen(collation) >= CLR_COLLATION_NAME)
            return false;
        key->columns[key->count] = clr_table_info_find(table, name);
        if (key->columns[key->count] < 0 || key->columns[key->count] >= table->column_count)
            return false;
        strcpy(key->collations[key->count++], collation);
    }
    return key->count > 0;
}

static int add_index(sqlite3 *db, const struct clr_table_info *table, const char *index,
                     struct keys *keys)
{
    struct clr_unique_key *key = add_key(keys);
    sqlite3_stmt *statement;
    int rc;

    if (key == NULL)
        return SQLITE_NOMEM;
    rc = clr_statement_prepare(db, &statement, "PRAGMA \"%w\".index_xinfo(\"%w\")", table->schema,
                               index);
    if (rc != SQLITE_OK || !take_columns(statement, table, key))
        keys->count--;
    return clr_statement_end(statement, rc);
}

int clr_unique_keys_read(sqlite3 *db, const struct clr_table_info *table,
                         struct clr_unique_key **list, int *count)
{
    struct keys keys = {.list = NULL};
    sqlite3_stmt *statement = NULL;
    int rc = add_rowid(table, &keys);

    if (rc == SQLITE_OK)
        rc = clr_statement_prepare(db, &statement, "PRAGMA \"%w\".index_list(\"%w\")",
                                   table->schema, table->name);
    /* seq, name, unique, origin, partial */
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        if (sqlite3_column_int(statement, 2) != 0 && sqlite3_column_int(statement, 4) == 0)
            rc = add_index(db, table, (const char *)sqlite3_column_text(statement, 1), &keys);
    }
    rc = clr_statement_end(statement, rc);
    if (rc != SQLITE_OK) {
        sqlite3_free(keys.list);
        keys = (struct keys){.list = NULL};
    }
    *list = keys.list;
    *count = keys.count;
    return rc;
}
