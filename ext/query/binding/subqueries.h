/* Subqueries of expressions, which SQLite evaluates as it finishes the query. */
#ifndef CLR_QUERY_SUBQUERIES_H
#define CLR_QUERY_SUBQUERIES_H

#include "query/binding/emit.h"

/*
 * Refuses subqueries in which a name may mean something of the query around them, though SQLite
 * prepares them by themselves: one in double quotes, which is TEXT where it is no name. Writes down
 * the query's lists: see struct clr_query. To be called once it is known what names mean; not for a
 * query that has rows. Returns false once it has failed.
 */
bool clr_subqueries_find(struct clr_binder *binder);

#endif
