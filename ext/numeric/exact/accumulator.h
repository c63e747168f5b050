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
#ifndef CLR_NUMERIC_ACCUMULATOR_H
#define CLR_NUMERIC_ACCUMULATOR_H

#include "numeric/values/int192.h"

#include <stdbool.h>
#include <stdint.h>

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

/* Sets low and top of a magnitude whose digits low..top are set and may be zero, but not negative
   if all are. */
static inline void clr_magnitude_trim(struct clr_magnitude *value, int low, int top)
{
    while (low <= top && value->digit[top] == 0)
        top--;
    while (low < top && value->digit[low] == 0)
        low++;
    value->low = top < low ? 0 : low;
    value->top = top < low ? -1 : top;
}

/* Sets the value to zero. Must come before any other use. */
void clr_accumulator_clear(struct clr_accumulator *sum);

/* Adds x, which is finite. Subtract by adding -x. */
void clr_accumulator_add(struct clr_accumulator *sum, double x);

/* Adds x * y exactly; both are finite. Subtract by negating one. */
void clr_accumulator_add_product(struct clr_accumulator *sum, double x, double y);

/* Adds value * 2^exponent, whose magnitude is below 2^117. */
void clr_accumulator_add_scaled(struct clr_accumulator *sum, clr_i128 value, int exponent);

/* Adds an integer. */
void clr_accumulator_add_int192(struct clr_accumulator *sum, const struct clr_int192 *value);

/* Adds the digits that a device returned: CLR_ACCUMULATOR_DIGITS of them, each below 2^62. */
void clr_accumulator_add_digits(struct clr_accumulator *sum, const int64_t *digits);

/* Adds another accumulator. */
void clr_accumulator_merge(struct clr_accumulator *sum, struct clr_accumulator *other);

/* Stores the exact value. Propagates carries and so writes to sum, but keeps its value. */
void clr_accumulator_magnitude(struct clr_accumulator *sum, struct clr_magnitude *result);

/*
 * Returns the value divided by divisor (1 and up), rounded once to the nearest double, ties to
 * even, subnormals included; +-Inf where it overflows; +0.0 for zero. Propagates carries and so
 * writes to sum, but leaves its value as it is.
 */
double clr_accumulator_round(struct clr_accumulator *sum, uint64_t divisor);

#endif
