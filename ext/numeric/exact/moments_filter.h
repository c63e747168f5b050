/*
 * A quick look at whether sums can be those of rows. It settles nearly all that are; the rest, and
 * those that are not, is for clr_moments_consistent(), whose exact numbers take microseconds.
 */
#ifndef CLR_NUMERIC_MOMENTS_FILTER_H
#define CLR_NUMERIC_MOMENTS_FILTER_H

#include "numeric/exact/moments.h"

/*
 * Returns true only if clr_moments_consistent() does. x and xx are there; y, yy and xy either all
 * are, or all are NULL.
 */
bool clr_moments_plainly_consistent(const struct clr_moments *moments);

#endif
