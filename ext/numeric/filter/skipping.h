/* Which blocks of a scan's rows can be left out, by the zones of its columns. */
#ifndef CLR_NUMERIC_SKIPPING_H
#define CLR_NUMERIC_SKIPPING_H

#include "numeric/scan/scan.h"
#include "numeric/values/column.h"

#include <stdbool.h>
#include <stddef.h>

/* The making of a column's zones. */

/* Finds the zones of count blocks of a column that is on the host, from block `first` on. Returns
   false without memory. Threads may do different blocks of one column at the same time. */
bool clr_column_find_zones(struct clr_column *column, size_t first, size_t count,
                           struct clr_zones *zones);

/* Stores which types all zones have together, and the coarse zones, once each zone is there. */
void clr_zones_complete(struct clr_zones *zones);

/* The rows that a scan goes over as few ranges, for who can't take a list of blocks. */

/*
 * Stores the rows of a scan's blocks, of its columns' rows, as ranges in their order: `most` of
 * them at most, 1 or more. What lies between two blocks is taken in unless it is at least so many
 * blocks (1 or more), or a multiple of that if there would be too many ranges. A scan of all rows
 * has one range, and one without rows none.
 */
void clr_row_ranges_find(const struct clr_scan *scan, size_t gap, int most,
                         struct clr_row_ranges *ranges);

/*
 * Stores which columns' zones could tell that a block has no row for which the scan's filter is
 * true, and those without which the others would not do. Returns whether there are any of the
 * former.
 */
bool clr_skipping_find_columns(const struct clr_scan *scan, bool wanted[CLR_MOST_COLUMNS]);

/*
 * Gives a scan over whole columns the blocks that may have such rows, by the zones that there are,
 * and their number of rows. The list, scan->blocks, is the caller's to free when the scan is done.
 * The scan stays as it is if all blocks may, if it may be unsure of a row, and without memory.
 */
void clr_skipping_find_blocks(struct clr_scan *scan);

#endif
