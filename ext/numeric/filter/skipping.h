/* Which blocks of a scan's rows can be left out, by the zones of its columns. */
#ifndef CLR_NUMERIC_SKIPPING_H
#define CLR_NUMERIC_SKIPPING_H

#include "numeric/scan/scan.h"

#include <stdbool.h>

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
