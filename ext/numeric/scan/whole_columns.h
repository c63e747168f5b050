/* Which tallies of a scan go through all rows of columns as they lie in memory, so that no row has
   to be looked at. */
#ifndef CLR_NUMERIC_WHOLE_COLUMNS_H
#define CLR_NUMERIC_WHOLE_COLUMNS_H

#include "numeric/scan/scan.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether all rows count for the tally, by its filters, and its arguments are columns
 * whose rows all have one type. kinds: those of the scan's columns (struct clr_column). Stores the
 * columns of x and y, or -1 where there is no argument. A filter that passes all rows, since it
 * asks of a column without NULLs whether it is NULL, is as good as none.
 */
bool clr_tally_takes_whole_columns(const struct clr_scan *scan, const uint8_t *kinds,
                                   const struct clr_tally *tally, int columns[2]);

#endif
