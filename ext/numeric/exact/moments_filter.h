/*
 * A quick look at whether sums can be those of rows. It settles nearly all that are; the rest, and
 * those that are not, is for clr_moments_consistent(), whose exact numbers take microseconds.
 */
#ifndef CLR_NUMERIC_MOMENTS_FILTER_H
#define CLR_NUMERIC_MOMENTS_FILTER_H

#include "numeric/exact/moments.h"

/*
 * Returns true only if clr_moments_consistent() does. The sums are all there, or the first two, of
 * x and xx, alone.
 */
bool clr_moments_surely_consistent(const struct clr_sums *sums);

#endif
