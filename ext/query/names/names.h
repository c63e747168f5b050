/*
 * What names mean in a SELECT: columns of its table, items of its select list, columns of its
 * subquery in FROM, functions and parameters; and so what its expressions are.
 */
#ifndef CLR_QUERY_NAMES_H
#define CLR_QUERY_NAMES_H

#include "query/names/tables.h"

/* ---- What FROM has, in this order: eager.c and star.c. */

/*
 * If the SELECT's groups can be made before its join (struct clr_eager), notes that in the query,
 * and makes the tree the SELECT of those groups: its one table is the last one of the join, and the
 * conditions of its rows are the query's. Names must not have been looked up yet. Fails without
 * memory. Returns whether they can.
 */
bool clr_eager_find(struct clr_binder *binder);

/*
 * Writes down which table is scanned, which ones are dimensions of it (struct clr_dimension), by
 * which keys, and the conditions of rows. Of several tables that could be scanned it is the one
 * with the most rows. Refuses a join of which no table can. Returns false once it has failed.
 */
bool clr_star_find(struct clr_binder *binder);

/* ---- What names mean. */

/*
 * To be called once, when the query's table and its conditions are known. Looks up all names,
 * numbers parameters, and sets the fields of each node that are known once it is bound: which
 * columns an expression reads, and whether SQLite alone can compute it. Finds the keys of groups,
 * and the expressions that are keys. Refuses names of nothing, and names that could mean something
 * else where SQLite evaluates them. Returns false once it has failed.
 */
bool clr_names_resolve(struct clr_binder *binder);

/* Returns the first of the keys, each of which is its child: those of GROUP BY, or else the whole
   select list. */
struct clr_node *clr_names_keys(const struct clr_syntax *syntax);

/* Returns which of the keys of a query's groups an expression is, or, behind the last key, which
   call; -1: it is neither, or JSON, which is more than its value. */
static inline int clr_names_group_column(const struct clr_query *query, const struct clr_node *node)
{
    if (node->key != 0)
        return node->key - 1;
    return node->kind == CLR_N_AGGREGATE && !clr_aggregate_gives_json(node->aggregate, node->form)
               ? query->grouping.key_count + node->number
               : -1;
}

/* Returns what two expressions read together: as struct clr_node has it for one. */
int clr_content_together(int reads, int other);

/* Whether an expression is a column, plus signs aside. */
bool clr_content_is_signed_column(const struct clr_node *node);

/* Whether two expressions are the same, as they are written, but for how they name columns and
   parameters. */
bool clr_content_is_same(const struct clr_node *a, const struct clr_node *b);

/* Whether an expression has TEXT affinity: that of a column or a CAST, which COLLATE keeps. */
bool clr_content_is_text(const struct clr_node *node);

/* Whether an expression is a subquery, COLLATE and hints aside: the affinity of its column is not
   known. */
bool clr_content_is_subquery(const struct clr_node *node);

/* Whether SQLite compares the expression's values by BINARY, whatever is within it: it is no column
   that has another collating sequence, signs, casts and hints aside, and names none. */
bool clr_content_compares_binary(const struct clr_node *node);

#endif
