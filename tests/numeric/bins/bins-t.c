/* Bins against exact arithmetic on the tests' own integers. */
#include "numeric/bins/bins.h"

#include "batch.h"
#include "numeric/bigint.h"
#include "numeric/bins_data.h"
#include "random.h"

#include "tap.h"

/* Adds value * factor to a number in units of bigint.h. */
static void add(struct bigint *sum, const struct clr_value *value, int64_t factor)
{
    if (value->kind == CLR_KIND_INTEGER)
        bigint_add_integer_product(sum, value->as.integer, factor);
    else
        bigint_add_product(sum, value->as.real, (double)factor);
}

/* The sign of x*n - low*(n - i) - high*i. */
static int sign(const struct clr_value *low, const struct clr_value *high, int64_t count,
                const struct clr_value *x, int64_t i)
{
    struct bigint sum;

    bigint_clear(&sum);
    add(&sum, x, count);
    add(&sum, low, i - count);
    add(&sum, high, -i);
    return bigint_is_zero(&sum) ? 0 : sum.negative ? -1 : 1;
}

/* Whether x is in the bin that was found. */
static bool is_right(const struct clr_value *low, const struct clr_value *high, int64_t count,
                     const struct clr_value *x, int64_t bin)
{
    if (bin == -1)
        return sign(low, high, count, x, 0) < 0;
    if (bin == count)
        return sign(low, high, count, x, count) > 0;
    if (bin < 0 || bin > count || sign(low, high, count, x, bin) < 0)
        return false;
    return bin == count - 1 ? sign(low, high, count, x, count) <= 0
                            : sign(low, high, count, x, bin + 1) < 0;
}

TAP_TEST(test_random)
{
    int i, j, cases = tap_is_quick() ? 2000 : 20000;

    batch_begin();
    for (i = 0; i < cases; i++) {
        int family = (int)random_below(BINS_FAMILIES);
        struct clr_value low = bins_number(family), high = bins_number(family);
        int64_t count =
            random_bits() & 1 ? random_between(1, 20) : (int64_t)random_below(CLR_BINS_LIMIT) + 1;
        struct clr_bins bins;
        if (clr_value_compare(&low, &high, 0) >= 0 ||
            (low.kind == CLR_KIND_REAL && high.kind == CLR_KIND_REAL &&
             !(low.as.real < high.as.real)))
            continue;
        clr_bins_init(&bins, &low, &high, count);
        for (j = 0; j < 16; j++) {
            struct clr_value x = bins_number(family);
            /* On a boundary, or next to one, as doubles have them. */
            if (j > 3) {
                double from = low.kind == CLR_KIND_REAL ? low.as.real : (double)low.as.integer;
                double to = high.kind == CLR_KIND_REAL ? high.as.real : (double)high.as.integer;
                double part = (double)random_below((uint64_t)count + 1) / (double)count;
                x = bins_real(from * (1.0 - part) + to * part);
                if (j > 8)
                    x.as.real = nextafter(x.as.real, j & 1 ? INFINITY : -INFINITY);
                if (j > 12 && fabs(x.as.real) < 0x1p62)
                    x = bins_integer((int64_t)x.as.real);
            }
            if (x.kind == CLR_KIND_REAL && !isfinite(x.as.real))
                continue;
            batch_ok(is_right(&low, &high, count, &x, clr_bins_find(&bins, &x)),
                     "case %d.%d, family %d, %" PRId64 " bins: not in %" PRId64, i, j, family,
                     count, clr_bins_find(&bins, &x));
        }
    }
    batch_end("%d ways of binning", cases);
}

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
    size_t i;

    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct clr_bins bins;
        clr_bins_init(&bins, &cases[i].low, &cases[i].high, cases[i].count);
        tap_is_int64(clr_bins_find(&bins, &cases[i].x), cases[i].bin, "case %zu", i);
    }
}
