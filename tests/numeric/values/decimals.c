/* REALs of few decimals, made by strtod(), which rounds correctly: split into their integers and
   back in every instruction set that this processor has; and what is none, which is refused. */
#include "numeric/values/decimals.h"

#include "batch.h"
#include "numeric/exact/sum.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = CLR_DECIMALS_SUMMED, MOST_DIGITS = 9 };

static int64_t integers[MOST], values[MOST], found[MOST];
static uint32_t words[MOST];

/* The REAL of k with so many decimals. */
static int64_t read_decimal(int64_t k, int digits)
{
    char text[40];

    snprintf(text, sizeof text, "%llde-%d", (long long)k, digits);
    return clr_bits_of(strtod(text, NULL));
}

static double power_of(int digits)
{
    double power = 1.0;

    for (; digits > 0; digits--)
        power *= 10.0;
    return power;
}

/* An integer of any size that decimals have; the ends of their range are likely. */
static int64_t random_k(void)
{
    const int64_t k = random_integer() >> (13 + random_below(51));

    if (random_below(20) == 0)
        return random_below(2) == 0 ? -CLR_DECIMALS_MOST : CLR_DECIMALS_MOST - 1;
    return random_below(20) == 0 ? 0 : k;
}

/* What is no decimal by a power, where k would be one. */
static int64_t make_other(int64_t k, double power)
{
    static const double others[] = {-0.0,       NAN,    INFINITY, -INFINITY, 0x1p-1074,
                                    -0x1p-1030, 1e300,  0.1,      -1e18,     0x1p51,
                                    0x1p52,     0x1p53, -0x1p62,  0x1p63};
    const double other = others[random_below(sizeof others / sizeof others[0])];

    switch (random_below(4)) {
    case 0:
        return clr_decimal_bits(k, power) + 1;
    case 1:
        return k == 0 ? INT64_MIN : clr_decimal_bits(k, power) - 1;
    case 2:
        return clr_decimal_bits(CLR_DECIMALS_MOST, power);
    default:
        return other == 0.1 ? clr_bits_of((power > 1.0 ? 0.1 : 0.5) / power) : clr_bits_of(other);
    }
}

static void check_split(const struct clr_decimals_loops *loops, int digits, size_t count)
{
    const double power = power_of(digits);
    size_t place = random_below((unsigned)count);
    bool right = true;

    for (size_t i = 0; i < count; i++) {
        integers[i] = random_k();
        values[i] = read_decimal(integers[i], digits);
        right = right && clr_decimal_bits(integers[i], power) == values[i];
    }
    batch_ok(right, "quotients of %d decimals", digits);
    batch_ok(loops->split(power, values, count, found), "%zu are of %d decimals", count, digits);
    batch_ok(memcmp(integers, found, count * sizeof *found) == 0, "and their integers");
    values[place] = make_other(integers[place], power);
    batch_ok(!loops->split(power, values, count, found) ||
                 (found[place] != integers[place] &&
                  clr_decimal_bits(found[place], power) == values[place]),
             "%a is none by %g", clr_real_of(values[place]), power);
}

/* Both ends of what so many bytes hold, anywhere. */
static void check_widen(const struct clr_decimals_loops *loops, int digits, unsigned bytes,
                        size_t first, size_t count)
{
    const int64_t most = (int64_t)(UINT32_MAX >> (32 - 8 * bytes));
    const int64_t any = random_k() / 2, least = random_below(3) == 0 ? -(most + 1) / 2 : any;
    bool right = true;

    for (size_t i = 0; i < first + count; i++) {
        const uint32_t word = random_below(10) == 0   ? 0
                              : random_below(10) == 0 ? (uint32_t)most
                                                      : (uint32_t)random_bits() & (uint32_t)most;
        if (bytes == 1)
            ((uint8_t *)words)[i] = (uint8_t)word;
        else if (bytes == 2)
            ((uint16_t *)words)[i] = (uint16_t)word;
        else
            words[i] = word;
        integers[i] = least + (int64_t)word;
    }
    loops->widen(power_of(digits), least, bytes, words, first, count, found);
    for (size_t i = 0; i < count; i++)
        right = right && found[i] == read_decimal(integers[first + i], digits);
    batch_ok(right, "%zu of %u bytes, %d decimals, from %lld", count, bytes, digits,
             (long long)least);
}

/* The sum of values, most of them near the ends, is that of the parts: compared exactly. */
static void check_sum(const struct clr_decimals_loops *loops, int digits, size_t count)
{
    const int shift = (int)random_below(34);
    struct clr_sum sum;
    double parts[2];

    clr_sum_clear(&sum);
    for (size_t i = 0; i < count; i++) {
        integers[i] = CLR_DECIMALS_MOST_SUMMED >> shift;
        integers[i] -= (int64_t)(random_bits() >> (24 + random_below(40)));
        if (integers[i] < -CLR_DECIMALS_MOST_SUMMED || random_below(50) == 0)
            integers[i] = random_below(2) == 0 ? 1 : -CLR_DECIMALS_MOST_SUMMED;
        values[i] = clr_decimal_bits(integers[i], power_of(digits));
        clr_sum_add(&sum, clr_real_of(values[i]), 1);
    }
    loops->sum(power_of(digits), values, count, parts);
    clr_sum_add(&sum, parts[0], -1);
    clr_sum_add(&sum, parts[1], -1);
    batch_ok(clr_sum_round(&sum, 1) == 0.0, "the sum of %zu, %d decimals", count, digits);
}

/* What is refused may be a decimal by another power. */
static void test_powers(void)
{
    int digits;

    for (int i = 0; i < 3000; i++) {
        const int64_t k = random_k() >> 31;

        digits = (int)random_below(MOST_DIGITS + 1);
        values[0] = read_decimal(k % 10 == 0 ? k + 1 : k, digits);
        values[1] = read_decimal(random_k() >> 31, (int)random_below((unsigned)digits + 1));
        batch_ok(clr_decimals_find_power(values, 1) == power_of(digits), "the power of %.17g",
                 clr_real_of(values[0]));
        batch_ok(clr_decimals_find_power(values, 2) == power_of(digits), "and with %.17g",
                 clr_real_of(values[1]));
        values[1] = values[0] + (random_below(2) == 0 ? 1 : -1);
        batch_ok(clr_decimals_find_power(values, 2) == 0.0, "none for %a", clr_real_of(values[1]));
    }
    values[0] = clr_bits_of(0.0);
    values[1] = clr_bits_of(-0.0);
    batch_ok(clr_decimals_find_power(values, 1) == 1.0, "zero is one");
    batch_ok(clr_decimals_find_power(values, 2) == 0.0, "its negative is none");
    batch_end("powers");
}

static void test_from(void)
{
    for (int i = 0; i < 20000; i++) {
        const double power = power_of((int)random_below(MOST_DIGITS + 1));
        const int64_t k = random_k();
        double bound = (double)k / power;
        int64_t from;

        if (random_below(2) == 0)
            bound = nextafter(bound, random_below(2) == 0 ? INFINITY : -INFINITY);
        else if (random_below(2) == 0)
            bound = ((double)k + 0.5) / power;
        from = clr_decimals_from(bound, power);
        batch_ok((double)from / power >= bound && (double)(from - 1) / power < bound,
                 "from %a by %g", bound, power);
    }
    batch_ok(clr_decimals_from(INFINITY, 100.0) == 2 * CLR_DECIMALS_MOST, "infinity");
    batch_ok(clr_decimals_from(-INFINITY, 100.0) == -2 * CLR_DECIMALS_MOST, "its negative");
    batch_ok(clr_decimals_from(1e300, 1e9) == 2 * CLR_DECIMALS_MOST, "a large bound");
    batch_ok(clr_decimals_from(-1e300, 1.0) == -2 * CLR_DECIMALS_MOST, "its negative");
    batch_ok(clr_decimals_from(-0.0, 10.0) == 0, "zero");
    batch_ok(clr_decimals_from(0x1p-1074, 10.0) == 1, "the least above it");
    batch_ok(clr_decimals_from(-0x1p-1074, 10.0) == 0, "the greatest below it");
    batch_end("bounds");
}

TAP_TEST(test_decimals)
{
    const struct clr_decimals_loops *loops;

    test_powers();
    test_from();
    for (int skipped = 0; (loops = clr_decimals_choose_loops(skipped)) != NULL; skipped++) {
        for (int i = 0; i < 2000; i++) {
            const int digits = i % (MOST_DIGITS + 1);
            const size_t count = 1 + random_below(random_below(4) == 0 ? 400 : 100);

            check_split(loops, digits, count);
            check_sum(loops, digits, random_below(2) == 0 ? MOST : count);
            check_widen(loops, digits, 1U << random_below(3), random_below(70), count);
        }
        batch_end("decimals split and widened");
    }
}
