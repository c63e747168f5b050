/*
 * REALs of few decimals, such as prices: each is an integer k over a power of ten, and has the very
 * bits of that quotient, correctly rounded. Of such k, from -2^50 to 2^50, and powers up to 10^9,
 * no two give the same REAL, and the order of the REALs is that of the k.
 */
#ifndef CLR_NUMERIC_DECIMALS_H
#define CLR_NUMERIC_DECIMALS_H

#include "numeric/values/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLR_DECIMALS_MOST_POWER 1e9
#define CLR_DECIMALS_MOST ((int64_t)1 << 50)

/* Returns the bits of k / power. */
static inline int64_t clr_decimal_bits(int64_t k, double power)
{
    return clr_bits_of((double)k / power);
}

/*
 * Returns k / power, correctly rounded. With fused multiplication, which takes a quarter of the
 * time, a product with the reciprocal is corrected once, after Markstein, "Computation of
 * elementary functions on the IBM RISC System/6000 processor" (IBM J. Res. Dev. 34, 1990). That is
 * the same number: the product is wrong by less than 2 units in the last place, so the remainder is
 * exact, and what is rounded in the end is wrong by less than 2^-51 units. The quotient is no
 * middle between two doubles, as k has too few bits, and so is half a unit over the power away from
 * each, or more.
 */
static inline __attribute__((always_inline)) double
clr_decimal_divide(double k, double power, double reciprocal, bool fused)
{
    const double near = k * reciprocal;

    return fused ? __builtin_fma(__builtin_fma(-near, power, k), reciprocal, near) : k / power;
}

/* Returns the REAL of k, of which k minus `least` is kept, in 32 bits at most: these are added to
   2^52, as its last bits. below: clr_decimals_below(least). */
static inline __attribute__((always_inline)) double
clr_decimal_kept(uint64_t kept, double below, double power, double reciprocal, bool fused)
{
    return clr_decimal_divide(clr_real_of((int64_t)kept | clr_bits_of(0x1p52)) - below, power,
                              reciprocal, fused);
}

static inline double clr_decimals_below(int64_t least)
{
    return 0x1p52 - (double)least;
}

/* Returns the least power of ten, from 1 on, by which all of count values, bits of REALs, are
   decimals. 0: there is none. */
double clr_decimals_find_power(const int64_t *values, size_t count);

/* Returns the least k whose REAL is not less than that, which is no NaN; 2^51 or more, or -2^51 or
   less, if it is farther from 0 than any k. */
int64_t clr_decimals_from(double least, double power);

/* How many values sum() takes at the most, of k from -CLR_DECIMALS_MOST_SUMMED to
   CLR_DECIMALS_MOST_SUMMED. */
#define CLR_DECIMALS_MOST_SUMMED ((int64_t)1 << 33)
enum { CLR_DECIMALS_SUMMED = 1024 };

/* Loops over values that are decimals by a power, in one instruction set. */
struct clr_decimals_loops {
    /* Stores the k of each value. Returns whether all are decimals by that power: if not, the
       integers mean nothing. */
    bool (*split)(double power, const int64_t *values, size_t count, int64_t *restrict integers);
    /* Stores the bits of count values, from the place `first` on. Of each k is kept k minus
       `least`, in 1, 2 or 4 bytes. */
    void (*widen)(double power, int64_t least, unsigned bytes, const void *words, size_t first,
                  size_t count, int64_t *restrict values);
    /* Stores two doubles whose sum is exactly that of the values. */
    void (*sum)(double power, const int64_t *values, size_t count, double parts[2]);
};

/* Returns the best for this processor, or for tests the best but `skipped` ones; NULL if there are
   no more. */
const struct clr_decimals_loops *clr_decimals_choose_loops(int skipped);

#endif
