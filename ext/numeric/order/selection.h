/*
 * Order statistics without sorting: the value of a given rank among runs of numbers, which may be
 * INTEGERs and REALs mixed, compared exactly.
 *
 * Method: one pass over the numbers gathers those near where a sample says that the ranks are, of a
 * few ranks at a time. Where one is not there, or too many are, radix selection from the most
 * significant digit (Knuth, TAOCP 3, 5.2.5) goes on: a pass over the runs counts how many keys fall
 * into each of 2,048 equal parts of the range that is left, until few enough are left. The runs
 * stay as they are.
 */
#ifndef CLR_NUMERIC_SELECTION_H
#define CLR_NUMERIC_SELECTION_H

#include "base/status.h"
#include "numeric/order/portions.h"
#include "numeric/values/value.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Percentiles as SQLite's own percentile functions define them (ext/misc/percentile.c, in the core
 * since 3.51): which elements of the ordered values count is decided by the same arithmetic in
 * doubles, so that it is the same elements; what lies between two of them is exact, rounded once.
 */

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

/*
 * Finds the numbers of some ranks, 1 and up, 0 for the least number of all portions, in shared
 * passes. Stores that of ranks[i] in found[i][0], and the one of the next rank, if there is one,
 * else the same, in found[i][1]. Ranks are less than the count of all numbers. Where there are
 * numbers of both types, an INTEGER that a double holds may be found as REAL. Returns CLR_OK,
 * CLR_STOPPED or CLR_NOMEM (it takes 1/4 of the numbers' memory at the most).
 */
enum clr_code clr_portions_select(const struct clr_portions *portions, const uint64_t *ranks,
                                  int count, struct clr_value (*found)[2]);

#endif
