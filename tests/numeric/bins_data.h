/* Numbers to be put into bins, and to be ends of bins. For the tests of bins. */
#ifndef CLR_TESTS_BINS_DATA_H
#define CLR_TESTS_BINS_DATA_H

#include "numeric/bins/bins.h"
#include "random.h"

#include <stdbool.h>

enum { BINS_FAMILIES = 8 };

static inline struct clr_value bins_integer(int64_t integer)
{
    return (struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = integer};
}

static inline struct clr_value bins_real(double real)
{
    return (struct clr_value){.kind = CLR_KIND_REAL, .as.real = real};
}

/* A finite number; those of a family, below BINS_FAMILIES, are of a size. */
static inline struct clr_value bins_number(int family)
{
    switch (family) {
    case 0:
        return bins_integer(random_between(-100, 100));
    case 1:
        return bins_real(random_between(-100, 100) * 0.1);
    case 2:
        return bins_integer(random_integer());
    case 3:
        return bins_real(random_finite());
    case 4:
        return random_bits() & 1 ? bins_integer(random_integer())
                                 : bins_real((double)random_integer());
    case 5:
        return bins_real(random_hard(0, 3));
    case 6:
        return bins_real(random_hard(2040, 2046));
    default:
        return random_bits() & 1 ? bins_integer(random_between(-9, 9))
                                 : bins_real(random_between(-9, 9) + 0x1p-45);
    }
}

/* Makes some bins between numbers of a family: mostly a few, sometimes up to `most`. */
static inline void bins_make(struct clr_bins *bins, int family, int64_t most)
{
    struct clr_value low, high;

    do {
        low = bins_number(family);
        high = bins_number(family);
    } while (clr_value_compare(&low, &high, 0) >= 0);
    clr_bins_init(bins, &low, &high,
                  random_below(4) > 0 ? random_between(1, 20)
                                      : (int64_t)random_below((uint64_t)most) + 1);
}

#endif
