/* The exact sum: every path to a result, and from each to the others. */
#include "numeric/exact/sum.h"

#include "batch.h"
#include "numeric/bigint.h"
#include "random.h"

/* A sum and the number that it should have. */
struct pair {
    struct clr_sum sum;
    struct bigint exact;
};

static struct pair new_pair(void)
{
    struct pair pair = {.exact = {.negative = false}};

    clr_sum_clear(&pair.sum);
    return pair;
}

static void pair_add(struct pair *pair, double x)
{
    clr_sum_add(&pair->sum, x, 1);
    bigint_add_double(&pair->exact, x);
}

static void pair_subtract(struct pair *pair, double x)
{
    clr_sum_add(&pair->sum, x, -1);
    bigint_add_double(&pair->exact, -x);
}

static void pair_add_product(struct pair *pair, double x, double y, int weight)
{
    clr_sum_add_product(&pair->sum, x, y, weight);
    bigint_add_product(&pair->exact, weight * x, y);
}

static void pair_add_integer(struct pair *pair, int64_t x, int weight)
{
    struct bigint value;

    clr_sum_add_integer(&pair->sum, x, weight);
    bigint_set(&value, (x < 0) != (weight < 0), bigint_size_of(x), 0);
    bigint_add(&pair->exact, &value);
}

/* Whether a magnitude has the value and the one form that this value has. */
static bool is_exactly(const struct clr_magnitude *value, const struct bigint *exact)
{
    struct bigint sum = {.negative = false}, digit;

    if (value->top < 0)
        return value->low == 0 && value->top == -1 && !value->negative && bigint_is_zero(exact);
    for (int i = value->low; i <= value->top; i++) {
        int exponent = 32 * i + CLR_ACCUMULATOR_BASE;
        uint64_t size = value->digit[i];
        /* The tests' numbers begin within a digit: what lies below their unit must be zero. */
        if (exponent < BIGINT_UNIT) {
            if ((size & ((UINT64_C(1) << (BIGINT_UNIT - exponent)) - 1)) != 0)
                return false;
            size >>= BIGINT_UNIT - exponent;
            exponent = BIGINT_UNIT;
        }
        bigint_set(&digit, value->negative, size, exponent);
        bigint_add(&sum, &digit);
    }
    return value->digit[value->low] != 0 && value->digit[value->top] != 0 &&
           value->negative == exact->negative && bigint_compare_sizes(&sum, exact) == 0;
}

static void pair_check(struct pair *pair, uint64_t count, const char *what)
{
    struct clr_magnitude value;

    clr_sum_exact(&pair->sum, &value);
    batch_ok(is_exactly(&value, &pair->exact), "%s: the exact value differs", what);
    batch_double(clr_sum_round(&pair->sum, count), bigint_round(&pair->exact, count),
                 "%s, divided by %" PRIu64, what, count);
}

static uint64_t any_count(void)
{
    return random_below(3) == 0 ? 1 : (random_bits() >> random_between(1, 63)) | 1;
}

TAP_TEST(test_random)
{
    for (int round = 0; round < batch_rounds(500); round++) {
        int low = random_between(0, 2046), high = random_between(low, 2046);
        struct pair pair = new_pair();
        for (int i = 0; i < 20; i++) {
            switch (round % 5) {
            case 0:
                pair_add(&pair, random_hard(low, high));
                break;
            case 1:
                pair_add(&pair, random_hard(1000, 1050));
                break;
            case 2:
                pair_add_integer(&pair, random_integer(), random_bits() & 1 ? 1 : -1);
                break;
            case 3: /* all of them above the integers' lowest bit */
                pair_add(&pair, random_hard(1076 + 52, 1180));
                pair_add_integer(&pair, random_integer(), 1);
                break;
            default:
                pair_add(&pair, random_hard(1000, 1070));
                pair_add_integer(&pair, random_integer(), 1);
                break;
            }
            pair_check(&pair, any_count(), "a sum");
        }
    }
    batch_end("sums");
}

/*
 * The division of an expansion gives up where twice the precision does not settle the rounding.
 * Ties are there always: (1 + 2^-53) / 1 over 2^k, and whatever a divisor makes of them.
 */
TAP_TEST(test_average_ties)
{
    static const uint64_t counts[] =
        TAP_LIST(1, 2, 3, 5, 6, 7, 10, 49, 1000, 4097, 1000003, (1ull << 53) - 1, 1ull << 53,
                 (1ull << 53) + 1, INT64_MAX);

    for (int round = 0; round < batch_rounds(400); round++) {
        /* quotient: 54 bits, the last one set: a tie between two doubles */
        uint64_t quotient = (random_bits() >> 10) | (UINT64_C(1) << 53) | 1;
        int exponent = round < 200 ? random_between(-100, 100) : random_between(-1070, 800);
        TAP_EACH (i, counts) {
            clr_u128 product = (clr_u128)quotient * counts[i];
            struct pair pair = new_pair();
            for (int part = 0; part < 4; part++) {
                uint64_t digit = (uint64_t)(product >> (32 * part)) & 0xffffffff;
                pair_add_product(&pair, (double)digit, ldexp(1, 32 * part + exponent), 1);
            }
            pair_check(&pair, counts[i], "a tie");
            pair_add(&pair, round & 1 ? 0x1p-1074 : -0x1p-1074);
            pair_check(&pair, counts[i], "beside a tie");
        }
    }
    batch_end("averages that are ties");

    /* Two terms, as window and GROUP BY averages have them. */
    for (int round = 0; round < batch_rounds(20000); round++) {
        double head = random_hard(1023, 1030), tail = ldexp(head, -random_between(40, 110));
        uint64_t count = random_below(1000) + 1;
        struct pair pair = new_pair();
        pair_add(&pair, head);
        pair_add(&pair, round & 1 ? tail : -tail);
        pair_check(&pair, count, "two terms");
    }
    batch_end("averages of two terms");

    for (int round = 0; round < batch_rounds(2000); round++) {
        struct pair pair = new_pair();
        pair_add(&pair, random_hard(0, 140)); /* near the limit below which expansions give up */
        pair_add(&pair, random_hard(0, 90));
        pair_check(&pair, any_count(), "small averages");
    }
    batch_end("subnormal and small averages");
}

TAP_TEST(test_average_examples)
{
    struct clr_sum sum;

    clr_sum_clear(&sum);
    clr_sum_add(&sum, 1.0, 1);
    clr_sum_add(&sum, 0x1p-53, 1);
    tap_is_double(clr_sum_round(&sum, 1), 1.0, "1 + 2^-53 is a tie, and 1 is even");
    tap_is_double(clr_sum_round(&sum, 2), 0.5, "and so is its half");
    clr_sum_add(&sum, 0x1p-200, 1);
    tap_is_double(clr_sum_round(&sum, 1), 1 + 0x1p-52, "a little more decides");
    tap_is_double(clr_sum_round(&sum, 2), 0.5 + 0x1p-53, "for its half too");
    clr_sum_add(&sum, -0x1p-199, 1);
    tap_is_double(clr_sum_round(&sum, 2), 0.5, "and a little less");
    clr_sum_clear(&sum);
    clr_sum_add(&sum, 0x1.fffffffffffffp1023, 1);
    clr_sum_add(&sum, 0x1.fffffffffffffp1023, 1);
    tap_is_double(clr_sum_round(&sum, 2), 0x1.fffffffffffffp1023, "no total overflows an average");
    tap_is_double(clr_sum_round(&sum, 1), INFINITY, "though the total does");
}

/* Every kind of product, and each leaves again without a trace. */
TAP_TEST(test_products)
{
    static const int ranges[][2] = {
        {1000, 1046}, /* ordinary */
        {0, 2046},    /* all */
        {0, 3},       /* subnormal results, or none at all */
        {2040, 2046}, /* overflowing products */
        {535, 550},   /* products around 2^-960 */
        {505, 535},   /* below that */
        {1495, 1505}, /* products around 2^960 */
        {1023, 1023},
    };
    enum { RANGES = sizeof ranges / sizeof ranges[0] };

    for (int round = 0; round < batch_rounds(100 * RANGES); round++) {
        const int *range = ranges[round % RANGES];
        double x[15], y[15];
        struct pair pair = new_pair();

        for (int i = 0; i < 15; i++) {
            x[i] = random_below(12) == 0 ? -0.0 : random_hard(range[0], range[1]);
            y[i] = random_below(12) == 0 ? 0.0 : random_hard(range[0], range[1]);
            pair_add_product(&pair, x[i], y[i], 1);
            pair_check(&pair, any_count(), "products");
        }
        for (int i = 0; i < 15; i++) {
            pair_add_product(&pair, x[i], y[i], -1);
            pair_check(&pair, 1, "products leaving");
        }
        batch_double(clr_sum_round(&pair.sum, 3), 0.0, "no product left");
    }
    batch_end("products");

    /* What rounding takes from each product is all that is left, so that none of it may be lost. */
    for (int round = 0; round < batch_rounds(100 * RANGES); round++) {
        const int *range = ranges[round % RANGES];
        struct pair pair = new_pair();
        for (int i = 0; i < 15; i++) {
            double x = random_hard(range[0], range[1]), y = random_hard(range[0], range[1]);
            if (!isfinite(x * y))
                continue;
            pair_add_product(&pair, x, y, 1);
            pair_subtract(&pair, x * y);
            pair_check(&pair, 1, "errors of products");
        }
        pair_check(&pair, any_count(), "errors of products");
    }
    batch_end("errors of products");

    for (int round = 0; round < batch_rounds(500); round++) { /* one factor tiny, the other huge */
        struct pair pair = new_pair();
        for (int i = 0; i < 10; i++) {
            pair_add_product(&pair, random_hard(0, 10), random_hard(2000, 2046), 1);
            pair_add_product(&pair, random_hard(2000, 2046), random_hard(0, 10), -1);
            pair_check(&pair, any_count(), "tiny times huge");
        }
    }
    batch_end("tiny times huge");
}

/* Clause 7 of the aggregates' contract: what leaves leaves no trace, in any order. */
TAP_TEST(test_leaving)
{
    struct clr_sum sum;

    for (int round = 0; round < batch_rounds(400); round++) {
        double x[30];
        int64_t integers[30];
        struct pair pair = new_pair();
        for (int i = 0; i < 30; i++) {
            x[i] = round & 1 ? random_finite() : random_hard(1000, 1040);
            integers[i] = random_integer();
            pair_add(&pair, x[i]);
            if (round & 2)
                pair_add_integer(&pair, integers[i], 1);
        }
        for (int i = 0; i < 30; i++) {
            pair_subtract(&pair, x[i]);
            if (round & 2)
                pair_add_integer(&pair, integers[29 - i], -1);
            pair_check(&pair, any_count(), "a sum that values leave");
        }
        batch_double(clr_sum_round(&pair.sum, 1), 0.0, "no value left");
    }
    batch_end("values that leave");

    clr_sum_clear(&sum);
    clr_sum_add(&sum, 1.5, 1);
    clr_sum_add(&sum, INFINITY, 1);
    tap_is_double(clr_sum_round(&sum, 1), INFINITY, "an infinity");
    clr_sum_add(&sum, -INFINITY, 1);
    tap_is_double(clr_sum_round(&sum, 1), NAN, "and its opposite");
    clr_sum_add(&sum, INFINITY, -1);
    tap_is_double(clr_sum_round(&sum, 5), -INFINITY, "the first one leaves");
    clr_sum_add(&sum, NAN, 1);
    tap_is_double(clr_sum_round(&sum, 1), NAN, "a NaN");
    clr_sum_add(&sum, NAN, -1);
    tap_is_double(clr_sum_round(&sum, 1), -INFINITY, "that leaves");
    clr_sum_add(&sum, -INFINITY, -1);
    tap_is_double(clr_sum_round(&sum, 1), 1.5, "and only the number is there");
    clr_sum_add_product(&sum, 0.0, INFINITY, 1);
    tap_is_double(clr_sum_round(&sum, 1), NAN, "0 * Inf is NaN");
    clr_sum_add_product(&sum, 0.0, INFINITY, -1);
    clr_sum_add_product(&sum, -2.0, INFINITY, 1);
    tap_is_double(clr_sum_round(&sum, 1), -INFINITY, "-2 * Inf is -Inf");
    clr_sum_add_product(&sum, -2.0, INFINITY, -1);
    clr_sum_add_product(&sum, 1e200, 1e200, 1);
    tap_is_double(clr_sum_round(&sum, 1), INFINITY, "1e200 * 1e200 is past the range");
    clr_sum_add_product(&sum, 1e200, -1e200, 1);
    tap_is_double(clr_sum_round(&sum, 1), 1.5, "and is no infinity: it can be subtracted");
    clr_sum_add_wide_product(&sum, 3.0, NAN);
    tap_is_double(clr_sum_round(&sum, 1), NAN, "3 * NaN");

    clr_sum_clear(&sum);
    clr_sum_add_product(&sum, 0.0, 1e300, 1);
    clr_sum_add_product(&sum, 1e-300, -0.0, 1);
    tap_ok(!sum.wide_used, "products that are zero need no long accumulator");
}

/* Integers past 2^63 stay exact among reals; halves that an expansion can't hold go another way. */
TAP_TEST(test_integers)
{
    struct clr_sum sum;

    clr_sum_clear(&sum);
    for (int i = 0; i < 5; i++)
        clr_sum_add_integer(&sum, INT64_MAX, 1);
    tap_is_double(clr_sum_round(&sum, 5), 0x1p63, "the average of 2^63 - 1, rounded");
    clr_sum_add(&sum, 0x1p-1074, 1);
    for (int i = 0; i < 4; i++)
        clr_sum_add_integer(&sum, INT64_MAX, -1);
    clr_sum_add(&sum, -0x1p63, 1);
    tap_is_double(clr_sum_round(&sum, 1), -1.0, "2^63 - 1 - 2^63 and a trace more");
    clr_sum_add(&sum, -0x1p-1074, 1);
    tap_is_double(clr_sum_round(&sum, 1), -1.0, "without the trace");
    clr_sum_clear(&sum);
    clr_sum_add_integer(&sum, (clr_i128)INT64_MIN * INT64_MIN, 1);
    tap_is_double(clr_sum_round(&sum, 1), 0x1p126, "2^126");
    clr_sum_add_integer(&sum, (clr_i128)INT64_MIN * INT64_MIN, -1);
    clr_sum_add_integer(&sum, INT64_MIN, -1);
    tap_is_double(clr_sum_round(&sum, 1), 0x1p63, "-2^63, subtracted");
    clr_sum_add(&sum, 1e300, 1);
    clr_sum_add(&sum, 1e-300, 1);
    clr_sum_add(&sum, -1e300, 1);
    clr_sum_add(&sum, -0x1p63, 1);
    tap_is_double(clr_sum_round(&sum, 1), 1e-300, "1e-300 between 1e300, -1e300 and integers");
}

/* What a merge gives does not depend on how the values were spread. */
TAP_TEST(test_merge)
{
    int i;

    for (int round = 0; round < batch_rounds(500); round++) {
        struct pair whole, part;
        int parts = random_between(1, 6);
        whole = new_pair();
        while (parts-- > 0) {
            double before;
            part = new_pair();
            for (i = random_between(0, 12); i > 0; i--) {
                switch (random_below(4)) {
                case 0:
                    pair_add_integer(&part, random_integer(), 1);
                    break;
                case 1:
                    pair_add(&part, random_finite());
                    break;
                case 2:
                    pair_add_product(&part, random_finite(), random_finite(), 1);
                    break;
                default:
                    pair_add(&part, random_hard(1010, 1030));
                    break;
                }
            }
            before = bigint_round(&part.exact, 1);
            clr_sum_merge(&whole.sum, &part.sum);
            bigint_add(&whole.exact, &part.exact);
            batch_double(clr_sum_round(&part.sum, 1), before, "a part keeps its value");
            pair_check(&whole, any_count(), "the whole");
        }
    }
    batch_end("merging");
}

TAP_TEST(test_merge_infinities)
{
    struct clr_sum sum, other;

    clr_sum_clear(&sum);
    clr_sum_clear(&other);
    clr_sum_add(&sum, INFINITY, 1);
    clr_sum_add(&other, -INFINITY, 1);
    clr_sum_merge(&sum, &other);
    tap_is_double(clr_sum_round(&sum, 1), NAN, "opposite infinities that meet in a merge");
    clr_sum_add(&sum, INFINITY, -1);
    tap_is_double(clr_sum_round(&sum, 1), -INFINITY, "and part again");
}

TAP_TEST(test_device_parts)
{
    for (int round = 0; round < batch_rounds(300); round++) {
        int64_t digits[CLR_ACCUMULATOR_DIGITS] = {0};
        double terms[CLR_EXPANSION_TERMS];
        struct pair pair = new_pair();
        for (int i = 0; i < CLR_EXPANSION_TERMS; i++) {
            terms[i] = round % 3 == 0 ? random_finite() : random_hard(1000, 1100);
            bigint_add_double(&pair.exact, terms[i]);
        }
        for (int i = 0; i < 5; i++) {
            int at = random_between(1, 130);
            struct bigint digit;
            if (digits[at] != 0)
                continue;
            digits[at] = (int64_t)random_bits() >> random_between(1, 40);
            bigint_set(&digit, digits[at] < 0, bigint_size_of(digits[at]),
                       32 * at + CLR_ACCUMULATOR_BASE);
            if (round & 1)
                bigint_add(&pair.exact, &digit);
        }
        clr_sum_add_device_parts(&pair.sum, terms, round & 1 ? digits : NULL);
        pair_check(&pair, any_count(), "a device's parts");
    }
    batch_end("parts of a device");
}

TAP_TEST(test_zero)
{
    struct clr_sum sum;

    clr_sum_clear(&sum);
    tap_is_double(clr_sum_round(&sum, 1), 0.0, "nothing is +0.0");
    clr_sum_add(&sum, -0.0, 1);
    clr_sum_add(&sum, -0.0, 1);
    tap_is_double(clr_sum_round(&sum, 1), 0.0, "-0.0 and -0.0 are +0.0");
    tap_is_double(clr_sum_round(&sum, 3), 0.0, "and so is their average");
    clr_sum_add_product(&sum, -0.0, 1.0, 1);
    tap_is_double(clr_sum_round(&sum, 1), 0.0, "-0.0 * 1 is +0.0");
    clr_sum_add_product(&sum, -0x1p-1074, 0x1p-1074, 1);
    tap_is_double(clr_sum_round(&sum, 1), 0.0, "what rounds to zero is +0.0");
}
