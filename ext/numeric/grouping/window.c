#include "numeric/grouping/window.h"

#include <math.h>

/* SUM_BITS: of a sum of digits. DIGIT_BITS: most that a digit may have, so that adding it to 1.5 *
   2^52 units changes no exponent. */
enum { SUM_BITS = 62, DIGIT_BITS = 50 };

/* Window sums stay below CLR_EXPANSION_LIMIT; units are doubles. */
enum { HIGHEST = 890, LOWEST = -1074 };

static double power(int exponent)
{
    return ldexp(1.0, exponent);
}

void clr_window_lay(struct clr_window *window, int top, int bottom, uint64_t rows)
{
    int width = SUM_BITS, slack;

    while (rows >> (SUM_BITS - width) != 0)
        width--;
    if (width > DIGIT_BITS)
        width = DIGIT_BITS;
    if (top < bottom) {
        top = width;
        bottom = -width - 1;
    }
    slack = 2 * width + 1 - (top - bottom);
    window->high_exponent = top + (slack > 0 ? slack / 2 : 0) - width;
    if (window->high_exponent > HIGHEST)
        window->high_exponent = HIGHEST;
    if (window->high_exponent < LOWEST + width + 1)
        window->high_exponent = LOWEST + width + 1;
    window->low_exponent = window->high_exponent - width - 1;
    window->limit = power(window->high_exponent + width);
    window->high = 1.5 * power(52 + window->high_exponent);
    window->low = 1.5 * power(52 + window->low_exponent);
    window->unit = power(window->low_exponent);
}

/* Returns the sum of digits in units of the lower one. */
static clr_i128 add_digits(const struct clr_window *window, int64_t high, int64_t low)
{
    const int width = window->high_exponent - window->low_exponent;

    return (clr_i128)high * ((clr_i128)1 << width) + low;
}

void clr_window_sum(const struct clr_window *window, int64_t high, int64_t low, struct clr_sum *sum)
{
    clr_i128 rest = add_digits(window, high, low);
    double term;
    int i;

    /* Each is the nearest double, and leaves less than half a unit of its last place: three hold
       all 128 bits. Integers below 2^127 times a power of two from 2^-1074 up are exact. */
    for (i = 0; i < CLR_EXPANSION_TERMS && rest != 0; i++) {
        term = (double)rest;
        rest -= (clr_i128)term;
        sum->term[i] = term * window->unit;
    }
}

double clr_window_round(const struct clr_window *window, int64_t high, int64_t low)
{
    const clr_i128 sum = add_digits(window, high, low);

    /* The conversion rounds, the quicker one of 64 bits too. The product does not: even where it is
       subnormal it is a multiple of the least one, as the unit is. */
    return (sum == (int64_t)sum ? (double)(int64_t)sum : (double)sum) * window->unit;
}
