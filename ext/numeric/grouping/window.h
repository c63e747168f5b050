/*
 * An exact sum of doubles as two integers. A window of bits is laid over the numbers; each is cut
 * into two digits, multiples of 2^high_exponent and of 2^low_exponent, which are added by
 * themselves. Integers are added in any order, and without rounding. What does not lie within the
 * window goes another way.
 *
 * A digit comes from an addition that rounds to a multiple of its unit, and a subtraction that
 * leaves it; see Demmel and Nguyen, "Fast reproducible floating-point summation" (2013), and
 * Ogita, Rump and Oishi, in exact/expansion.h. It must be compiled without contraction and without
 * fast-math, and needs rounding to nearest.
 */
#ifndef CLR_NUMERIC_GROUP_WINDOW_H
#define CLR_NUMERIC_GROUP_WINDOW_H

#include "numeric/exact/sum.h"

struct clr_window {
    int high_exponent, low_exponent;
    double limit;     /* numbers below this in size lie in the window, if their last bits do */
    double high, low; /* what is added to a number: 1.5 * 2^52 units */
    double unit;      /* 2^low_exponent */
};

/*
 * Lays a window for numbers below 2^top that are multiples of 2^bottom, or for as many of them as
 * it can, so that the sums of so many numbers, 1 to 2^31, stay below 2^62 units. top < bottom:
 * nothing is known.
 */
void clr_window_lay(struct clr_window *window, int top, int bottom, uint64_t rows);

/* Cuts a number below 2^50 units of its upper digit, as a sum of numbers within the window may be.
   Returns the bits, but for the sign, of what they lack: 0 if they have all of it. */
static inline __attribute__((always_inline)) uint64_t
clr_window_split(const struct clr_window *window, double x, int64_t *high, int64_t *low)
{
    const double first = x + window->high;
    const double rest = x - (first - window->high);
    const double second = rest + window->low;
    const double lost = rest - (second - window->low);
    int64_t bits, unit;

    memcpy(&bits, &first, sizeof bits);
    memcpy(&unit, &window->high, sizeof unit);
    *high = (int64_t)((uint64_t)bits - (uint64_t)unit);
    memcpy(&bits, &second, sizeof bits);
    memcpy(&unit, &window->low, sizeof unit);
    *low = (int64_t)((uint64_t)bits - (uint64_t)unit);
    memcpy(&bits, &lost, sizeof bits);
    return (uint64_t)bits << 1;
}

/* Cuts a number. Returns whether it lies within the window; if not, the digits are anything. */
static inline __attribute__((always_inline)) bool
clr_window_cut(const struct clr_window *window, double x, int64_t *high, int64_t *low)
{
    const bool has_all = clr_window_split(window, x, high, low) == 0;

    return (fabs(x) < window->limit) & has_all;
}

/* Adds the sum of digits to the expansion of a sum whose terms are zero. */
void clr_window_sum(const struct clr_window *window, int64_t high, int64_t low,
                    struct clr_sum *sum);

/* Returns the sum of digits, rounded once to the nearest double. */
double clr_window_round(const struct clr_window *window, int64_t high, int64_t low);

#endif
