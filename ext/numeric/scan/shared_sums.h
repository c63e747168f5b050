/*
 * Sums of a column with constants added, sum(x + 1), sum(x + 2), ...: one sum of x and a count of
 * its rows serve all of them, where no row's INTEGER overflows. The extremes of x tell, which the
 * same scan finds.
 */
#ifndef CLR_NUMERIC_SHARED_SUMS_H
#define CLR_NUMERIC_SHARED_SUMS_H

#include "numeric/scan/scan.h"

#include <stdbool.h>

struct clr_shared_sums;

/*
 * Gives a scan fewer tallies, if it has several that can share one. Returns what is needed to get
 * its own back, due clr_shared_sums_end(); NULL, with the scan as it was, if there are none, or
 * without memory. The scan has no grouping and no questions, and its columns are known.
 */
struct clr_shared_sums *clr_shared_sums_begin(struct clr_scan *scan);

/*
 * Gives the scan its own tallies back and frees the rest; NULL is fine. If the scan was done, their
 * states are those that it would have computed. Returns false if they are not to be had in this
 * way: the scan is to be run as it is.
 */
bool clr_shared_sums_end(struct clr_shared_sums *shared, struct clr_scan *scan, bool was_done);

#endif
