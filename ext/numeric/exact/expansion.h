/*
 * Error-free transformations, and a sum kept as an expansion: an unevaluated sum of doubles.
 *
 * Sources: Knuth, TAOCP 2, 4.2.2 (TwoSum); Ogita, Rump, Oishi, "Accurate sum and dot product",
 * SIAM J. Sci. Comput. 26 (2005) (TwoProduct with fma, cascades); Boldo and Melquiond, "Emulation
 * of a FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE Trans.
 * Computers 57 (2008) (the sum of three numbers, rounded once).
 *
 * All of this is exact in round-to-nearest as long as no operation overflows; additions have no
 * underflow error. It must be compiled without contraction and without fast-math.
 */
#ifndef CLR_NUMERIC_EXPANSION_H
#define CLR_NUMERIC_EXPANSION_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * A number of this size or more does not enter an expansion: 2^63 numbers below it cannot bring a
 * sum to overflow. 2^960 also leaves TwoProduct's error term far from overflow.
 */
#define CLR_EXPANSION_LIMIT 0x1p960

/*
 * A product below this goes the exact way by integers: above it the error term of TwoProduct is
 * a multiple of 2^-1074 (the product of two 53-bit numbers has 106 bits) and so is representable.
 */
#define CLR_PRODUCT_FLOOR 0x1p-960

enum { CLR_EXPANSION_TERMS = 3 };

/* Returns fl(a + b) and stores what rounding took from it: a + b == result + *error. */
static inline double clr_two_sum(double a, double b, double *error)
{
    double sum = a + b;
    double part = sum - a;
    *error = (a - (sum - part)) + (b - part);
    return sum;
}

/*
 * Adds x, smaller in magnitude than CLR_EXPANSION_LIMIT, to the expansion term[0..2]. Returns
 * what did not fit, mostly 0.0, which the caller must add elsewhere.
 */
static inline double clr_expansion_add(double term[CLR_EXPANSION_TERMS], double x)
{
    double error;
    term[0] = clr_two_sum(term[0], x, &error);
    if (error == 0.0)
        return 0.0;
    term[1] = clr_two_sum(term[1], error, &error);
    if (error == 0.0)
        return 0.0;
    term[2] = clr_two_sum(term[2], error, &error);
    return error;
}

/* Returns fl(a + b) rounded to odd: if inexact, whichever neighbour has an odd significand. */
static inline double clr_add_to_odd(double a, double b)
{
    double error;
    double sum = clr_two_sum(a, b, &error);
    uint64_t bits;

    memcpy(&bits, &sum, sizeof bits);
    if (error == 0.0 || (bits & 1))
        return sum;
    if ((error > 0.0) == (sum > 0.0))
        bits++;
    else
        bits--;
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

/* Returns the exact value of the expansion rounded once to nearest even; a zero is +0.0. */
static inline double clr_expansion_round(const double term[CLR_EXPANSION_TERMS])
{
    double low, high, tail, head;

    if (term[2] == 0.0)
        return term[0] + term[1] + 0.0;
    high = clr_two_sum(term[1], term[2], &low);
    head = clr_two_sum(term[0], high, &tail);
    return head + clr_add_to_odd(tail, low) + 0.0;
}

#endif
