/*
 * Exact arithmetic on integers times powers of two, of a fixed capacity and without allocation.
 * The work depends on the limbs that a number has, and not on the capacity.
 *
 * The capacity is for what ext/numeric/exact/moments.h computes. An exact sum lies in limbs -34 to
 * 34, limb i weighing 2^(64 i): so a product of two of them, or n times one, in -68 to 69, their
 * difference D likewise, and a product of two D in -136 to 140. Rounding then multiplies by a
 * midpoint between doubles, or its square, which adds 3 limbs: 280 of the 288 limbs are used.
 */
#ifndef CLR_NUMERIC_DYADIC_H
#define CLR_NUMERIC_DYADIC_H

#include "numeric/exact/accumulator.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLR_DYADIC_LIMBS = 288 };

/* Limb i weighs 2^(64 (exponent + i)). Neither the lowest nor the highest limb is zero; zero has
   none, exponent 0, and is not negative. Copy no more than the limbs in use. */
struct clr_dyadic {
    bool negative;
    int exponent, size;
    uint64_t limb[CLR_DYADIC_LIMBS];
};

/* Sets the number to size * 2^exponent. */
void clr_dyadic_set(struct clr_dyadic *result, clr_u128 size, int exponent);

/* Sets the number to an exact sum. */
void clr_dyadic_set_magnitude(struct clr_dyadic *result, const struct clr_magnitude *value);

/* Stores a * b; result is neither of them. */
void clr_dyadic_multiply(struct clr_dyadic *result, const struct clr_dyadic *a,
                         const struct clr_dyadic *b);

/* Stores a - b; result is neither of them. */
void clr_dyadic_subtract(struct clr_dyadic *result, const struct clr_dyadic *a,
                         const struct clr_dyadic *b);

/* Compares a and b: negative, 0 or positive. */
int clr_dyadic_compare(const struct clr_dyadic *a, const struct clr_dyadic *b);

static inline bool clr_dyadic_is_zero(const struct clr_dyadic *a)
{
    return a->size == 0;
}

/*
 * Returns p / q rounded once to the nearest double, ties to even, subnormals included; +-Inf where
 * it overflows, +0.0 for zero and for what rounds to it. q is not zero.
 */
double clr_dyadic_quotient(const struct clr_dyadic *p, const struct clr_dyadic *q);

/* Returns the square root of |p / q|, rounded likewise. q is not zero. */
double clr_dyadic_root(const struct clr_dyadic *p, const struct clr_dyadic *q);

#endif
