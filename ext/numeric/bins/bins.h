/*
 * Equal bins between two numbers: bin i of n holds the x with low + i*w <= x < low + (i+1)*w, where
 * w = (high - low) / n, and the last one holds high as well. Decided exactly, as if low, high and w
 * were rational numbers: a guess in doubles is checked wherever it is near a boundary.
 */
#ifndef CLR_NUMERIC_BINS_H
#define CLR_NUMERIC_BINS_H

#include "numeric/values/value.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLR_BINS_LIMIT = 1000000 };

struct clr_bins {
    struct clr_value low, high;
    int64_t count;
    double low_real, scale; /* for the guess (x - low) * scale; scale 0: there is no guess */
    double range;           /* high - low, rounded */
    bool exact;             /* low_real and range are not rounded */
    bool integers;          /* low and high are INTEGER */
    double integer_scale;   /* if so: for the guess from an INTEGER's distance */
};

/* Sets up count bins, 1 to CLR_BINS_LIMIT, between two finite numbers, low < high. */
void clr_bins_init(struct clr_bins *bins, const struct clr_value *low, const struct clr_value *high,
                   int64_t count);

/* Returns the bin of a number, which may be infinite: 0 .. count - 1; -1 below low; count above
   high. */
int64_t clr_bins_find(const struct clr_bins *bins, const struct clr_value *x);

/* Compares a finite number with the lower bound of bin i, 0 .. count, where that of bin `count` is
   high: exactly, as above. Returns a negative number, 0 or a positive one. */
int clr_bins_compare(const struct clr_bins *bins, const struct clr_value *x, int64_t i);

#endif
