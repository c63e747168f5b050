/* The keys at which bins begin against what clr_bins_find() says of these keys and their
   neighbours, and guesses against the keys. */
#include "numeric/bins/bins.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/bins_data.h"
#include "random.h"

#include "tap.h"

#include <math.h>

/* The slot of a key, as bins.h has it. */
static uint32_t find_slot(const struct clr_bin_bounds *bounds, int64_t key)
{
    uint32_t low = 0, high = bounds->count, middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (bounds->firsts[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *name_of(enum clr_kind kind)
{
    return kind == CLR_KIND_REAL ? "REALs" : "INTEGERs";
}

static bool is_number(enum clr_kind kind, int64_t key)
{
    return kind == CLR_KIND_INTEGER || !isnan(clr_sort_key_to_value(kind, key).as.real);
}

/* What bins.h promises of bounds. */
static bool guess_is_good(const struct clr_bin_bounds *bounds, int64_t key, uint32_t slot)
{
    const struct clr_value value = clr_sort_key_to_value(bounds->kind, key);
    double distance, origin, place;
    uint32_t guess;

    memcpy(&origin, &bounds->origin, sizeof origin);
    distance = bounds->kind == CLR_KIND_REAL ? value.as.real - origin
               : key < bounds->origin        ? 0.0
                                             : (double)((uint64_t)key - (uint64_t)bounds->origin);
    place = distance * bounds->scale + bounds->offset;
    place = fmin(fmax(place, 0.0), (double)(bounds->count - 1));
    guess = (uint32_t)place;
    return guess == slot || guess + 1 == slot;
}

static void check_key(const struct clr_bins *bins, const struct clr_bin_bounds *bounds, int64_t key,
                      const char *what)
{
    struct clr_value value;
    uint32_t slot;

    if (!is_number(bounds->kind, key))
        return;
    value = clr_sort_key_to_value(bounds->kind, key);
    slot = find_slot(bounds, key);
    batch_ok(slot == clr_bins_find(bins, &value) + 1, "%s, %" PRId64 " bins, %s, key %" PRIx64,
             name_of(bounds->kind), bins->count, what, (uint64_t)key);
    batch_ok(!bounds->guesses || guess_is_good(bounds, key, slot),
             "%s, %" PRId64 " bins, %s, guess for %" PRIx64, name_of(bounds->kind), bins->count,
             what, (uint64_t)key);
}

static int64_t any_key(enum clr_kind kind, int family)
{
    struct clr_value value;
    int64_t bits;

    do
        value = bins_number(family);
    while (value.kind != kind && family > 3 && family < 5);
    if (kind == CLR_KIND_REAL) {
        double real = value.kind == kind ? value.as.real : (double)value.as.integer;
        memcpy(&bits, &real, sizeof bits);
        return clr_real_to_key(bits);
    }
    return value.kind == kind             ? value.as.integer
           : fabs(value.as.real) < 0x1p62 ? (int64_t)value.as.real
                                          : (int64_t)random_bits();
}

/* Returns whether bins have a guess. */
static bool check_bins(const struct clr_bins *bins, enum clr_kind kind, int family)
{
    static const double ends[] = {INFINITY, -INFINITY, 0.0, -0.0, 0x1p-1074, -0x1p-1074};
    struct clr_bin_bounds bounds;
    bool guesses, sorted = true;
    uint32_t i, step;
    int j;

    TAP_NEED(clr_bin_bounds_init(&bounds, bins, kind), "no memory");
    guesses = bounds.guesses;
    batch_ok(bounds.count <= bins->count + 1 &&
                 (kind == CLR_KIND_INTEGER || bounds.count == bins->count + 1),
             "%u bounds for %" PRId64 " bins", bounds.count, bins->count);
    for (i = 1; i < bounds.count; i++)
        sorted = sorted && bounds.firsts[i - 1] <= bounds.firsts[i];
    batch_ok(sorted, "%u bounds in order", bounds.count);
    step = bounds.count / 300 + 1;
    for (i = 0; i < bounds.count; i += 1 + (uint32_t)random_below(step)) {
        check_key(bins, &bounds, bounds.firsts[i], "a bound");
        if (bounds.firsts[i] > INT64_MIN)
            check_key(bins, &bounds, bounds.firsts[i] - 1, "below a bound");
        if (bounds.firsts[i] < INT64_MAX)
            check_key(bins, &bounds, bounds.firsts[i] + 1, "above a bound");
    }
    if (bounds.count > 0) {
        const int64_t last = bounds.firsts[bounds.count - 1];
        check_key(bins, &bounds, last, "the last bound");
        if (last > INT64_MIN)
            check_key(bins, &bounds, last - 1, "below the last bound");
    }
    for (j = 0; j < 40; j++)
        check_key(bins, &bounds, any_key(kind, family), "any number");
    for (j = 0; j < 6 && kind == CLR_KIND_REAL; j++) {
        int64_t bits;
        memcpy(&bits, &ends[j], sizeof bits);
        check_key(bins, &bounds, clr_real_to_key(bits), "an end, or a zero");
    }
    check_key(bins, &bounds, INT64_MIN, "the least key");
    check_key(bins, &bounds, INT64_MAX, "the greatest key");
    clr_bin_bounds_clear(&bounds);
    return guesses;
}

static void test_family(int family)
{
    int i, cases = tap_is_quick() ? 30 : 300, guesses = 0;
    struct clr_bins bins;

    batch_begin();
    for (i = 0; i < cases; i++) {
        bins_make(&bins, family, i % 30 == 0 ? CLR_BINS_LIMIT : 5000);
        guesses += check_bins(&bins, CLR_KIND_REAL, family);
        guesses += check_bins(&bins, CLR_KIND_INTEGER, family);
    }
    batch_end("bounds of family %d, of which %d of %d can be guessed", family, guesses, 2 * cases);
}

/* Ends where bounds are all one number, past what there is, or exactly numbers. */
static void test_few(void)
{
    const struct {
        struct clr_value low, high;
    } ends[] = {
        {bins_real(0.0), bins_real(0x1p-1074)},
        {bins_real(-0x1p-1074), bins_real(0x1p-1074)},
        {bins_real(-0x1.fffffffffffffp1023), bins_real(0x1.fffffffffffffp1023)},
        {bins_real(-1e308), bins_real(-1.0)},
        {bins_real(1e300), bins_real(1e301)},
        {bins_real(-1e301), bins_real(-1e300)},
        {bins_real(-1e301), bins_real(1e300)},
        {bins_real(-0.0), bins_real(1.0)},
        {bins_real(-1.0), bins_real(-0.0)},
        {bins_integer(INT64_MIN), bins_integer(INT64_MAX)},
        {bins_integer(INT64_MIN), bins_integer(INT64_MIN + 1)},
        {bins_integer(INT64_MAX - 1), bins_integer(INT64_MAX)},
        {bins_integer(INT64_MAX), bins_real(0x1p63)},
        {bins_real(-0x1p63), bins_integer(INT64_MAX)},
        {bins_integer(0), bins_integer(CLR_BINS_LIMIT)},
        {bins_integer(0), bins_real(1.0)},
        {bins_real(0.1), bins_integer(7)},
        {bins_real(0.25), bins_real(0.75)},
        {bins_integer(1000000000000), bins_integer(1000000000010)},
        {bins_integer(((int64_t)1 << 53) + 1), bins_integer(((int64_t)1 << 53) + 3)},
    };
    static const int64_t counts[] = {1, 2, 3, 10, 1000, 70000};
    struct clr_bins bins;
    size_t i, j;

    batch_begin();
    for (i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        for (j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            clr_bins_init(&bins, &ends[i].low, &ends[i].high, counts[j]);
            check_bins(&bins, CLR_KIND_REAL, (int)random_below(BINS_FAMILIES));
            check_bins(&bins, CLR_KIND_INTEGER, (int)random_below(BINS_FAMILIES));
        }
    }
    batch_end("bounds of hard ends");
}

/* What is usual is guessed: that is what makes kernels quick. */
static void test_guesses(void)
{
    static const int64_t counts[] = {1, 2, 10, 100, 1000, CLR_BINS_LIMIT};
    const struct clr_value ends[] = {bins_real(-3.5), bins_real(4.1), bins_integer(-1000000),
                                     bins_integer(1000003)};
    struct clr_bins bins;
    size_t i, j;

    batch_begin();
    for (i = 0; i < 4; i++) {
        for (j = 0; j < sizeof counts / sizeof counts[0]; j++) {
            clr_bins_init(&bins, &ends[i / 2 * 2], &ends[i / 2 * 2 + 1], counts[j]);
            batch_ok(check_bins(&bins, i % 2 ? CLR_KIND_REAL : CLR_KIND_INTEGER, 0),
                     "%zu: %" PRId64 " bins are guessed", i, counts[j]);
        }
    }
    batch_end("usual bins");
}

static void test_no_memory(void)
{
    struct clr_bin_bounds bounds;
    struct clr_bins bins;

    bins_make(&bins, 0, 10);
    clr_memory_fail_after(0);
    tap_ok(!clr_bin_bounds_init(&bounds, &bins, CLR_KIND_REAL), "no memory");
    clr_memory_fail_after(-1);
    tap_is_uint64(clr_bin_bounds_size(10), 88, "bytes for ten bins");
}

TAP_TEST(test_bin_bounds)
{
    int family;

    for (family = 0; family < BINS_FAMILIES; family++)
        test_family(family);
    test_few();
    test_guesses();
    test_no_memory();
}
