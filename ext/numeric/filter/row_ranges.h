/* The rows that a scan goes over as few ranges, for who can't take a list of blocks. */
#ifndef CLR_NUMERIC_ROW_RANGES_H
#define CLR_NUMERIC_ROW_RANGES_H

#include "numeric/scan/scan.h"

/*
 * Stores the rows of a scan's blocks, of its columns' rows, as ranges in their order: `most` of
 * them at most, 1 or more. What lies between two blocks is taken in unless it is at least so many
 * blocks (1 or more), or a multiple of that if there would be too many ranges. A scan of all rows
 * has one range, and one without rows none.
 */
void clr_row_ranges_find(const struct clr_scan *scan, size_t gap, int most,
                         struct clr_row_ranges *ranges);

#endif
