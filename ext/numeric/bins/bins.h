/*
 * Equal bins between two numbers: bin i of n holds the x with low + i*w <= x < low + (i+1)*w, where
 * w = (high - low) / n, and the last one holds high as well. Decided exactly, as if low, high and w
 * were rational numbers: a guess in doubles is checked wherever it is near a boundary.
 */
#ifndef CLR_NUMERIC_BINS_H
#define CLR_NUMERIC_BINS_H

#include "numeric/values/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_BINS_LIMIT = 1000000 };

struct clr_bins {
    int64_t count;
    struct clr_value low, high;
    double low_real, scale; /* for the guess (x - low) * scale; scale 0: there is no guess */
    double range;           /* high - low, rounded */
    bool exact;             /* low_real and range are not rounded */
    bool integers;          /* low and high are INTEGER */
    double integer_scale;   /* if so: for the guess from an INTEGER's distance */
};

/* Sets up bins by the arguments beside x: low, high and how many. Returns NULL; or what one of them
   must be, as in "low must be a finite number", a constant, and its number in *wrong. */
const char *clr_bins_prepare(struct clr_bins *bins, const struct clr_value *arguments, int *wrong);

/*
 * Adds change to the counters of count numbers, int64_t or double as kind says: of what is below
 * low, in each bin, and above high, bins->count + 2 in all. Nothing else is known of rows: so rows
 * that leave, states and parts of a scan are added and subtracted counter by counter.
 */
void clr_bins_add(const struct clr_bins *bins, enum clr_kind kind, const void *numbers,
                  size_t count, uint64_t change, uint64_t *counters);

/* Sets up count equal bins, 1 to CLR_BINS_LIMIT, between two finite numbers, low < high. */
void clr_bins_init(struct clr_bins *bins, const struct clr_value *low, const struct clr_value *high,
                   int64_t count);

/* Returns the bin of a number, which may be infinite: 0 .. count - 1; -1 below low; count above
   high. */
int64_t clr_bins_find(const struct clr_bins *bins, const struct clr_value *x);

/*
 * Bins as kernels find them: the first key of each one, in the order in which columns are sorted
 * (see clr_sort_key_to_value()), so that exact bins are had by comparing integers; and a guess of
 * the place among these, in doubles, which one comparison puts right.
 */

/*
 * A number has as its slot the number of firsts that are not above its key: 0 below low, i + 1 in
 * bin i, bins.count + 1 above high; that is where a question's counts are. firsts is in order, with
 * equal ones where no number is in a bin; INTEGERs may not reach the last bounds, which are not in
 * it then.
 */
struct clr_bin_bounds {
    enum clr_kind kind; /* of the numbers: INTEGER or REAL */
    uint32_t count;     /* of firsts, bins.count + 1 at most */
    int64_t *firsts;
    /*
     * Whether the guess is good: a number's slot is g or g + 1, where g is distance * scale +
     * offset, each operation rounded to nearest, cut to 0 .. count - 1 and to an integer. The
     * distance of a REAL is the difference from the double whose bits origin has; that of an
     * INTEGER is what it is above origin, an INTEGER, or 0, rounded to a double.
     */
    bool guesses;
    int64_t origin;
    double scale, offset;
};

/* Finds the bounds of bins for numbers of a kind. Returns whether there is memory; then
   clr_bin_bounds_clear() has to follow. */
bool clr_bin_bounds_init(struct clr_bin_bounds *bounds, const struct clr_bins *bins,
                         enum clr_kind kind);

void clr_bin_bounds_clear(struct clr_bin_bounds *bounds);

/* Returns the bytes that the bounds of so many bins take. */
size_t clr_bin_bounds_size(int64_t bins);

#endif
