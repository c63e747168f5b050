/*
 * Columns of numbers of every kind that is hard on a sum, for the tests of reductions. Each kind is
 * made for one way of going wrong.
 */
#ifndef CLR_TESTS_DATA_H
#define CLR_TESTS_DATA_H

#include "numeric/states/state.h"
#include "random.h"

#include "tap.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum data_reals {
    DATA_UNIFORM,    /* -1 .. 1: what users have */
    DATA_WIDE,       /* all exponents: no expansion holds the sum */
    DATA_SUBNORMAL,  /* below the smallest normal number */
    DATA_HUGE,       /* the top binades: running totals leave the range of a double */
    DATA_CANCELLING, /* neighbours cancel, and something tiny is left */
    DATA_TIES,       /* the sum is half-way between two doubles, or just beside it */
    DATA_MIDDLING,   /* exponents around the expansion's limit, 2^960 */
    DATA_TINY,       /* products around 2^-960, where their errors stop being representable */
    DATA_ZEROS,      /* zeros of both signs, and few others */
    DATA_BURSTS,     /* long tame stretches with wild blocks in them */
    DATA_STEPS,      /* stretches of different size, so that estimates of sizes are often wrong */
    DATA_SQUARES,    /* around and beyond where squares overflow, or are nothing */
    DATA_VANISHING,  /* some factors so small that the product of two is nothing */
    DATA_SAME,       /* one value again and again: the sum only grows */
    DATA_INFINITE,   /* one infinity somewhere */
    DATA_OPPOSITE,   /* infinities of both signs */
    DATA_NAN,        /* a NaN; SQLite makes NULL of it, device and host need not care */
    DATA_REALS
};

static const char *const data_reals_names[DATA_REALS] =
    TAP_LIST("uniform", "all exponents", "subnormal", "huge", "cancelling", "ties", "around 2^960",
             "products around 2^-960", "zeros", "bursts", "steps of size", "squares out of range",
             "vanishing products", "one value", "an infinity", "opposite infinities", "a NaN");

/* A value of the kinds that are drawn one by one. */
static inline double data_real(enum data_reals kind, size_t i, double previous)
{
    switch (kind) {
    case DATA_WIDE:
        return random_finite();
    case DATA_SUBNORMAL:
        return random_hard(0, 1);
    case DATA_HUGE:
        return random_hard(2044, 2046);
    case DATA_CANCELLING:
        return i % 2 == 1 ? -previous : i % 62 == 0 ? random_hard(0, 60) : random_hard(1, 2046);
    case DATA_TIES:
        return i % 4 == 0   ? random_compose(0, 1023 + 52, random_bits())
               : i % 4 == 1 ? 0.5
               : i % 4 == 2 ? (random_bits() & 1 ? 0x1p-60 : -0x1p-60)
                            : (random_bits() & 1 ? 0x1p-1074 : 0.0);
    case DATA_MIDDLING:
        return random_hard(1023 + 956, 1023 + 964);
    case DATA_TINY:
        return random_hard(1023 - 490, 1023 - 470);
    case DATA_ZEROS:
        return random_below(50) == 0 ? random_hard(1000, 1050) : random_bits() & 1 ? 0.0 : -0.0;
    case DATA_BURSTS:
        return i / 200 % 5 == 4 ? random_finite() : random_hard(1020, 1026);
    case DATA_STEPS:
        if (i % 300 != 0) /* near the one before */
            return random_compose(random_bits() >> 63, (uint64_t)ilogb(previous) + 1023,
                                  random_bits());
        return random_compose(random_bits() >> 63, (uint64_t)random_between(900, 1100), 0);
    case DATA_SQUARES:
        return i / 500 % 4 == 0   ? random_hard(1023 + 470, 1023 + 515)
               : i / 500 % 4 == 1 ? random_hard(1023 - 490, 1023 - 470)
               : i / 500 % 4 == 2 ? random_hard(1023 - 620, 1023 - 540)
                                  : fabs(random_hard(1023 + 504, 1023 + 507));
    case DATA_VANISHING:
        return random_below(8) == 0 ? random_hard(1023 - 700, 1023 - 600) : random_hard(1020, 1026);
    case DATA_SAME:
        return i == 0 ? random_hard(1000, 1050) : previous;
    default:
        return (double)(int64_t)random_bits() * 0x1p-63;
    }
}

static inline void data_fill_reals(double *x, size_t count, enum data_reals kind)
{
    for (size_t i = 0; i < count; i++)
        x[i] = data_real(kind, i, i > 0 ? x[i - 1] : 0.0);
    if (count == 0)
        return;
    if (kind == DATA_INFINITE || kind == DATA_OPPOSITE)
        x[random_below(count)] = random_bits() & 1 ? INFINITY : -INFINITY;
    if (kind == DATA_OPPOSITE) {
        x[0] = INFINITY;
        x[count - 1] = -INFINITY;
    }
    if (kind == DATA_NAN)
        x[random_below(count)] = NAN;
}

enum data_integers { DATA_SMALL, DATA_ANY, DATA_LEAST, DATA_LIMITS, DATA_SIZES, DATA_INTEGERS };

static const char *const data_integers_names[DATA_INTEGERS] = {"small", "any", "-2^63 alone",
                                                               "limits", "any size"};

static inline void data_fill_integers(int64_t *x, size_t count, enum data_integers kind)
{
    for (size_t i = 0; i < count; i++) {
        switch (kind) {
        case DATA_SMALL:
            x[i] = random_between(-1000, 1000);
            break;
        case DATA_LEAST:
            x[i] = INT64_MIN;
            break;
        case DATA_LIMITS:
            x[i] = (random_bits() & 1 ? INT64_MAX : INT64_MIN) ^ (int64_t)random_below(3);
            break;
        case DATA_SIZES:
            x[i] = random_integer();
            break;
        default:
            x[i] = (int64_t)random_bits();
            break;
        }
    }
}

static inline bool data_same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

/* Whether a sum is exactly zero, which one that merely rounds to it is not. */
static inline bool data_is_nothing(struct clr_sum *sum)
{
    struct clr_accumulator total;

    clr_accumulator_clear(&total);
    for (int i = 0; i < CLR_EXPANSION_TERMS; i++)
        clr_accumulator_add(&total, sum->term[i]);
    if (sum->wide_used)
        clr_accumulator_merge(&total, &sum->wide);
    clr_accumulator_add_int192(&total, &sum->integer);
    clr_accumulator_round(&total, 1); /* brings the digits into the one form of their value */
    for (int i = 0; i < CLR_ACCUMULATOR_DIGITS; i++) {
        if (total.digit[i] != 0)
            return false;
    }
    return sum->plus_infinity == 0 && sum->minus_infinity == 0 && sum->nan == 0;
}

#endif
