/* The tables of FROM, which column of which of them a name means, and what the columns of
   subqueries in FROM are. */
#ifndef CLR_QUERY_TABLES_H
#define CLR_QUERY_TABLES_H

#include "query/query.h"
#include "query/syntax/syntax.h"

#include <stdbool.h>

/* What is bound, and to what. What fails is refused in the syntax. */
struct clr_binder {
    struct clr_query *query;
    struct clr_syntax *syntax; /* the query's */
    const struct clr_environment *environment;
    const struct clr_select_tree *from; /* the SELECT that joins the tables */
    bool derives;                       /* columns may be derived */
    const struct clr_node *entry; /* what a lookup's entries are that is being written, if it is no
                                     column; else NULL */
    /* Where the query is the results of another one, that one: columns are its keys and calls, and
       SQLite evaluates nothing. Else NULL. */
    const struct clr_query *groups;
};

/* The table that is scanned. */
static inline const struct clr_known_table *clr_tables_fact(const struct clr_binder *binder)
{
    return &binder->environment->tables[binder->query->fact];
}

/* Returns the column of a table that has the name, or the rowid, or NULL. */
const struct clr_known_column *clr_tables_column(const struct clr_known_table *table,
                                                 const char *name);

/* Whether any table has a column of the name, or a rowid that it means. */
bool clr_tables_have(const struct clr_binder *binder, const char *name);

/* Whether a name is one of those of rowids. */
bool clr_tables_name_rowid(const char *name);

/* Returns the column that a node means among those of all tables, or NULL, and stores the place of
   its table in FROM, from 1; 0: there is none. */
const struct clr_known_column *clr_tables_find(const struct clr_binder *binder,
                                               const struct clr_node *node, int *source);

/* Returns the column of the table that is scanned, by its number; of one of CLR_COMPOSITE there is
   nothing to know. */
const struct clr_known_column *clr_tables_number(const struct clr_binder *binder, int number);

/* Refuses a join for a table, by its place in FROM, that is no dimension. Returns -1. */
int clr_tables_refuse_join(struct clr_binder *binder, int source);

/* Returns the number, from 1, of the dimension that a table of FROM is, by its place; 0: it is the
   one that is scanned. */
int clr_tables_dimension(const struct clr_query *query, int source);

/* Returns the number, from 0, that an expression has among the parts of a dimension's key, or -1.
 */
int clr_tables_part(const struct clr_dimension *dimension, const struct clr_node *node);

/* Whether a term says that a dimension's key is equal to one of its parts. */
bool clr_tables_has_part(const struct clr_dimension *dimension, const struct clr_node *term);

/* Returns a name by which a table's rowid can be had; NULL: there is none. */
const char *clr_tables_rowid(const struct clr_known_table *table);

/* Subqueries in FROM, CTEs and ordinary views that are projections of one table's rows: names of
   their columns become what these are, and so the SELECT is one from tables. To be called once,
   before all else that is about names. Their conditions are left where they are. Names that mean no
   column are marked; they are hidden, and refused where they are looked up. Returns false once it
   has failed. */
bool clr_merge_all(struct clr_binder *binder);

/* Has a name mean a column of one table of FROM, by its place from 0. Returns false, with nothing
   changed, if that is not known to have one, or once it has failed. */
bool clr_merge_column(struct clr_binder *binder, struct clr_node *node, int source);

#endif
