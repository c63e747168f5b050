/*
 * Windows: what is cut into digits and added up is the exact sum, and devices without doubles cut
 * it into the same digits (kernels/arithmetic/digits.cl).
 */
#define DOUBLES 0
#include "../../../kernels/arithmetic/reals.cl"

#include "../../../kernels/arithmetic/digits.cl"
#include "numeric/grouping/window.h"

#include "batch.h"
#include "random.h"

/* A number of the window: some bits between its ends. */
static double draw(int top, int bottom)
{
    const int most = top - bottom < 53 ? top - bottom : 53;
    const int bits = random_between(1, most);
    const int64_t significand = (int64_t)(random_bits() >> (64 - bits));
    const int last = random_between(bottom, top > bottom + bits ? top - bits : bottom);
    const double size = ldexp((double)significand, last);

    return random_below(2) == 0 ? size : -size;
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Lays a window over numbers from 2^bottom to 2^top, and adds up random ones. */
static void test_sums(int round)
{
    const int bottom = random_between(-1074, 700), top = bottom + random_between(1, 120);
    const uint64_t rows = (uint64_t)1 << random_below(31);
    const size_t count = random_below(200) + 1;
    struct clr_window window;
    struct clr_sum want, got;
    int64_t high = 0, low = 0, one, other;
    size_t i, cut = 0;

    clr_window_lay(&window, top, bottom, rows);
    clr_sum_clear(&want);
    clr_sum_clear(&got);
    for (i = 0; i < count && i < rows; i++) {
        const double x = draw(top, bottom);

        if (!clr_window_cut(&window, x, &one, &other))
            continue;
        cut++;
        high += one;
        low += other;
        clr_sum_add(&want, x, 1);
    }
    clr_window_sum(&window, high, low, &got);
    batch_ok(same(clr_sum_round(&want, 1), clr_sum_round(&got, 1)), "round %d: %a, not %a", round,
             clr_sum_round(&got, 1), clr_sum_round(&want, 1));
    batch_ok(same(clr_sum_round(&want, 7), clr_sum_round(&got, 7)), "round %d, divided", round);
    if (top - bottom <= 62 && bottom > -1000)
        batch_ok(cut == i, "round %d: %zu of %zu lie in the window", round, cut, i);
}

static void test_outside(void)
{
    static const double outside[] = {INFINITY, -INFINITY, NAN,      0x1p300,
                                     -0x1p300, 0x1p-300,  -0x1p-300};
    struct clr_window window;
    int64_t high, low;
    size_t i;

    clr_window_lay(&window, 30, -30, 1 << 20);
    for (i = 0; i < 7; i++)
        tap_ok(!clr_window_cut(&window, outside[i], &high, &low), "%a is outside", outside[i]);
    tap_ok(clr_window_cut(&window, -0.0, &high, &low) && high == 0 && low == 0,
           "-0.0 adds nothing");
    tap_ok(clr_window_cut(&window, 0x1p29, &high, &low), "2^29 is not");
    tap_ok(clr_window_cut(&window, -0x1p-30, &high, &low), "-2^-30 is not");
}

/* The largest sums that there may be. */
static void test_largest(void)
{
    struct clr_window window;
    struct clr_sum want, got;
    int64_t high, low;
    double x;
    int bits;

    for (bits = 0; bits <= 31; bits++) {
        const uint64_t rows = (uint64_t)1 << bits;

        clr_window_lay(&window, 10, -90, rows);
        x = nextafter(window.limit, 0.0);
        while (!clr_window_cut(&window, x, &high, &low)) /* the last bits are too low */
            x -= window.limit * 0x1p-30;
        clr_sum_clear(&want);
        clr_sum_clear(&got);
        clr_sum_add_product(&want, x, (double)rows, 1);
        clr_window_sum(&window, high * (int64_t)rows, low * (int64_t)rows, &got);
        tap_is_double(clr_sum_round(&got, 1), clr_sum_round(&want, 1), "2^%d times %a", bits, x);
    }
}

/* A number that is hard to cut: any; one about the window's limit, or in the middle of two digits,
   or one of few bits, or their sum. */
static double draw_hard(const struct clr_window *window)
{
    const int most = window->high_exponent - window->low_exponent + 2;
    double x = 0.0;

    if (random_below(8) == 0)
        return value_real_of((int64_t)random_bits());
    if (random_below(8) == 0)
        x = window->limit + ldexp(random_between(-2, 2), window->low_exponent);
    if (random_below(2) == 0)
        x += ldexp(random_between(-99, 99), window->high_exponent + random_between(-1, most));
    if (random_below(2) == 0)
        x += ldexp(random_between(-9, 9), window->low_exponent + random_between(-2, most));
    if (random_below(4) == 0)
        x = nextafter(x, random_below(2) == 0 ? INFINITY : -INFINITY);
    return random_below(2) == 0 ? x : -x;
}

/* Returns whether the number lies within the window. */
static bool compare_digits(const struct clr_window *window, double x)
{
    int64_t high = 0, low = 0;
    uint64_t other_high = 0, other_low = 0;
    const bool lies = clr_window_cut(window, x, &high, &low);
    const bool other =
        real_cut(value_bits_of(x), value_bits_of(window->high), value_bits_of(window->low),
                 value_bits_of(window->limit), &other_high, &other_low);

    batch_ok(lies == other, "whether %a lies within 2^%d and 2^%d", x, window->high_exponent,
             window->low_exponent);
    batch_ok(!lies || (high == (int64_t)other_high && low == (int64_t)other_low),
             "the digits of %a by 2^%d and 2^%d", x, window->high_exponent, window->low_exponent);
    return lies;
}

/* The digits of doubles and of their bits, in windows of all places and widths. */
static void test_bits(void)
{
    long within = 0, outside = 0;
    int round, i;

    for (round = 0; round < batch_rounds(50000); round++) {
        const int bottom = random_between(-1100, 950);
        struct clr_window window;

        clr_window_lay(&window, bottom + random_between(-1, 120), bottom,
                       (uint64_t)1 << random_below(32));
        for (i = 0; i < 20; i++)
            if (compare_digits(&window, draw_hard(&window)))
                within++;
            else
                outside++;
        compare_digits(&window, 0.0);
        compare_digits(&window, -0.0);
        compare_digits(&window, NAN);
        compare_digits(&window, -INFINITY);
    }
    batch_end("digits by doubles and by integers");
    tap_ok(within > 100 && outside > 100, "of %ld numbers within windows and %ld outside", within,
           outside);
}

TAP_TEST(test_window)
{
    int round;

    for (round = 0; round < batch_rounds(50000); round++)
        test_sums(round);
    batch_end("sums of digits");
    test_outside();
    test_largest();
    test_bits();
}
