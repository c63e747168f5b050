/* In which order SQLite gives the rows of a SELECT with groups, where ORDER BY does not say. */
#ifndef CLR_SQLITE_GROUP_ORDER_H
#define CLR_SQLITE_GROUP_ORDER_H

#include "query/query.h"
#include "sqlite/schema/table_info.h"

#include <stdbool.h>

/*
 * Finds out whether the groups' order is the one in which SQLite's plan of the SELECT, prepared as
 * EXPLAIN QUERY PLAN, gives its rows. An index that is read in its order may have another one.
 * For a query that has rows: whether SQLite has no index to find them by, and so goes over all rows
 * in the order of their rowids.
 *
 * Sets the reason if it is another one, or might be; DISTINCT may also come out as ordered by the
 * keys, which is written to the query's grouping. Returns SQLITE_OK, or SQLite's code.
 */
int clr_group_order_check(sqlite3 *db, const char *sql, const struct clr_table_info *table,
                          struct clr_query *query, struct clr_reason *reason);

#endif
