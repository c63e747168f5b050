/* The long accumulator against the tests' own arithmetic, where it is hard: ties, carries,
 * divisors. sum-t.c has random sums. */
#include "numeric/exact/sum.c"

#include "batch.h"
#include "numeric/bigint.h"
#include "random.h"

/* An accumulator and the number that it should hold. */
struct pair {
    struct clr_accumulator sum;
    struct bigint exact;
};

static struct pair new_pair(void)
{
    struct pair pair = {.exact = {.negative = false}};

    clr_accumulator_clear(&pair.sum);
    return pair;
}

static void pair_add(struct pair *pair, double x)
{
    clr_accumulator_add(&pair->sum, x);
    bigint_add_double(&pair->exact, x);
}

static void pair_add_product(struct pair *pair, double x, double y)
{
    accumulator_add_product(&pair->sum, x, y);
    bigint_add_product(&pair->exact, x, y);
}

static void pair_check(struct pair *pair, uint64_t divisor, const char *what)
{
    batch_double(clr_accumulator_round(&pair->sum, divisor), bigint_round(&pair->exact, divisor),
                 "%s, divided by %" PRIu64, what, divisor);
}

static uint64_t any_divisor(void)
{
    switch (random_below(4)) {
    case 0:
        return 1;
    case 1:
        return random_below(20) + 1;
    case 2:
        return (uint64_t)1 << random_below(64);
    default:
        return (random_bits() >> random_below(63)) | 1;
    }
}

TAP_TEST(test_products)
{
    struct pair pair = new_pair();

    pair_add_product(&pair, 0x1p-1074, 0x1p-1074);
    pair_check(&pair, 1, "the smallest product");
    pair_add(&pair, 0x1p-1074);
    pair_check(&pair, 2, "just above half of the smallest number");
    pair_add_product(&pair, -0x1p-1074, 0x1p-1074);
    pair_check(&pair, 2, "half of the smallest number");
    for (int i = 0; i < 1000; i++)
        pair_add_product(&pair, 0x1.fffffffffffffp1023, -0x1.fffffffffffffp1023);
    pair_check(&pair, 1, "the largest products");
    for (int i = 0; i < 1000; i++)
        pair_add_product(&pair, 0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023);
    pair_check(&pair, 1, "and back");
    pair_check(&pair, 3, "and back, by 3");
    batch_end("products at both ends");
}

TAP_TEST(test_integers)
{
    struct clr_int192 greatest = {UINT64_MAX, UINT64_MAX, INT64_MAX}, least = {0, 0, 0};
    struct clr_accumulator sum;

    clr_accumulator_clear(&sum);
    clr_accumulator_add_int192(&sum, &greatest);
    tap_is_double(clr_accumulator_round(&sum, 1), 0x1p191, "2^191 - 1");
    least.high = (uint64_t)1 << 63;
    clr_accumulator_add_int192(&sum, &least);
    tap_is_double(clr_accumulator_round(&sum, 1), -1.0, "2^191 - 1 less 2^191");
    clr_accumulator_clear(&sum);
    clr_accumulator_add_int192(&sum, &least);
    tap_is_double(clr_accumulator_round(&sum, 1), -0x1p191, "-2^191");
}

/*
 * Ties at every exponent of a result, subnormals among them, made from a significand, half a unit
 * in its last place, and nothing or the smallest product of either sign.
 */
TAP_TEST(test_ties)
{
    for (int exponent = -1076; exponent <= 1023;
         exponent += exponent < -1015 || exponent > 1015 ? 1 : 37) {
        for (int i = 0; i < 12; i++) {
            static const uint64_t tops[] = {
                0, 1, 2, 0x7ffffffffffff, 0xffffffffffffe, 0xfffffffffffff};
            double top = random_compose(i & 1, 1023, tops[i / 2]);
            int shift = exponent < -1022 ? -1074 : exponent - 52;
            for (int sign = -1; sign <= 1; sign++) {
                struct pair pair = new_pair();
                /* top * 2^exponent may be no double: the product of two doubles is exact. */
                pair_add_product(&pair, top, ldexp(1.0, exponent < -1074 ? -1074 : exponent));
                pair_add_product(&pair, 0.5, ldexp(1.0, shift));
                if (sign != 0)
                    pair_add_product(&pair, sign * 0x1p-1074, 0x1p-1074);
                pair_check(&pair, 1, "a tie");
                pair_check(&pair, 2, "a tie");
                pair_check(&pair, (uint64_t)1 << 63, "a tie");
            }
        }
    }
    batch_end("ties at all exponents");
}

/* Ties that one bit decides, at every distance and in every position among the digits. */
TAP_TEST(test_single_bits)
{
    for (int position = 0; position < 32; position++) {
        for (int distance = 54; distance < 200; distance++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                struct pair pair = new_pair();
                pair_add(&pair, ldexp(1.0, position));
                pair_add(&pair, ldexp(1.0, position - 53));
                pair_add(&pair, sign * ldexp(1.0, position - distance));
                pair_check(&pair, 1, "a tie and one bit");
                pair_check(&pair, 4, "a tie and one bit");
            }
        }
    }
    batch_end("ties that one bit decides");
}

/*
 * The highest digit can come to be any number between -2^32 and 2^32, the ends included: here by
 * halves that reach it as a carry, so that no digit above it is touched.
 */
TAP_TEST(test_full_digit)
{
    for (int exponent = -960; exponent <= 960; exponent += 32) {
        for (int sign = -1; sign <= 1; sign += 2) {
            struct pair pair = new_pair();
            pair_add(&pair, sign * ldexp(0xffffffff, exponent));
            for (int halves = 0; halves < 6; halves++) {
                pair_check(&pair, 1, "a digit that is full");
                pair_check(&pair, 3, "a digit that is full");
                pair_add(&pair, sign * ldexp(1.0, exponent - 1));
            }
        }
    }
    batch_end("full digits");
}

TAP_TEST(test_overflow)
{
    const double largest = 0x1.fffffffffffffp1023;
    struct pair pair = new_pair();

    pair_add(&pair, largest);
    pair_add(&pair, 0x1p969);
    pair_check(&pair, 1, "just below the tie with 2^1024");
    pair_add(&pair, 0x1p969);
    pair_check(&pair, 1, "the tie with 2^1024");
    pair_add_product(&pair, -0x1p-1074, 0x1p-1074);
    pair_check(&pair, 1, "the last number below the tie");
    pair_add(&pair, largest);
    pair_check(&pair, 1, "overflow");
    pair_check(&pair, 2, "no overflow of the average");
    pair_add_product(&pair, -largest, largest);
    pair_check(&pair, 1, "negative overflow");
    pair_check(&pair, UINT64_MAX, "even of the average");
    pair_add_product(&pair, largest, largest);
    pair_check(&pair, 1, "overflow again");
    pair_add(&pair, -largest);
    pair_check(&pair, 1, "and out of it");
    batch_end("overflow");
}

/*
 * Quotients that end in a tie or next to one: quotient * divisor, a number of bits more than a
 * double has, with the last unit changed.
 */
TAP_TEST(test_divide)
{
    for (int round = 0; round < batch_rounds(4000); round++) {
        struct pair pair = new_pair();
        uint64_t divisor = (random_bits() >> random_below(63)) | 1;
        double quotient = random_hard(1023 - 10, 1023 + 10);
        double half = ldexp(quotient < 0 ? -1 : 1, ilogb(quotient) - 53);

        /* divisor as two doubles, times (quotient + half a unit of its last place) */
        pair_add_product(&pair, (double)(divisor >> 32) * 0x1p32, quotient);
        pair_add_product(&pair, (double)(divisor & 0xffffffff), quotient);
        pair_check(&pair, divisor, "an exact quotient");
        pair_add_product(&pair, (double)(divisor >> 32) * 0x1p32, half);
        pair_add_product(&pair, (double)(divisor & 0xffffffff), half);
        pair_check(&pair, divisor, "a quotient that is a tie");
        pair_add(&pair, round & 1 ? 0x1p-1074 : -0x1p-1074);
        pair_check(&pair, divisor, "a quotient right beside a tie");
    }
    batch_end("quotients that are ties");

    for (int round = 0; round < batch_rounds(4000); round++) {
        struct pair pair = new_pair();
        pair_add_product(&pair, random_hard(0, 60), random_hard(960, 1023));
        pair_check(&pair, any_divisor(), "a subnormal quotient");
        pair_check(&pair, UINT64_MAX, "a subnormal quotient");
        pair_check(&pair, (uint64_t)1 << 63, "a subnormal quotient");
    }
    batch_end("subnormal quotients");
}

/* A device's digits are signed, and up to 2^62. */
TAP_TEST(test_digits)
{
    for (int round = 0; round < batch_rounds(300); round++) {
        int64_t digits[CLR_ACCUMULATOR_DIGITS];
        struct pair pair = new_pair();
        int count = random_between(1, 3);

        pair_add(&pair, random_finite());
        while (count-- > 0) {
            int low = random_between(1, 130), high = random_between(low, 130);
            for (int i = 0; i < CLR_ACCUMULATOR_DIGITS; i++) {
                struct bigint digit;
                digits[i] =
                    i < low || i > high ? 0 : (int64_t)random_bits() >> random_between(1, 60);
                if (round % 7 == 0 && digits[i] != 0)
                    digits[i] = round & 1 ? INT64_MAX / 2 : -(INT64_MAX / 2);
                if (digits[i] == 0)
                    continue;
                bigint_set(&digit, digits[i] < 0, bigint_size_of(digits[i]),
                           32 * i + CLR_ACCUMULATOR_BASE);
                bigint_add(&pair.exact, &digit);
            }
            accumulator_add_digits(&pair.sum, digits);
            pair_check(&pair, any_divisor(), "a device's digits");
        }
    }
    batch_end("digits of a device");
}

/*
 * Carries wait for up to 2^30 additions, which nobody waits for here: `pending` is set by hand to
 * just before that, with digits as full as so many additions make them.
 */
TAP_TEST(test_pending)
{
    const uint32_t limit = (uint32_t)1 << 30;

    for (int round = 0; round < batch_rounds(200); round++) {
        for (int sign = -1; sign <= 1; sign += 2) {
            struct pair pair = new_pair();
            int first = random_between(2, 120), last = first + random_between(0, 10);
            for (int i = first; i <= last; i++) {
                struct bigint digit;
                int64_t full = ((int64_t)limit - 3) * (int64_t)UINT32_MAX;
                pair.sum.digit[i] = sign * full;
                bigint_set(&digit, sign < 0, (uint64_t)full, 32 * i + CLR_ACCUMULATOR_BASE);
                bigint_add(&pair.exact, &digit);
            }
            pair.sum.low = first;
            pair.sum.high = last;
            pair.sum.pending = limit - 3;
            for (int i = 0; i < 6; i++) {
                /* All bits set: adds as much to each digit as an addition can. */
                pair_add_product(&pair, sign * 0x1.fffffffffffffp0,
                                 ldexp(0x1.fffffffffffffp0, 32 * first + CLR_ACCUMULATOR_BASE < -900
                                                                ? -900
                                                                : 32 * first % 1800 - 900));
                pair_add(&pair, sign * ldexp(0x1.fffffffffffffp0, random_between(-1000, 1000)));
            }
            batch_ok(pair.sum.pending < limit - 3, "carries were not propagated");
            pair_check(&pair, any_divisor(), "full digits");
        }
    }
    batch_end("the limit of waiting carries");
}

TAP_TEST(test_zero)
{
    struct clr_accumulator sum, other;

    clr_accumulator_clear(&sum);
    tap_is_double(clr_accumulator_round(&sum, 1), 0.0, "nothing is +0.0");
    tap_is_double(clr_accumulator_round(&sum, 3), 0.0, "a third of it too");
    clr_accumulator_add(&sum, -0.0);
    accumulator_add_product(&sum, -0.0, 5.0);
    tap_is_double(clr_accumulator_round(&sum, 1), 0.0, "negative zeros are +0.0");
    clr_accumulator_clear(&other);
    clr_accumulator_merge(&sum, &other);
    tap_is_double(clr_accumulator_round(&sum, 1), 0.0, "nothing and nothing");
    clr_accumulator_add(&sum, -0x1p-1074);
    tap_is_double(clr_accumulator_round(&sum, 2), 0.0, "half of the smallest number, negative");
    tap_is_double(clr_accumulator_round(&sum, 1), -0x1p-1074, "the smallest number, negative");
}
