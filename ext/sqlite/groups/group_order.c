#include "sqlite/groups/group_order.h"

#include "sqlite/session/statement.h"

#include <string.h>

/* Returns the number of the table's column that a key is, or -1. */
static int column_of_key(const struct clr_query *query, int key)
{
    const struct clr_instruction *x = &query->instructions[query->grouping.keys[key]];
    const bool is_column = x->opcode == CLR_OP_COLUMN ||
                           (x->opcode == CLR_OP_LOOKUP &&
                            strcmp(query->lookups[x->b].text, "\"" CLR_LOOKUP_COLUMN "\"") == 0);

    return is_column ? query->columns[x->a] : -1;
}

/* Finds the index of the table that has a root page: *name is to be freed with sqlite3_free(), or
   NULL if there is none. */
static int find_index(sqlite3 *db, const struct clr_table_info *table, uint32_t root, char **name)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement,
                                   "SELECT name FROM \"%w\".sqlite_master WHERE type = 'index' AND"
                                   " rootpage = %lld",
                                   table->schema, (long long)root);

    *name = NULL;
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        *name = sqlite3_mprintf("%s", sqlite3_column_text(statement, 0));
        rc = *name == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    return clr_statement_end(statement, rc);
}

/* What is found of an index, from its first column on, beside the keys. */
struct comparing {
    int next;            /* the key that is to come */
    bool others;         /* columns that are no keys were between them, or another sequence */
    bool has_descending; /* a column up to the last key descends */
    bool descending[CLR_MOST_KEYS];
};

static void take_column(sqlite3_stmt *statement, const struct clr_table_info *table,
                        const struct clr_query *query, struct comparing *comparing)
{
    /* seqno, cid, name, desc, coll, key */
    const char *name = (const char *)sqlite3_column_text(statement, 2);
    const char *sequence = (const char *)sqlite3_column_text(statement, 4);
    const bool descends = sqlite3_column_int(statement, 3) != 0;
    const int column = column_of_key(query, comparing->next);

    comparing->has_descending = comparing->has_descending || descends;
    if (name == NULL || column < 0 || column >= table->column_count ||
        sqlite3_stricmp(name, table->columns[column].name) != 0) {
        comparing->others = true;
        return;
    }
    if (sequence == NULL || sqlite3_stricmp(sequence, "BINARY") != 0)
        comparing->others = true;
    comparing->descending[comparing->next++] = descends;
}

/*
 * Stores whether the walk over an index gives the groups in the order of their keys, and which of
 * them descend then. Where SQLite has equal keys side by side without a sorter, the index has the
 * keys in their order among its columns, and one value of all others between them. is_sure: whether
 * SQLite is known to rely on that. It does not where it leaves out a DISTINCT because no two rows
 * are alike.
 */
static int compare_index(sqlite3 *db, const struct clr_walk *walk,
                         const struct clr_table_info *table, const struct clr_query *query,
                         bool is_sure, bool *is_same, bool *descending)
{
    const int count = query->grouping.key_count;
    struct comparing comparing = {.next = 0};
    sqlite3_stmt *statement = NULL;
    char *index;
    int rc = find_index(db, table, walk->root, &index), i;

    if (rc == SQLITE_OK && index != NULL)
        rc = clr_statement_prepare(db, &statement, "PRAGMA \"%w\".index_xinfo(\"%w\")",
                                   table->schema, index);
    while (statement != NULL && comparing.next < count && sqlite3_step(statement) == SQLITE_ROW)
        take_column(statement, table, query, &comparing);
    *is_same = comparing.next == count && (is_sure || !comparing.others) &&
               !(walk->has_lists && (walk->descends || comparing.has_descending));
    for (i = 0; i < count; i++)
        descending[i] = comparing.descending[i] != walk->descends;
    sqlite3_free(index);
    return clr_statement_end(statement, rc);
}

/* Whether the groups that a sorter brings together come in the order of their keys. It may have
   keys that are constant, which are none here. */
static bool is_sorted(const struct clr_walk *walk, const struct clr_grouping *grouping)
{
    int count, directions = clr_sorter_directions(walk->sorter, &count), i;

    for (i = 0; i < grouping->key_count && directions >= 0; i++) {
        if (grouping->descending[i] != (count == grouping->key_count && (directions >> i & 1) != 0))
            return false;
    }
    return directions == 0 || (directions > 0 && count == grouping->key_count);
}

/*
 * Stores whether the groups come in the order of their keys, and which of these descend, or, of
 * DISTINCT, in that of their first rows: by_first. DISTINCT without a look at the rows before has
 * equal rows side by side, or leaves itself out.
 */
static int find_order(sqlite3 *db, const struct clr_walk *walk, const struct clr_table_info *table,
                      const struct clr_query *query, bool *is_same, bool *by_first,
                      bool *descending)
{
    const struct clr_grouping *grouping = &query->grouping;

    *by_first = false;
    *is_same = false;
    if (walk->sorter != NULL) {
        *is_same = is_sorted(walk, grouping);
    } else if (walk->kind == CLR_WALK_ONE) {
        *is_same = true;
    } else if (walk->kind == CLR_WALK_TREE && walk->root == table->root) {
        *by_first = grouping->by_first;
        *is_same = !table->without_rowid && !walk->has_lists &&
                   (*by_first ? walk->finds_values && !walk->descends : grouping->key_count == 1);
        descending[0] = walk->descends;
    } else if (walk->kind == CLR_WALK_TREE && !(grouping->by_first && walk->finds_values)) {
        return compare_index(db, walk, table, query, !grouping->by_first, is_same, descending);
    }
    return SQLITE_OK;
}

/* Whether SQLite goes over all rows in the order of their rowids. */
static bool is_in_order(const struct clr_walk *walk, const struct clr_table_info *table)
{
    return walk->kind == CLR_WALK_TREE && walk->is_whole && !walk->descends && !walk->has_lists &&
           walk->root == table->root;
}

int clr_group_order_check(sqlite3 *db, const struct clr_walk *walk,
                          const struct clr_table_info *table, struct clr_query *query,
                          bool *has_changed, struct clr_reason *reason)
{
    struct clr_grouping *grouping = &query->grouping;
    bool is_same = true, by_first = false, descending[CLR_MOST_KEYS];
    int rc = SQLITE_OK;

    *has_changed = false;
    if (query->has_rows) {
        if (!is_in_order(walk, table))
            clr_reason_set(reason, CLR_WHY_HAS_INDEX);
        return SQLITE_OK;
    }
    memcpy(descending, grouping->descending, sizeof descending);
    if (!query->is_ordered)
        rc = find_order(db, walk, table, query, &is_same, &by_first, descending);
    if (rc == SQLITE_OK && !is_same)
        clr_reason_set(reason, CLR_WHY_INDEX_ORDER);
    *has_changed = memcmp(descending, grouping->descending, sizeof descending) != 0;
    memcpy(grouping->descending, descending, sizeof descending);
    grouping->by_first = by_first;
    return rc;
}
