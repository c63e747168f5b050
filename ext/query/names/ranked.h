/*
 * The first rows of each partition: row_number() OVER (PARTITION BY key ORDER BY x) in a SELECT in
 * FROM, of which the SELECT around it wants the rows where that is 1, or a few more.
 */
#ifndef CLR_QUERY_RANKED_H
#define CLR_QUERY_RANKED_H

#include "query/names/tables.h"

/*
 * Has the query be one of the first rows of partitions, where it is: of the rows that meet the
 * inner condition SQLite needs no others than those that have the first values of their partition.
 * To be called once names of subqueries mean what is in them, before conditions are taken.
 */
void clr_ranked_find(struct clr_binder *binder);

#endif
