#include "sqlite/schema/row_order.h"

#include "base/memory.h"
#include "query/syntax/print.h"
#include "query/syntax/syntax.h"
#include "query/syntax/word.h"
#include "sqlite/session/statement.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of the table's column that a key is, or -1. */
static int column_of_key(const struct clr_query *query, int key)
{
    const struct clr_instruction *x = &query->instructions[query->grouping.keys[key]];
    const bool is_column =
        x->opcode == CLR_OP_COLUMN ||
        (x->opcode == CLR_OP_LOOKUP && strcmp(query->lookups[x->b].text, CLR_LOOKUP_ENTRY) == 0);

    return is_column ? query->columns[x->a].number : -1;
}

/* What list_columns() gives of a column. */
enum { AT_PLACE, AT_NAME = 2, AT_DESCENDS, AT_SEQUENCE, AT_IS_KEY };

/* Prepares a statement that lists the columns of the index of a table that has a b-tree, which is
   of the table's database; NULL: there is none. Returns SQLITE_OK, or SQLite's code. */
static int list_columns(sqlite3 *db, const char *schema, const char *table, int64_t tree,
                        sqlite3_stmt **columns)
{
    sqlite3_stmt *found;
    int rc = clr_statement_prepare(db, &found,
                                   "SELECT name FROM \"%w\".sqlite_master WHERE type = 'index' AND"
                                   " rootpage = %lld AND tbl_name = %Q COLLATE NOCASE",
                                   schema, (long long)(uint32_t)tree, table);

    *columns = NULL;
    if (rc == SQLITE_OK && sqlite3_step(found) == SQLITE_ROW)
        rc = clr_statement_prepare(db, columns, "PRAGMA \"%w\".index_xinfo(\"%w\")", schema,
                                   sqlite3_column_text(found, 0));
    return clr_statement_end(found, rc);
}

/* The same of the index of a table. */
static int list_index(sqlite3 *db, const struct clr_table_info *table, int64_t tree,
                      sqlite3_stmt **columns)
{
    *columns = NULL;
    return tree >> 32 == table->tree >> 32
               ? list_columns(db, table->schema, table->name, tree, columns)
               : SQLITE_OK;
}

/* The same as clr_row_order_find() for the index of a table with that b-tree. */
static int find_index_order(sqlite3 *db, const char *schema, const char *table, int64_t tree,
                            const struct clr_token *alias, char **order)
{
    struct clr_printer printer = {.syntax = NULL};
    sqlite3_stmt *columns;
    int rc = list_columns(db, schema, table, tree, &columns);
    bool is_fine = columns != NULL;

    *order = NULL;
    while (is_fine && sqlite3_step(columns) == SQLITE_ROW &&
           sqlite3_column_int(columns, AT_IS_KEY) != 0) {
        const char *name = (const char *)sqlite3_column_text(columns, AT_NAME);
        const char *sequence = (const char *)sqlite3_column_text(columns, AT_SEQUENCE), *own;

        is_fine = name != NULL && sequence != NULL &&
                  sqlite3_table_column_metadata(db, schema, table, name, NULL, &own, NULL, NULL,
                                                NULL) == SQLITE_OK;
        if (!is_fine)
            break;
        clr_text_add(&printer.text, "%.*s.", (int)alias->length, alias->text);
        clr_print_name(&printer, name);
        if (sqlite3_stricmp(sequence, own) != 0) {
            clr_text_add(&printer.text, " COLLATE");
            clr_print_name(&printer, sequence);
        }
        clr_text_add(&printer.text, sqlite3_column_int(columns, AT_DESCENDS) ? " DESC," : ",");
    }
    rc = clr_statement_end(columns, rc);
    *order = clr_text_end(&printer.text);
    if (*order == NULL)
        return SQLITE_NOMEM;
    if (rc == SQLITE_OK && is_fine && **order != '\0')
        return SQLITE_OK;
    clr_memory_free(*order);
    *order = NULL;
    return rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}

int clr_row_order_find(sqlite3 *db, const struct clr_bytecode *program, const char *table,
                       uint32_t root, const struct clr_token *alias, char **order)
{
    const int64_t walked = clr_bytecode_outermost_tree(program);

    *order = NULL;
    if (walked == 0)
        return SQLITE_NOTFOUND;
    return walked == root ? SQLITE_OK : find_index_order(db, "main", table, walked, alias, order);
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
    const char *name = (const char *)sqlite3_column_text(statement, AT_NAME);
    const char *sequence = (const char *)sqlite3_column_text(statement, AT_SEQUENCE);
    const bool descends = sqlite3_column_int(statement, AT_DESCENDS) != 0;
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
    sqlite3_stmt *statement;
    int rc = list_index(db, table, walk->tree, &statement), i;

    while (statement != NULL && comparing.next < count && sqlite3_step(statement) == SQLITE_ROW)
        take_column(statement, table, query, &comparing);
    *is_same = comparing.next == count && (is_sure || !comparing.others) &&
               !(walk->has_lists && (walk->descends || comparing.has_descending));
    for (i = 0; i < count; i++)
        descending[i] = comparing.descending[i] != walk->descends;
    return clr_statement_end(statement, rc);
}

/* Returns which keys of a sorter descend, as bits, the first key's being bit 0, and stores how many
   keys there are; -1 if p4 does not say it for certain. It is "k(2,-B,NOCASE)": a sign where a key
   descends, and the name of its collating sequence. A name of other characters than words have
   leaves it open what is a sign or a comma. */
static int find_directions(const struct clr_vdbe_op *sorter, int *count)
{
    enum { MOST_KEYS = 30 };
    const char *at = sorter->p4;
    char *end;
    int directions = 0, i;

    if (strncmp(at, "k(", 2) != 0)
        return -1;
    *count = (int)strtol(at + 2, &end, 10);
    for (i = 0, at = end; i < *count && *count <= MOST_KEYS && *at == ','; i++) {
        at++;
        directions |= (*at == '-') << i;
        at = clr_word_end(at + (*at == '-'));
    }
    return i == *count && i > 0 && strcmp(at, ")") == 0 ? directions : -1;
}

/* Stores which keys descend of groups that a sorter brings together. It may have keys that are
   constant, which are none here. Returns whether that is known. */
static bool read_sorter(const struct clr_walk *walk, const struct clr_grouping *grouping,
                        bool *descending)
{
    int count, directions = find_directions(walk->sorter, &count), i;

    for (i = 0; i < grouping->key_count && directions >= 0; i++)
        descending[i] = (directions >> i & 1) != 0;
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
        *is_same = read_sorter(walk, grouping, descending);
    } else if (walk->kind == CLR_WALK_ONE) {
        *is_same = true;
    } else if (walk->kind == CLR_WALK_TREE && walk->tree == table->tree) {
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
           walk->tree == table->tree;
}

/* Whether one of these has ORDER BY. */
static bool has_inner_order(const struct clr_select_tree *select)
{
    const struct clr_select_tree *inner;
    bool has = false;
    int i;

    for (i = 0; i < select->source_count && !has; i++) {
        inner = select->sources[i].inner;
        has = inner != NULL && (inner->terms.first != NULL || has_inner_order(inner));
    }
    return has;
}

/* Whether a column of an index, of list_columns(), is what a term is, one of those that rows are
   grouped or sorted by. */
static bool is_column(const struct clr_node *term, sqlite3_stmt *statement)
{
    const char *name = (const char *)sqlite3_column_text(statement, AT_NAME);
    const char *sequence = (const char *)sqlite3_column_text(statement, AT_SEQUENCE);
    const struct clr_node *column = term->first;

    return name != NULL && sequence != NULL && column->kind == CLR_N_COLUMN &&
           column->column.is_binary && !column->column.is_rowid &&
           sqlite3_stricmp(column->column.name, name) == 0 &&
           sqlite3_stricmp(sequence, "BINARY") == 0;
}

/* Returns the table that all keys are columns of, or NULL. */
static const struct clr_table_info *find_table_of_keys(const struct clr_joined *joined,
                                                       const struct clr_query *query)
{
    const struct clr_node *term = query->syntax->select.keys.first;
    const int dimension = term == NULL ? 0 : term->first->dimension;

    if (term == NULL || query->grouping.by_first)
        return NULL;
    for (; term != NULL; term = term->next) {
        if (term->first->kind != CLR_N_COLUMN || term->first->item != NULL ||
            term->first->dimension != dimension)
            return NULL;
    }
    return dimension == 0 ? joined->fact : &joined->tables[query->dimensions[dimension - 1].source];
}

/* Stores whether an index of the table, with that b-tree, has the keys in their order in front of
   all else, and which of them descend in it. */
static int compare_keys(sqlite3 *db, const struct clr_table_info *table, int64_t tree,
                        const struct clr_query *query, bool *are_same, bool *descending)
{
    const struct clr_node *term = query->syntax->select.keys.first;
    sqlite3_stmt *statement;
    int rc = list_index(db, table, tree, &statement), i;

    for (i = 0; statement != NULL && term != NULL && sqlite3_step(statement) == SQLITE_ROW &&
                is_column(term, statement);
         term = term->next)
        descending[i++] = sqlite3_column_int(statement, AT_DESCENDS) != 0;
    *are_same = statement != NULL && term == NULL;
    return clr_statement_end(statement, rc);
}

/*
 * Stores whether the groups of a join, or of rows with subqueries in expressions, come in the order
 * of their keys, all of which are columns of the outermost table in SQLite's loops: by its rowid,
 * which is the first key, or by an index that has the keys in their order. Stores which of them
 * descend.
 */
static int compare_outermost(sqlite3 *db, const struct clr_bytecode *program,
                             const struct clr_joined *joined, const struct clr_query *query,
                             bool *are_same, bool *descending)
{
    const struct clr_table_info *table = find_table_of_keys(joined, query);
    const int64_t tree = table == NULL ? 0 : clr_bytecode_grouping_tree(program);
    const struct clr_known_column *first;

    *are_same = false;
    /* RIGHT JOIN gives the rows that have none of the outermost table last. */
    if (tree == 0 || table->without_rowid ||
        clr_select_join(&query->syntax->select)->sources[0].is_left)
        return SQLITE_OK;
    memset(descending, 0, CLR_MOST_KEYS * sizeof *descending);
    if (tree != table->tree)
        return compare_keys(db, table, tree, query, are_same, descending);
    first = &query->syntax->select.keys.first->first->column;
    *are_same =
        first->is_rowid || table->columns[first->number].field.index == (int)CLR_FIELD_ROWID;
    return SQLITE_OK;
}

/*
 * Finds the order of the groups in SQLite's own code for the SELECT, whose walk over the table's
 * rows is known: that of a sorter's keys, or of the b-tree that has equal keys side by side, from
 * one end or the other. It is written to the query's grouping, as keys that descend, or by_first.
 * Sets the reason where it is an order that groups can't be brought into, or one that is not known.
 *
 * Stores whether other keys descend than before: then the query is to be written anew. Returns
 * SQLITE_OK, or SQLite's code.
 */
static int check_groups(sqlite3 *db, const struct clr_bytecode *program,
                        const struct clr_walk *walk, const struct clr_joined *joined,
                        struct clr_query *query, bool *has_changed, struct clr_reason *reason)
{
    struct clr_grouping *grouping = &query->grouping;
    const bool orders_inside = has_inner_order(&query->syntax->select);
    const bool is_joined = query->dimension_count > 0 || query->looks_up_subqueries;
    bool is_same = true, by_first = false, is_known = false, descending[CLR_MOST_KEYS];
    int rc = SQLITE_OK;

    *has_changed = false;
    if (is_joined && !orders_inside && !query->is_ordered && walk->sorter == NULL)
        rc = compare_outermost(db, program, joined, query, &is_known, descending);
    if (rc != SQLITE_OK)
        return rc;
    /* The order of a join's rows follows from all of its loops, and so does it from a subquery's.
       That of a subquery's rows in FROM may show where no sorter brings equal keys together, and in
       that of DISTINCT. */
    if (((is_joined && walk->sorter == NULL && !is_known) ||
         (orders_inside && (walk->sorter == NULL || grouping->by_first))) &&
        !query->is_ordered) {
        clr_reason_set(reason, CLR_WHY_INDEX_ORDER);
        return SQLITE_OK;
    }
    if (!is_known)
        memcpy(descending, grouping->descending, sizeof descending);
    if (!query->is_ordered && !is_known)
        rc = find_order(db, walk, joined->fact, query, &is_same, &by_first, descending);
    if (rc == SQLITE_OK && !is_same)
        clr_reason_set(reason, CLR_WHY_INDEX_ORDER);
    *has_changed = memcmp(descending, grouping->descending, sizeof descending) != 0;
    memcpy(grouping->descending, descending, sizeof descending);
    grouping->by_first = by_first;
    return rc;
}

/* Whether a program goes over the rows of the table in the order of their rowids, or so over those
   that are found, whatever else it has loops over. */
static bool keeps_order(const struct clr_bytecode *program, const struct clr_table_info *table,
                        const struct clr_query *query, bool are_listed)
{
    return query->ranking != NULL ? clr_bytecode_feeds_in_order(program, table->tree, are_listed)
                                  : clr_bytecode_join_in_order(program, table->tree, are_listed);
}

/*
 * Stores whether SQLite goes over all rows by an index as a sorter would bring them: those that are
 * equal by all terms side by side in the order of their rowids, and by the first term ascending.
 * The index begins with that, and has no other columns than terms: the rows of the groups of one
 * key, or of the partitions of a window and in its order. What min() or max() is of may be another
 * column: rows of a group that have the same of it are side by side then, too.
 */
static int is_by_index(sqlite3 *db, const struct clr_bytecode *program,
                       const struct clr_table_info *table, const struct clr_query *query, bool *is)
{
    const struct clr_node *first =
        query->ranking != NULL ? query->ranking->first : query->syntax->select.keys.first;
    const struct clr_node *extreme =
        query->ranking != NULL || query->first.key < 0 ? NULL : query->syntax->aggregates.first;
    const int64_t tree = clr_bytecode_feeding_index(program, table->tree);
    sqlite3_stmt *statement = NULL;
    const struct clr_node *term;
    int rc, place;

    *is = false;
    if (tree == 0 || (query->first.group < 0 && !query->lists_rows) || query->dimension_count > 0)
        return SQLITE_OK;
    rc = list_index(db, table, tree, &statement);
    while (statement != NULL && sqlite3_step(statement) == SQLITE_ROW &&
           sqlite3_column_int(statement, AT_IS_KEY) != 0) {
        place = sqlite3_column_int(statement, AT_PLACE);
        for (term = first; term != NULL && (place > 0 || term == first); term = term->next) {
            if (is_column(term, statement))
                break;
        }
        if (term == NULL && place > 0 && extreme != NULL && is_column(extreme, statement))
            continue;
        *is = term != NULL &&
              (place > 0 ? *is : term == first && !sqlite3_column_int(statement, AT_DESCENDS));
        if (!*is)
            break;
    }
    return clr_statement_end(statement, rc);
}

/* Of a query of rows one in so many may be found, at most: what SQLite fetches it has to look up,
   and else it goes over all rows; to sort them, where only the first ones of groups are wanted; and
   by an index it has to look up all rows. */
enum { ROWS_PER_FOUND = 50, SORTED_PER_FOUND = 10, LOOKED_UP_PER_FOUND = 4 };

/* Whether a program has groups ascend by a sorter, as they do by an index: ORDER BY may have SQLite
   bring them in another order, in which equal ones then stay. */
static bool has_ascending_groups(const struct clr_bytecode *program)
{
    const struct clr_walk walk = clr_bytecode_walk(program);
    int count;

    return walk.sorter != NULL && find_directions(walk.sorter, &count) == 0;
}

/*
 * Sets the reason where SQLite, by its code for the SELECT of a query that has rows, does not go
 * over all rows of the table in the order of their rowids, or, in a join and of the first rows in
 * an order, not so over those that are found. Returns SQLITE_OK, or SQLite's code.
 */
static int check_rows(sqlite3 *db, const struct clr_bytecode *program, const struct clr_walk *walk,
                      const struct clr_table_info *table, const struct clr_query *query,
                      int *rows_per_found, struct clr_reason *reason)
{
    const bool has_loops =
        query->dimension_count > 0 || query->ranking != NULL || query->looks_up_subqueries;
    bool is_fine = has_loops ? keeps_order(program, table, query, false) : is_in_order(walk, table);
    const bool has_one_row = query->syntax->aggregates.first != NULL && !query->is_grouped;
    bool is_by_keys = false;
    struct clr_bytecode found;
    int rc = SQLITE_OK;

    *rows_per_found = query->first.group < 0 ? ROWS_PER_FOUND : SORTED_PER_FOUND;
    if (!is_fine) {
        rc = is_by_index(db, program, table, query, &is_by_keys);
        is_fine = is_by_keys;
        *rows_per_found = LOOKED_UP_PER_FOUND;
    }
    is_fine = is_fine && !(has_one_row && clr_bytecode_leaves_loops(program));
    if (is_fine && (has_loops || query->first.key >= 0)) {
        rc = clr_bytecode_read(db, &found, "%s", query->answer);
        is_fine = rc == SQLITE_OK && keeps_order(&found, table, query, true) &&
                  (!is_by_keys || query->ranking != NULL || has_ascending_groups(&found));
        clr_bytecode_free(&found);
    }
    if (rc == SQLITE_OK && !is_fine)
        clr_reason_set(reason, CLR_WHY_HAS_INDEX);
    return rc;
}

/* Sets the reason where SQLite does not bring the rows of each group in the order of their rowids,
   in which a list has its values. Returns SQLITE_OK, or SQLite's code. */
static int check_lists(sqlite3 *db, const struct clr_bytecode *program,
                       const struct clr_table_info *table, const struct clr_query *query,
                       struct clr_reason *reason)
{
    const bool orders_inside = has_inner_order(&query->syntax->select);
    bool is_fine = !orders_inside && keeps_order(program, table, query, false);
    int rc = SQLITE_OK;

    if (!is_fine && !orders_inside)
        rc = is_by_index(db, program, table, query, &is_fine);
    if (rc == SQLITE_OK && !is_fine)
        clr_reason_set(reason, CLR_WHY_LIST_ORDER);
    return rc;
}

/*
 * Finds the order of the groups of a join that are made before it, where it goes over all rows of a
 * table in its outermost loop: that of the key, which is the table's rowid or a sorter's first key,
 * or that of an index of the table with the key, where no sorter brings groups together. Sets the
 * reason where it is another one. Returns SQLITE_OK, or SQLite's code.
 */
static int check_eager(sqlite3 *db, const struct clr_bytecode *program, const struct clr_walk *walk,
                       const struct clr_joined *joined, struct clr_eager *eager, bool *has_changed,
                       struct clr_reason *reason)
{
    const struct clr_table_info *table = &joined->tables[eager->keyed];
    const int kept = eager->whole->source_count - 1;
    const int64_t tree = clr_bytecode_grouping_tree(program);
    int rc = SQLITE_NOTFOUND, count, i = 0;

    while (i < kept && !clr_bytecode_join_in_order(program, joined->tables[i].tree, false))
        i++;
    if ((i < kept && walk->sorter != NULL && find_directions(walk->sorter, &count) == 0) ||
        i == eager->keyed)
        return SQLITE_OK;
    if (tree >> 32 == table->tree >> 32)
        rc = find_index_order(db, table->schema, table->name, tree,
                              clr_from_name(&eager->whole->sources[eager->keyed]), &eager->order);
    *has_changed = eager->order != NULL;
    if (rc == SQLITE_NOTFOUND)
        clr_reason_set(reason, CLR_WHY_HAS_INDEX);
    return rc == SQLITE_NOTFOUND ? SQLITE_OK : rc;
}

int clr_row_order_check(sqlite3 *db, const struct clr_bytecode *program,
                        const struct clr_walk *walk, const struct clr_joined *joined,
                        struct clr_query *query, int *rows_per_found, struct clr_reason *reason)
{
    bool has_changed = false;
    int rc = SQLITE_OK;

    if (query->eager != NULL)
        rc = check_eager(db, program, walk, joined, query->eager, &has_changed, reason);
    else if (query->has_rows)
        rc = check_rows(db, program, walk, joined->fact, query, rows_per_found, reason);
    else if (query->is_grouped)
        rc = check_groups(db, program, walk, joined, query, &has_changed, reason);
    if (rc == SQLITE_OK && query->lists_rows)
        rc = check_lists(db, program, joined->fact, query, reason);
    if (rc == SQLITE_OK && has_changed && clr_query_write(query) == CLR_NOMEM)
        rc = SQLITE_NOMEM;
    return rc;
}
