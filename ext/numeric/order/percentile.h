/*
 * Percentiles as SQLite's own percentile functions define them (ext/misc/percentile.c, in the core
 * since 3.51): which elements of the ordered values count is decided by the same arithmetic in
 * doubles, so that it is the same elements; what lies between two of them is exact, rounded once.
 */
#ifndef CLR_NUMERIC_PERCENTILE_H
#define CLR_NUMERIC_PERCENTILE_H

#include "numeric/values/value.h"

#include <stdbool.h>
#include <stdint.h>

/* A place among ordered values: that of the value of a rank, or part of the way to the next. */
struct clr_position {
    uint64_t rank;
    double beyond; /* 0 <= beyond < 1; 0 at the last rank */
};

/* Returns the position of a fraction, 0 to 1, among count values, 1 and up. */
struct clr_position clr_percentile_position(double fraction, uint64_t count);

/*
 * Returns the number that lies at the position, given the values of its rank and of the next one:
 * value[0] + (value[1] - value[0]) * beyond, rounded once, where a zero is +0.0; or, if it is not
 * interpolated, the value of the rank rounded to a double. Both are INTEGER or REAL, and finite.
 */
double clr_percentile_at(const struct clr_value value[2], double beyond, bool interpolated);

#endif
