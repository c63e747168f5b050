/*
 * Subqueries in expressions. In those of rows one is a lookup, like the expression that it is in:
 * over the one column of the query around it that it names, and over what else the expression
 * reads. All others SQLite evaluates as it finishes the query.
 */
#ifndef CLR_QUERY_SUBQUERIES_H
#define CLR_QUERY_SUBQUERIES_H

#include "query/names/names.h"

/* Whether a subquery may name that column of a table of FROM, once the query is parsed. SQLite
   knows which of such columns it does. */
bool clr_subquery_may_name(const struct clr_query *query, const struct clr_node *subquery,
                           const char *column);

/*
 * To be called once it is known what names mean. Refuses subqueries in which a name may mean
 * something of the query around them, though SQLite prepares them by themselves: one in double
 * quotes, which is TEXT where it is no name. Notes which are looked up, and writes down the lists
 * of the others: see struct clr_query. Returns false once it has failed.
 */
bool clr_subqueries_resolve(struct clr_binder *binder);

#endif
