/*
 * The exact sum of one quantity: any number of doubles, products of doubles, and integers, added
 * and subtracted in any order. Rounding happens in the finishing functions only, and they leave
 * the sum as it is, so that a window can ask for a value after every row.
 *
 * Cheap cases stay cheap: integers live in 192 bits, doubles in a short expansion; the long
 * accumulator is touched only by what does not fit the expansion.
 */
#ifndef CLR_NUMERIC_SUM_H
#define CLR_NUMERIC_SUM_H

#include "numeric/exact/accumulator.h"
#include "numeric/exact/expansion.h"
#include "numeric/values/int192.h"
#include "numeric/values/value.h"

#include <stdbool.h>
#include <stdint.h>

struct clr_sum {
    double term[CLR_EXPANSION_TERMS];
    struct clr_int192 integer;
    int64_t plus_infinity, minus_infinity, nan; /* how often each was added, net */
    bool wide_used;
    struct clr_accumulator wide; /* defined only while wide_used */
};

/* Sets the sum to zero. Must come before any other use. */
void clr_sum_clear(struct clr_sum *sum);

/* Out-of-line parts of the inline functions below. weight is 1 to add, -1 to subtract. */
void clr_sum_add_unusual(struct clr_sum *sum, double x, int weight);
void clr_sum_add_wide(struct clr_sum *sum, double x);

/* Adds x * y exactly, any doubles, where an expansion is known not to hold it. */
void clr_sum_add_wide_product(struct clr_sum *sum, double x, double y);

/* Adds values, any doubles, where an expansion is known not to hold them. */
void clr_sum_add_wide_values(struct clr_sum *sum, const clr_stored_real *x, size_t count);

/* Adds x, any double; weight is 1 to add and -1 to subtract. */
static inline void clr_sum_add(struct clr_sum *sum, double x, int weight)
{
    double rest;

    if (!(fabs(x) < CLR_EXPANSION_LIMIT)) {
        clr_sum_add_unusual(sum, x, weight);
        return;
    }
    rest = clr_expansion_add(sum->term, weight < 0 ? -x : x);
    if (rest != 0.0)
        clr_sum_add_wide(sum, rest);
}

/* Adds x * y exactly, any doubles; weight as above. */
void clr_sum_add_product(struct clr_sum *sum, double x, double y, int weight);

/* Whether a double holds the integer exactly without a look at its bits. */
static inline bool clr_sum_fits_double(int64_t integer)
{
    const int64_t limit = (int64_t)1 << 53;
    return integer >= -limit && integer <= limit;
}

/* Adds integer * real exactly, any of them; weight as above. */
void clr_sum_add_mixed_product(struct clr_sum *sum, int64_t integer, double real, int weight);

/* Adds value, weight times; weight is 1 or -1. */
static inline void clr_sum_add_integer(struct clr_sum *sum, clr_i128 value, int weight)
{
    clr_int192_add_i128(&sum->integer, weight < 0 ? -value : value);
}

/*
 * Adds what a device returned: 3 terms of an expansion, the digits of its long accumulator
 * (CLR_ACCUMULATOR_DIGITS of them) or NULL if they are all zero.
 */
void clr_sum_add_device_parts(struct clr_sum *sum, const double *terms, const int64_t *digits);

/* Adds other to sum; other keeps its value. */
void clr_sum_merge(struct clr_sum *sum, struct clr_sum *other);

/*
 * Returns the exact value of the sum divided by count (1 and up), rounded once to nearest even.
 * NaN where an infinity met its opposite or a NaN was added; a zero is +0.0. May propagate
 * carries, but keeps the value.
 */
double clr_sum_round(struct clr_sum *sum, uint64_t count);

/* Whether an infinity or a NaN is in the sum: what is exact is then only the rest of it. */
static inline bool clr_sum_is_unusual(const struct clr_sum *sum)
{
    return (sum->plus_infinity | sum->minus_infinity | sum->nan) != 0;
}

/*
 * Stores the exact sum of the finite values added. Equal sums give equal magnitudes, whatever the
 * way on which they came about. May propagate carries, but keeps the value.
 */
void clr_sum_exact(struct clr_sum *sum, struct clr_magnitude *value);

#endif
