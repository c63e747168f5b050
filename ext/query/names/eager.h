/* Groups that are made before a join: see struct clr_eager. */
#ifndef CLR_QUERY_EAGER_H
#define CLR_QUERY_EAGER_H

#include "query/names/tables.h"

/*
 * If the SELECT's groups can be made before its join, notes that in the query, and makes the tree
 * the SELECT of those groups: its one table is the last one of the join, and the conditions of
 * its rows are the query's. Names must not have been looked up yet. Fails without memory. Returns
 * whether they can.
 */
bool clr_eager_find(struct clr_binder *binder);

#endif
