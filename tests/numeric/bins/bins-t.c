/* Bins: where doubles mislead, which are guessed, and no memory. tests/sqlite/aggregates/order-t.py
   has histograms of all sorts, and tests/opencl/bins/binner-t.c the bounds of bins. */
#include "numeric/bins/bins.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/bins_data.h"

#include <math.h>

/* Cases at the ends, and where doubles mislead. */
TAP_TEST(test_few)
{
    const struct {
        struct clr_value low, high;
        int64_t count;
        struct clr_value x;
        int64_t bin;
    } cases[] = {
        {bins_integer(0), bins_integer(10), 10, bins_integer(10), 9},
        {bins_integer(0), bins_integer(10), 10, bins_integer(11), 10},
        {bins_integer(0), bins_integer(10), 10, bins_real(-0.0), 0},
        {bins_real(0.0), bins_real(1.0), 10, bins_real(-0.0), 0},
        /* The double 0.3 is a little less than three tenths of the double 1.0. */
        {bins_real(0.0), bins_real(1.0), 10, bins_real(0.3), 2},
        {bins_real(0.0), bins_real(1.0), 10, bins_real(0.1), 1},
        {bins_real(0.0), bins_real(1.0), 10, bins_real(INFINITY), 10},
        {bins_real(0.0), bins_real(1.0), 10, bins_real(-INFINITY), -1},
        {bins_integer(INT64_MIN), bins_integer(INT64_MAX), 2, bins_integer(-1), 0},
        {bins_integer(INT64_MIN), bins_integer(INT64_MAX), 2, bins_integer(0), 1},
        {bins_real(0.0), bins_real(0x1p53), 1, bins_integer(((int64_t)1 << 53) + 1), 1},
    };

    TAP_EACH (i, cases) {
        struct clr_bins bins;
        clr_bins_init(&bins, &cases[i].low, &cases[i].high, cases[i].count);
        tap_is_int64(clr_bins_find(&bins, &cases[i].x), cases[i].bin, "case %zu", i);
    }
}

/* What is usual is guessed: that is what makes kernels quick. */
TAP_TEST(test_guesses)
{
    static const int64_t counts[] = {1, 2, 10, 100, 1000, CLR_BINS_LIMIT};
    const struct clr_value ends[] = {bins_real(-3.5), bins_real(4.1), bins_integer(-1000000),
                                     bins_integer(1000003)};
    struct clr_bin_bounds bounds;
    struct clr_bins bins;

    for (size_t i = 0; i < 4; i++) {
        TAP_EACH (j, counts) {
            clr_bins_init(&bins, &ends[i / 2 * 2], &ends[i / 2 * 2 + 1], counts[j]);
            TAP_NEED(clr_bin_bounds_init(&bounds, &bins, i % 2 ? CLR_KIND_REAL : CLR_KIND_INTEGER),
                     "no memory");
            batch_ok(bounds.guesses, "%zu: %" PRId64 " bins are guessed", i, counts[j]);
            clr_bin_bounds_clear(&bounds);
        }
    }
    batch_end("usual bins");
}

TAP_TEST(test_no_memory)
{
    struct clr_bin_bounds bounds;
    struct clr_bins bins;

    bins_make(&bins, 0, 10);
    clr_memory_fail_after(0);
    tap_ok(!clr_bin_bounds_init(&bounds, &bins, CLR_KIND_REAL), "no memory");
    clr_memory_fail_after(-1);
    tap_is_uint64(clr_bin_bounds_size(10), 88, "bytes for ten bins");
}
