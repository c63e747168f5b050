/*
 * What names mean in a SELECT: columns of its table, items of its select list, columns of its
 * subquery in FROM, functions and parameters; and so what its expressions are.
 */
#ifndef CLR_QUERY_NAMES_H
#define CLR_QUERY_NAMES_H

#include "query/query.h"
#include "query/syntax/syntax.h"

#include <stdbool.h>

/* What is bound, and to what. What fails is refused in the syntax. */
struct clr_binder {
    struct clr_query *query;
    struct clr_syntax *syntax; /* the query's */
    const struct clr_environment *environment;
    bool derives; /* columns may be derived */
};

/* The table that is scanned. */
static inline const struct clr_known_table *clr_names_fact(const struct clr_binder *binder)
{
    return &binder->environment->tables[binder->query->fact];
}

/*
 * To be called once, when the query's table and its conditions are known (star.h). Looks up all
 * names, numbers parameters, and sets what is known of each node once it is bound: which columns an
 * expression reads, and what of it only SQLite computes. Finds out what the keys of groups are, and
 * which expressions are keys. Writes down the lists of the query's subqueries. Refuses what there
 * is not, and what could mean something else where SQLite evaluates it. Returns false once it has
 * failed.
 */
bool clr_names_resolve(struct clr_binder *binder);

/* Returns the column of a table that has the name, or the rowid, or NULL. */
const struct clr_known_column *clr_names_column(const struct clr_known_table *table,
                                                const char *name);

/* Returns the column that a node means among those of all tables, or NULL, and notes its table in
   the node. */
const struct clr_known_column *clr_names_find(const struct clr_binder *binder,
                                              struct clr_node *node);

/* Returns the column of the table that is scanned, by its number. */
const struct clr_known_column *clr_names_number(const struct clr_binder *binder, int number);

/* Refuses a join for a table, by its place in FROM, that is no dimension. Returns -1. */
int clr_names_refuse_join(struct clr_binder *binder, int source);

/* Returns the number, from 1, of the dimension that a table of FROM is, by its place; 0: it is the
   one that is scanned. */
int clr_names_dimension(const struct clr_query *query, int source);

/* Returns a name by which a table's rowid can be had; NULL: there is none. */
const char *clr_names_rowid(const struct clr_known_table *table);

/* Returns the first of the keys, each of which is its child: those of GROUP BY, or else the whole
   select list. */
struct clr_node *clr_names_keys(const struct clr_syntax *syntax);

/* What two expressions read together. */
int clr_content_together(int reads, int other);

/* Whether an expression is a column, plus signs aside. */
bool clr_content_is_signed_column(const struct clr_node *node);

/* Whether an expression has TEXT affinity: that of a column or a CAST, which COLLATE keeps. */
bool clr_content_is_text(const struct clr_node *node);

/* Whether SQLite compares the expression's values by BINARY, whatever is within it: it is no column
   that has another collating sequence, signs, casts and hints aside, and names none. */
bool clr_content_compares_binary(const struct clr_node *node);

#endif
