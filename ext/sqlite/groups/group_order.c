#include "sqlite/groups/group_order.h"

#include <string.h>

/* What SQLite's plan says. */
struct order {
    bool sorts_groups; /* a sorter brings rows with the same keys together: in the keys' order */
    bool finds_values; /* DISTINCT looks each row up among those before: in the rows' order */
    bool searches;     /* SQLite has something to find rows by */
    char *index;       /* the rows come in the order of this index; NULL: in that of the table */
};

/* Reads the name of an index behind the word INDEX. */
static int read_index(const char *detail, struct order *order)
{
    const char *name = strstr(detail, " INDEX ");
    const char *end;

    if (name == NULL || order->index != NULL)
        return SQLITE_OK;
    name += strlen(" INDEX ");
    end = strstr(name, " (");
    order->index =
        sqlite3_mprintf("%.*s", end == NULL ? (int)strlen(name) : (int)(end - name), name);
    return order->index == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* Whether a line of the plan is about a subquery of an expression: how an IN finds its values, or
   what is behind SCALAR SUBQUERY and LIST SUBQUERY. Children have the number of their parent, and
   numbers rise. *root: that of the subquery, or 0. */
static bool is_inner(sqlite3_stmt *plan, const char *detail, int *root)
{
    if (*root == 0 || sqlite3_column_int(plan, 1) < *root)
        *root = strstr(detail, "SCALAR SUBQUERY") != NULL || strstr(detail, "LIST SUBQUERY") != NULL
                    ? sqlite3_column_int(plan, 0)
                    : 0;
    return *root != 0 || strncmp(detail, "USING ", 6) == 0;
}

static int read_plan(sqlite3 *db, const char *sql, struct order *order)
{
    sqlite3_stmt *statement = NULL;
    char *text = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    int rc = text == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    int root = 0;

    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(statement, 3);

        if (detail == NULL) {
            rc = SQLITE_NOMEM;
        } else if (is_inner(statement, detail, &root)) {
            continue;
        } else if (strstr(detail, "TEMP B-TREE") != NULL) {
            order->sorts_groups = order->sorts_groups || strstr(detail, "GROUP BY") != NULL;
            order->finds_values = order->finds_values || strstr(detail, "DISTINCT") != NULL;
        } else {
            order->searches = order->searches || strncmp(detail, "SEARCH", 6) == 0;
            rc = read_index(detail, order);
        }
    }
    sqlite3_free(text);
    if (rc == SQLITE_OK)
        rc = sqlite3_finalize(statement);
    else
        sqlite3_finalize(statement);
    return rc;
}

/* Returns the number of the table's column that a key is, or -1. */
static int column_of_key(const struct clr_query *query, int key)
{
    const struct clr_instruction *x = &query->instructions[query->grouping.keys[key]];
    const bool is_column = x->opcode == CLR_OP_COLUMN ||
                           (x->opcode == CLR_OP_LOOKUP &&
                            strcmp(query->lookups[x->b].text, "\"" CLR_LOOKUP_COLUMN "\"") == 0);

    return is_column ? query->columns[x->a] : -1;
}

/* Prepares a PRAGMA that lists what the table, or an index of it, has. The statement is NULL unless
   it returns SQLITE_OK. */
static int prepare_list(sqlite3 *db, const struct clr_table_info *table, const char *pragma,
                        const char *of, sqlite3_stmt **statement)
{
    char *sql = sqlite3_mprintf("PRAGMA \"%w\".%s(\"%w\")", table->schema, pragma, of);
    int rc = SQLITE_NOMEM;

    *statement = NULL;
    if (sql != NULL)
        rc = sqlite3_prepare_v2(db, sql, -1, statement, NULL);
    sqlite3_free(sql);
    return rc;
}

/* Stores whether an index has the keys among its columns, in their order, and none descends. */
static int compare_index(sqlite3 *db, const char *index, const struct clr_table_info *table,
                         const struct clr_query *query, bool *is_same)
{
    const int count = query->grouping.key_count;
    sqlite3_stmt *statement;
    int rc = prepare_list(db, table, "index_xinfo", index, &statement);
    bool descends = false;
    int next = 0;

    /* seqno, cid, name, desc, coll, key */
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 2);
        const int column = next < count ? column_of_key(query, next) : -1;

        descends = descends || sqlite3_column_int(statement, 3) != 0;
        next += name != NULL && column >= 0 && column < table->column_count &&
                sqlite3_stricmp(name, table->columns[column].name) == 0;
    }
    *is_same = next == count && !descends;
    return rc == SQLITE_OK ? sqlite3_finalize(statement) : rc;
}

/* Whether each column of an index is one that the query names. */
static int find_named(sqlite3 *db, const char *index, const struct clr_table_info *table,
                      const struct clr_query *query, bool *are_named)
{
    sqlite3_stmt *statement;
    int rc = prepare_list(db, table, "index_info", index, &statement);

    *are_named = true;
    /* seqno, cid, name */
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 2);
        const int column = name == NULL ? -1 : clr_table_info_find(table, name);
        int i;

        for (i = 0; i < query->column_count && query->columns[i] != column; i++)
            ;
        *are_named = *are_named && i < query->column_count;
    }
    return rc == SQLITE_OK ? sqlite3_finalize(statement) : rc;
}

/* Stores whether SQLite may leave out a DISTINCT that it needs no sorter for, since no two rows are
   alike: then they come as they are read, whatever they are read by. Its rule,
   isDistinctRedundant() in where.c, is that they have the rowid, or all columns of a UNIQUE index.
 */
static int find_unique(sqlite3 *db, const struct clr_table_info *table,
                       const struct clr_query *query, bool *may_be_unique)
{
    sqlite3_stmt *statement;
    int rc = prepare_list(db, table, "index_list", table->name, &statement);
    int i;

    *may_be_unique = false;
    for (i = 0; i < query->column_count; i++)
        *may_be_unique = *may_be_unique || query->columns[i] == table->column_count ||
                         table->columns[query->columns[i]].field.index == CLR_FIELD_ROWID;
    /* seq, name, unique */
    while (rc == SQLITE_OK && !*may_be_unique && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);

        if (name == NULL)
            rc = SQLITE_NOMEM;
        else if (sqlite3_column_int(statement, 2) != 0)
            rc = find_named(db, name, table, query, may_be_unique);
    }
    if (rc == SQLITE_OK)
        return sqlite3_finalize(statement);
    sqlite3_finalize(statement);
    return rc;
}

/* Stores whether the rows of a DISTINCT without a sorter come in the order of the keys. Unless an
   index puts equal rows side by side, SQLite has left the DISTINCT out, and they come in the order
   of the table. */
static int find_distinct(sqlite3 *db, const struct order *order, const struct clr_table_info *table,
                         const struct clr_query *query, bool *is_same)
{
    bool may_be_unique = true;
    int rc = SQLITE_OK;

    *is_same = false;
    if (order->index != NULL)
        rc = find_unique(db, table, query, &may_be_unique);
    return rc == SQLITE_OK && !may_be_unique
               ? compare_index(db, order->index, table, query, is_same)
               : rc;
}

/* Stores whether rows come in the order of the keys, by the index or by the table's own key. */
static int find_same(sqlite3 *db, const struct order *order, const struct clr_table_info *table,
                     const struct clr_query *query, bool *is_same)
{
    if (order->index != NULL)
        return compare_index(db, order->index, table, query, is_same);
    *is_same = query->grouping.key_count == 1 && !table->without_rowid;
    return SQLITE_OK;
}

int clr_group_order_check(sqlite3 *db, const char *sql, const struct clr_table_info *table,
                          struct clr_query *query, struct clr_reason *reason)
{
    struct clr_grouping *grouping = &query->grouping;
    struct order order = {.index = NULL};
    bool is_same = false;
    int rc;

    if (query->is_ordered) {
        grouping->by_first = false;
        return SQLITE_OK;
    }
    rc = read_plan(db, sql, &order);
    if (query->has_rows) {
        if (rc == SQLITE_OK && (order.searches || order.index != NULL))
            clr_reason_set(reason, CLR_WHY_HAS_INDEX);
        sqlite3_free(order.index);
        return rc;
    }
    if (rc == SQLITE_OK && grouping->by_first && order.finds_values)
        is_same = order.index == NULL && !table->without_rowid;
    else if (rc == SQLITE_OK && order.sorts_groups)
        is_same = true;
    else if (rc == SQLITE_OK && grouping->by_first)
        rc = find_distinct(db, &order, table, query, &is_same);
    else if (rc == SQLITE_OK)
        rc = find_same(db, &order, table, query, &is_same);
    if (!order.finds_values)
        grouping->by_first = false;
    if (rc == SQLITE_OK && !is_same)
        clr_reason_set(reason, CLR_WHY_INDEX_ORDER);
    sqlite3_free(order.index);
    return rc;
}
