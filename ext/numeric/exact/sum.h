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

#include "numeric/exact/expansion.h"
#include "numeric/values/int192.h"
#include "numeric/values/value.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A finite double as an integer times a power of two. */

/* The value is significand * 2^exponent, negated if negative; the significand is below 2^53. */
struct clr_parts {
    uint64_t significand;
    int exponent;
    bool negative;
};

/* Returns the parts of x, which is finite. */
static inline struct clr_parts clr_parts_of(double x)
{
    struct clr_parts parts;
    uint64_t bits;
    int biased;

    memcpy(&bits, &x, sizeof bits);
    parts.negative = bits >> 63;
    biased = (int)(bits >> 52 & 0x7ff);
    parts.significand = bits & 0xfffffffffffff;
    if (biased == 0)
        biased = 1;
    else
        parts.significand |= (uint64_t)1 << 52;
    parts.exponent = biased - 1075;
    return parts;
}

/*
 * A long accumulator: a fixed-point number wide enough to hold any sum of doubles, and of products
 * of two doubles, exactly.
 *
 * Sources: Kulisch's long accumulator; Neal, "Fast exact summation using small and large
 * superaccumulators", arXiv:1505.05571 (2015), whose small superaccumulator this resembles: digits
 * of 32 bits in signed words of 64, so that carries can wait.
 *
 * kernels/arithmetic/exact.cl has the same accumulator with the same geometry; a device's digits
 * are added to the host's one by one.
 */

/*
 * Digit i weighs 2^(32 i + CLR_ACCUMULATOR_BASE). The smallest product is 2^-2148; the largest sum
 * that 2^64 products reach is below 2^2112; the top digit has weight 2^2144.
 */
enum { CLR_ACCUMULATOR_DIGITS = 136, CLR_ACCUMULATOR_BASE = -2176 };

struct clr_accumulator {
    uint32_t pending; /* additions since the carries were last propagated */
    int low, high;    /* every digit outside low..high is zero; low > high: the value is zero */
    int64_t digit[CLR_ACCUMULATOR_DIGITS];
};

/*
 * An exact value in the only form that it has: sign, and digits with the weights of an
 * accumulator's. Digits low and top are not zero; those outside low..top are undefined. For zero,
 * low is 0, top is -1 and negative is false.
 */
struct clr_magnitude {
    bool negative;
    int low, top;
    uint32_t digit[CLR_ACCUMULATOR_DIGITS + 1];
};

/* Sets the value to zero. Must come before any other use. */
void clr_accumulator_clear(struct clr_accumulator *sum);

/* Adds x, which is finite. Subtract by adding -x. */
void clr_accumulator_add(struct clr_accumulator *sum, double x);

/* Adds an integer. */
void clr_accumulator_add_int192(struct clr_accumulator *sum, const struct clr_int192 *value);

/* Adds another accumulator. */
void clr_accumulator_merge(struct clr_accumulator *sum, struct clr_accumulator *other);

/*
 * Returns the value divided by divisor (1 and up), rounded once to the nearest double, ties to
 * even, subnormals included; +-Inf where it overflows; +0.0 for zero. Propagates carries and so
 * writes to sum, but leaves its value as it is.
 */
double clr_accumulator_round(struct clr_accumulator *sum, uint64_t divisor);

struct clr_sum {
    double term[CLR_EXPANSION_TERMS];
    struct clr_int192 integer;
    int64_t plus_infinity, minus_infinity, nan; /* how often each was added, net */
    bool wide_used;
    struct clr_accumulator wide; /* defined only while wide_used */
};

/* Sets the sum to zero. Must come before any other use. */
static inline void clr_sum_clear(struct clr_sum *sum)
{
    sum->term[0] = sum->term[1] = sum->term[2] = 0.0;
    sum->integer = (struct clr_int192){0, 0, 0};
    sum->plus_infinity = sum->minus_infinity = sum->nan = 0;
    sum->wide_used = false;
}

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
