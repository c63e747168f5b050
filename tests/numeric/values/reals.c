/*
 * Doubles by integers, as devices without fp64 compute with them (kernels/arithmetic/reals.cl),
 * against the processor's: sums, products, quotients, roundings, conversions and the order of any
 * bits, and above all of those whose results are close to where they round, overflow or are
 * subnormal.
 */
#define DOUBLES 0
#include "../../../kernels/arithmetic/reals.cl"

#include "batch.h"
#include "random.h"

#include <math.h>

enum { ROUNDS = 1000000 };

static const uint64_t specials[] =
    TAP_LIST(0, 1, 2, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001,
             0x3fe0000000000000, 0x3fdfffffffffffff, 0x3ff0000000000000, 0x3ff0000000000001,
             0x4330000000000000, 0x4340000000000001, 0x43dfffffffffffff, 0x43e0000000000000,
             0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000);

enum { SPECIALS = sizeof specials / sizeof specials[0] };

/* Bits of a finite number within 2^64 times `near`, often one that is hard on rounding. */
static int64_t draw_near(double near)
{
    const int exponent = (int)(value_bits_of(near) >> 52 & 0x7ff);

    return value_bits_of(random_hard(exponent < 64 ? 0 : exponent - 64,
                                     exponent > 2046 - 64 ? 2046 : exponent + 64));
}

/* All NaNs are one: SQLite makes NULL of them. */
static void is_same(value_real found, double expected, const char *what, int64_t x, int64_t y)
{
    batch_ok(found == value_bits_of(expected) || (REAL_IS_NAN(found) && isnan(expected)),
             "%s of %a and %a is %a, not %a", what, value_real_of(x), value_real_of(y), expected,
             value_real_of(found));
}

static void compare(int64_t x, int64_t y)
{
    const double a = value_real_of(x), b = value_real_of(y);

    is_same(REAL_ADD(x, y), a + b, "sum", x, y);
    is_same(REAL_SUBTRACT(x, y), a - b, "difference", x, y);
    is_same(REAL_MULTIPLY(x, y), a * b, "product", x, y);
    if (b != 0.0)
        is_same(REAL_DIVIDE(x, y), a / b, "quotient", x, y);
    is_same(REAL_FLOOR(x), floor(a), "floor", x, y);
    is_same(REAL_CEILING(x), ceil(a), "ceiling", x, y);
    is_same(REAL_TRUNCATE(x), trunc(a), "whole part", x, y);
    is_same(REAL_OF_INTEGER(x), (double)x, "the double", x, y);
    if (!isnan(a) && !isnan(b))
        batch_ok(REAL_LESS(x, y) == (a < b), "the order of %a and %a", a, b);
    batch_ok(REAL_IS_ZERO(x) == (a == 0.0) && REAL_IS_NAN(x) == (a != a), "zero, or NaN: %a", a);
    batch_ok(real_to_integer(x) == (!(a > -0x1p63) ? INT64_MIN
                                    : a < 0x1p63   ? (int64_t)a
                                                   : INT64_MAX),
             "the INTEGER of %a", a);
}

TAP_TEST(test_reals)
{
    int64_t x, y;

    for (int i = 0; i < 2 * SPECIALS; i++) {
        for (int j = 0; j < 2 * SPECIALS; j++)
            compare((int64_t)(specials[i / 2] | (uint64_t)i << 63),
                    (int64_t)(specials[j / 2] | (uint64_t)j << 63));
    }
    batch_end("numbers at the edges of formats");
    for (int i = 0; i < batch_rounds(ROUNDS); i++) {
        x = draw_near(random_finite());
        /* One for sums; one whose product with x is about subnormal; one for quotients of any size;
           and one that x times it was. */
        compare(x, draw_near(value_real_of(x)));
        y = draw_near(0x1p-1022 / value_real_of(x));
        compare(x, y);
        compare(x, (int64_t)random_bits());
        compare(value_bits_of(value_real_of(x) * value_real_of(y)), y);
    }
    batch_end("any numbers, and such as are near each other");
}
