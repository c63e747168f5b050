/* In which order SQLite gives the rows of a SELECT with groups, where ORDER BY does not say. */
#ifndef CLR_SQLITE_GROUP_ORDER_H
#define CLR_SQLITE_GROUP_ORDER_H

#include "query/query.h"
#include "sqlite/schema/program.h"
#include "sqlite/schema/table_info.h"

#include <stdbool.h>

/*
 * Finds the order of the groups in SQLite's own code for the SELECT, whose walk over the table's
 * rows is known: that of a sorter's keys, or of the b-tree that has equal keys side by side, from
 * one end or the other. It is written to the query's grouping, as keys that descend, or by_first.
 * Sets the reason where it is an order that groups can't be brought into, or one that is not known.
 * For a query that has rows: where SQLite does not go over all rows in the order of their rowids.
 *
 * Stores whether other keys descend than before: then the query is to be written anew. Returns
 * SQLITE_OK, or SQLite's code.
 */
int clr_group_order_check(sqlite3 *db, const struct clr_walk *walk,
                          const struct clr_table_info *table, struct clr_query *query,
                          bool *has_changed, struct clr_reason *reason);

#endif
