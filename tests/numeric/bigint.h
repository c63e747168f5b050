/*
 * The tests' own exact arithmetic, to judge the library's by: a number is an array of digits, a
 * sign beside it, and everything is done as on paper. It shares no code and no idea with
 * ext/numeric: rounding looks for the double by bisection among all doubles, and compares.
 *
 * A number counts units of 2^BIGINT_UNIT, which every product of two doubles is a multiple of.
 */
#ifndef CLR_TESTS_BIGINT_H
#define CLR_TESTS_BIGINT_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Enough for 2^2112 times a divisor of 64 bits times two. */
enum { BIGINT_UNIT = -2148, BIGINT_DIGITS = 138 };

struct bigint {
    bool negative;
    uint32_t digit[BIGINT_DIGITS]; /* the lowest first */
};

static inline void bigint_clear(struct bigint *number)
{
    memset(number, 0, sizeof *number);
}

/* Compares sizes without signs: negative, 0 or positive. */
static inline int bigint_compare_sizes(const struct bigint *a, const struct bigint *b)
{
    for (int i = BIGINT_DIGITS - 1; i >= 0; i--) {
        if (a->digit[i] != b->digit[i])
            return a->digit[i] < b->digit[i] ? -1 : 1;
    }
    return 0;
}

static inline void bigint_add(struct bigint *sum, const struct bigint *value)
{
    uint64_t carry = 0;

    if (sum->negative == value->negative) {
        for (int i = 0; i < BIGINT_DIGITS; i++) {
            carry += (uint64_t)sum->digit[i] + value->digit[i];
            sum->digit[i] = (uint32_t)carry;
            carry >>= 32;
        }
        return;
    }
    /* The smaller size is taken from the larger one, whose sign stays. */
    if (bigint_compare_sizes(sum, value) >= 0) {
        for (int i = 0; i < BIGINT_DIGITS; i++) {
            uint64_t difference = (uint64_t)sum->digit[i] - value->digit[i] - carry;
            sum->digit[i] = (uint32_t)difference;
            carry = difference >> 63;
        }
    } else {
        for (int i = 0; i < BIGINT_DIGITS; i++) {
            uint64_t difference = (uint64_t)value->digit[i] - sum->digit[i] - carry;
            sum->digit[i] = (uint32_t)difference;
            carry = difference >> 63;
        }
        sum->negative = value->negative;
    }
}

/* Multiplies by a number of 32 bits. */
static inline void bigint_multiply_short(struct bigint *number, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < BIGINT_DIGITS; i++) {
        carry += (uint64_t)number->digit[i] * factor;
        number->digit[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static inline void bigint_shift(struct bigint *number, int bits)
{
    int words = bits / 32;
    for (int i = BIGINT_DIGITS - 1; i >= 0; i--)
        number->digit[i] = i >= words ? number->digit[i - words] : 0;
    bigint_multiply_short(number, (uint32_t)1 << (bits % 32));
}

static inline void bigint_multiply(struct bigint *number, uint64_t factor)
{
    struct bigint high = *number;
    bigint_multiply_short(number, (uint32_t)factor);
    bigint_multiply_short(&high, (uint32_t)(factor >> 32));
    bigint_shift(&high, 32);
    bigint_add(number, &high);
}

/* Sets number to size * 2^exponent, which must be a multiple of the unit. */
static inline void bigint_set(struct bigint *number, bool negative, uint64_t size, int exponent)
{
    int word = (exponent - BIGINT_UNIT) / 32, bits = (exponent - BIGINT_UNIT) % 32;

    bigint_clear(number);
    number->negative = negative;
    /* Each half of 32 bits, moved by less than 32, lies in two digits. */
    number->digit[word] = (uint32_t)(size << bits);
    number->digit[word + 1] = (uint32_t)((size & 0xffffffff) << bits >> 32);
    number->digit[word + 1] |= (uint32_t)(size >> 32 << bits);
    number->digit[word + 2] = (uint32_t)(size >> 32 << bits >> 32);
}

/* Splits a finite double into an integer and a power of two, by the definition of its bits. */
static inline uint64_t bigint_split(double x, bool *negative, int *exponent)
{
    uint64_t bits, biased;

    memcpy(&bits, &x, sizeof bits);
    *negative = bits >> 63;
    biased = bits >> 52 & 2047;
    bits &= UINT64_C(0xfffffffffffff);
    *exponent = biased == 0 ? -1074 : (int)biased - 1075;
    return biased == 0 ? bits : bits + (UINT64_C(1) << 52);
}

static inline void bigint_set_double(struct bigint *number, double x)
{
    bool negative;
    int exponent;
    uint64_t size = bigint_split(x, &negative, &exponent);
    bigint_set(number, negative, size, exponent);
}

static inline void bigint_add_double(struct bigint *sum, double x)
{
    struct bigint value;
    bigint_set_double(&value, x);
    bigint_add(sum, &value);
}

static inline void bigint_add_product(struct bigint *sum, double x, double y)
{
    struct bigint value;
    bool x_negative, y_negative;
    int x_exponent, y_exponent;
    uint64_t x_size = bigint_split(x, &x_negative, &x_exponent);
    uint64_t y_size = bigint_split(y, &y_negative, &y_exponent);

    bigint_set(&value, x_negative != y_negative, x_size, x_exponent + y_exponent);
    bigint_multiply(&value, y_size);
    bigint_add(sum, &value);
}

static inline uint64_t bigint_size_of(int64_t integer)
{
    return integer < 0 ? -(uint64_t)integer : (uint64_t)integer;
}

static inline void bigint_add_integer(struct bigint *sum, int64_t integer)
{
    struct bigint value;
    bigint_set(&value, integer < 0, bigint_size_of(integer), 0);
    bigint_add(sum, &value);
}

static inline void bigint_add_integer_product(struct bigint *sum, int64_t x, int64_t y)
{
    struct bigint value;
    bigint_set(&value, (x < 0) != (y < 0), bigint_size_of(x), 0);
    bigint_multiply(&value, bigint_size_of(y));
    bigint_add(sum, &value);
}

static inline bool bigint_is_zero(const struct bigint *number)
{
    static const struct bigint zero;
    return bigint_compare_sizes(number, &zero) == 0;
}

/* Sets size to divisor times the positive double whose bits are given; those of infinity stand for
   2^1024, where the next double would be. */
static inline void bigint_scaled_double(struct bigint *size, uint64_t bits, uint64_t divisor)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    if (isinf(value))
        bigint_set(size, false, 1, 1024);
    else
        bigint_set_double(size, value);
    if (divisor != 1)
        bigint_multiply(size, divisor);
}

/*
 * Returns the double nearest to number / divisor, of two equally near the one with an even
 * significand, infinity from 2^1024 - 2^970 on, and +0.0 for zero and for what rounds to it.
 */
static inline double bigint_round(const struct bigint *number, uint64_t divisor)
{
    uint64_t below = 0, above = UINT64_C(0x7ff0000000000000);
    struct bigint twice = *number, size, neighbour;
    double result;
    int order;

    twice.negative = false;
    /* Find neighbouring doubles around it: below <= size < above, as bits of positive doubles. */
    while (above - below > 1) {
        uint64_t middle = below + (above - below) / 2;
        bigint_scaled_double(&size, middle, divisor);
        if (bigint_compare_sizes(&size, &twice) <= 0)
            below = middle;
        else
            above = middle;
    }
    /* Twice the number against the sum of its neighbours. */
    bigint_shift(&twice, 1);
    bigint_scaled_double(&size, below, divisor);
    bigint_scaled_double(&neighbour, above, divisor);
    bigint_add(&size, &neighbour);
    order = bigint_compare_sizes(&twice, &size);
    if (order > 0 || (order == 0 && (above & 1) == 0))
        below = above;
    memcpy(&result, &below, sizeof result);
    return number->negative && result != 0.0 ? -result : result;
}

#endif
