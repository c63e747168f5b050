/* 192-bit integers: carries and signs at the limits, and what fits into 64 bits. */
#include "numeric/values/int192.h"

#include "batch.h"
#include "numeric/bigint.h"
#include "random.h"

/* The value as the tests' own big number. */
static struct bigint show(const struct clr_int192 *value)
{
    struct clr_int192 size = *value;
    struct bigint result = {.negative = false}, part;
    uint64_t parts[3];

    /* Two's complement, from its definition: a set top bit stands for -2^191. */
    bool negative = size.high >> 63;
    size.high &= UINT64_MAX >> 1;
    parts[0] = size.low;
    parts[1] = size.middle;
    parts[2] = size.high;
    for (int i = 0; i < 3; i++) {
        bigint_set(&part, false, parts[i], 64 * i);
        bigint_add(&result, &part);
    }
    if (negative) {
        bigint_set(&part, true, 1, 191);
        bigint_add(&result, &part);
    }
    return result;
}

static bool equals(const struct clr_int192 *value, const struct bigint *want)
{
    struct bigint got = show(value);
    return bigint_compare_sizes(&got, want) == 0 &&
           (bigint_is_zero(want) || got.negative == want->negative);
}

/* Products of any size, added and subtracted in any order. */
TAP_TEST(test_random_products)
{
    for (int round = 0; round < 300; round++) {
        struct clr_int192 sum = {0, 0, 0};
        struct bigint exact = {.negative = false};
        for (int i = 0; i < 50; i++) {
            int64_t x = random_integer(), y = random_integer();
            clr_int192_add_i128(&sum, (clr_i128)x * y);
            bigint_add_integer_product(&exact, x, y);
            batch_ok(equals(&sum, &exact), "round %d, product %d", round, i);
            batch_ok(clr_int192_is_zero(&sum) == bigint_is_zero(&exact), "its being zero");
            batch_ok(clr_int192_is_negative(&sum) == (exact.negative && !bigint_is_zero(&exact)),
                     "its sign");
        }
    }
    batch_end("sums of products");
}

/* 2^64 products of -2^63 by itself are 2^190: doubling 64 times stands for so many additions. */
TAP_TEST(test_greatest_sum)
{
    const clr_i128 greatest = (clr_i128)INT64_MIN * INT64_MIN;
    const clr_i128 least = (clr_i128)INT64_MIN * INT64_MAX;
    struct clr_int192 sum = {0, 0, 0};
    struct bigint exact;

    clr_int192_add_i128(&sum, greatest);
    for (int i = 0; i < 64; i++) {
        struct clr_int192 same = sum;
        clr_int192_add(&sum, &same);
    }
    bigint_set(&exact, false, 1, 190);
    tap_ok(equals(&sum, &exact), "(-2^63)^2, 2^64 times");
    tap_ok(!clr_int192_is_negative(&sum), "is not negative");
    clr_int192_negate(&sum);
    exact.negative = true;
    tap_ok(equals(&sum, &exact), "its negative");

    sum = (struct clr_int192){0, 0, 0};
    clr_int192_add_i128(&sum, least);
    for (int i = 0; i < 64; i++) {
        struct clr_int192 same = sum;
        clr_int192_add(&sum, &same);
    }
    bigint_clear(&exact);
    bigint_add_integer_product(&exact, INT64_MIN, INT64_MAX);
    bigint_shift(&exact, 64);
    tap_ok(equals(&sum, &exact), "-2^63 * (2^63 - 1), 2^64 times");
    for (int i = 0; i < 64; i++) /* carries run through all three words and back */
        clr_int192_negate(&sum);
    tap_ok(equals(&sum, &exact), "negated back and forth");
}

TAP_TEST(test_carries)
{
    struct clr_int192 sum = {0, 0, 0}, minus_one = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

    clr_int192_add_i128(&sum, -1);
    tap_ok(memcmp(&sum, &minus_one, sizeof sum) == 0, "-1 sets every bit");
    clr_int192_add_i128(&sum, 1);
    tap_ok(clr_int192_is_zero(&sum), "and +1 clears them all");
    clr_int192_negate(&sum);
    tap_ok(clr_int192_is_zero(&sum) && !clr_int192_is_negative(&sum), "-0 is 0");

    sum = (struct clr_int192){UINT64_MAX, UINT64_MAX, 5};
    clr_int192_add_parts(&sum, 1, 0, 0);
    tap_ok(sum.low == 0 && sum.middle == 0 && sum.high == 6, "a carry through two words");
    sum = (struct clr_int192){0, UINT64_MAX, 5};
    clr_int192_add_parts(&sum, UINT64_MAX, UINT64_MAX, 0);
    tap_ok(sum.low == UINT64_MAX && sum.middle == UINT64_MAX - 1 && sum.high == 6,
           "a middle word that is full twice");
    sum = (struct clr_int192){1, UINT64_MAX, 5};
    clr_int192_add_parts(&sum, UINT64_MAX, UINT64_MAX, 0);
    tap_ok(sum.low == 0 && sum.middle == UINT64_MAX && sum.high == 6,
           "a middle word that is full, and takes a carry in");
}

/* A value given as two's complement in 128 bits. */
static void fits(clr_i128 value, bool want)
{
    struct clr_int192 sum = {0, 0, 0};
    int64_t result = 12345;

    clr_int192_add_i128(&sum, value);
    tap_ok(clr_int192_to_int64(&sum, &result) == want && result == (want ? (int64_t)value : 12345),
           "%s2^63%+d %s", value < 0 ? "-" : "",
           (int)(value < 0 ? value + ((clr_i128)1 << 63) : value - ((clr_i128)1 << 63)),
           want ? "fits into 64 bits" : "does not fit, and is not stored");
}

TAP_TEST(test_range)
{
    const clr_i128 limit = (clr_i128)1 << 63;
    struct clr_int192 sum = {0, 0, 0};
    int64_t result;

    fits(limit - 1, true);
    fits(limit, false);
    fits(limit + 1, false);
    fits(-limit, true);
    fits(-limit - 1, false);
    fits(-limit + 1, true);
    sum.high = 1;
    tap_ok(!clr_int192_to_int64(&sum, &result), "2^128 does not fit");
    sum = (struct clr_int192){5, 1, 0};
    tap_ok(!clr_int192_to_int64(&sum, &result), "2^64 + 5 does not fit");
    sum = (struct clr_int192){(uint64_t)-5, UINT64_MAX - 1, UINT64_MAX};
    tap_ok(!clr_int192_to_int64(&sum, &result), "-2^64 - 5 does not fit");
    sum = (struct clr_int192){(uint64_t)-5, UINT64_MAX, 0};
    tap_ok(!clr_int192_to_int64(&sum, &result), "2^128 - 5 does not fit");
    sum = (struct clr_int192){5, 0, UINT64_MAX};
    tap_ok(!clr_int192_to_int64(&sum, &result), "5 - 2^128 does not fit");
    sum = (struct clr_int192){5, UINT64_MAX, UINT64_MAX};
    tap_ok(!clr_int192_to_int64(&sum, &result), "5 - 2^64 does not fit");
}
