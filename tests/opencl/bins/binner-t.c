/*
 * Histograms on a device against the host's: bins of all sorts, values at their bounds and next to
 * them, and groups, launches and copies of counters of any size. A CPU device has groups as large
 * as a GPU's, as in device-t.c, which says how the device is chosen.
 */
#include "base/memory.h"
#include "batch.h"
#include "numeric/bins_data.h"
#include "numeric/values/column.h"
#include "opencl/bins/binner.c"
#include "opencl/core/device.h"
#include "opencl/devices.h"
#include "random.h"

#include <math.h>

enum { MOST = 400000, QUICK_MOST = 50000 };

enum values {
    VALUES_AT_BOUNDS,
    VALUES_ANY,
    VALUES_OF_FAMILY,
    VALUES_EQUAL,
    VALUES_TWO,
    VALUES_SORTED,
    VALUES_KINDS
};

static const char *const names[VALUES_KINDS] = {
    "at bounds", "any", "of the ends' family", "all equal", "two", "sorted",
};

static struct clr_device_info info;
static struct clr_device *device;
static struct clr_binner *binner;
static int64_t values[MOST];
static uint64_t expected[CLR_BINS_LIMIT + 2], found[CLR_BINS_LIMIT + 2];
static size_t most;

/* ---- Values, as keys first. */

static bool is_number(enum clr_kind kind, int64_t key)
{
    return kind == CLR_KIND_INTEGER || !isnan(clr_sort_key_to_value(kind, key).as.real);
}

static int64_t family_key(enum clr_kind kind, int family)
{
    struct clr_value value = bins_number(family);

    if (kind == CLR_KIND_INTEGER)
        return value.kind == kind             ? value.as.integer
               : fabs(value.as.real) < 0x1p62 ? (int64_t)value.as.real
                                              : random_integer();
    if (value.kind == CLR_KIND_INTEGER)
        value.as.real = (double)value.as.integer;
    return clr_real_to_key(clr_bits_of(value.as.real));
}

static int64_t any_key(enum clr_kind kind)
{
    static const double ends[] = {INFINITY, -INFINITY, 0.0, -0.0, 0x1p-1074, -0x1p-1074};
    int64_t bits = (int64_t)random_bits();

    if (kind == CLR_KIND_INTEGER)
        return random_below(4) == 0 ? random_integer() : bits;
    if (random_below(4) == 0 || !is_number(kind, clr_real_to_key(bits)))
        bits = clr_bits_of(ends[random_below(6)]);
    return clr_real_to_key(bits);
}

/* A bin's first key, or one of its neighbours. */
static int64_t bound_key(const struct clr_bin_bounds *bounds)
{
    int64_t key;

    if (bounds->count == 0)
        return any_key(bounds->kind);
    key = bounds->firsts[random_below(bounds->count)];
    switch (random_below(4)) {
    case 0:
        return key > INT64_MIN ? key - 1 : key;
    case 1:
        return key < INT64_MAX && is_number(bounds->kind, key + 1) ? key + 1 : key;
    default:
        return key;
    }
}

static int compare_keys(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int64_t draw(const struct clr_bin_bounds *bounds, int family, enum values kind)
{
    if (kind == VALUES_AT_BOUNDS || random_below(3) == 0)
        return bound_key(bounds);
    return kind == VALUES_ANY ? any_key(bounds->kind) : family_key(bounds->kind, family);
}

static void fill(const struct clr_bin_bounds *bounds, int family, size_t count, enum values kind)
{
    const int64_t one = draw(bounds, family, kind), other = draw(bounds, family, kind);

    for (size_t i = 0; i < count; i++)
        values[i] = kind == VALUES_EQUAL ? one
                    : kind == VALUES_TWO ? (random_below(2) ? one : other)
                                         : draw(bounds, family, kind);
    if (kind == VALUES_SORTED)
        qsort(values, count, sizeof *values, compare_keys);
}

/* Counts as the host does, value by value, and turns keys into what columns have. */
static void expect(const struct clr_bins *bins, enum clr_kind kind, size_t count)
{
    memset(expected, 0, ((size_t)bins->count + 2) * sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        const struct clr_value value = clr_sort_key_to_value(kind, values[i]);
        expected[clr_bins_find(bins, &value) + 1]++;
        values[i] = value.as.integer; /* the bits, whatever the kind */
    }
}

static void compare(const struct clr_bins *bins, int family, enum clr_kind kind, size_t count,
                    enum values which)
{
    struct clr_device_work work = {0};
    struct clr_resident_column *column;
    struct clr_bin_bounds bounds;
    struct clr_status status = {.code = CLR_OK};

    TAP_NEED(clr_bin_bounds_init(&bounds, bins, kind), "no memory");
    fill(&bounds, family, count, which);
    expect(bins, kind, count);
    column = devices_upload(device, kind == CLR_KIND_REAL ? CLR_TAG_REAL : CLR_TAG_INTEGER, values,
                            count);
    memset(found, 0, ((size_t)bins->count + 2) * sizeof *found);
    count_values(device, column, &bounds, found, &work, &status);
    devices_bail_on(&status, "count_values");
    batch_ok(memcmp(found, expected, ((size_t)bins->count + 2) * sizeof *found) == 0,
             "%zu %s, %s, family %d, %" PRId64 " bins", count,
             kind == CLR_KIND_REAL ? "reals" : "integers", names[which], family, bins->count);
    batch_ok(bounds.count == 0 || count == 0 || work.kernels > 0, "launches are counted");
    clr_resident_column_free(device, column);
    clr_bin_bounds_clear(&bounds);
}

static void compare_any(size_t count, int64_t most_bins)
{
    int family = (int)random_below(BINS_FAMILIES);
    struct clr_bins bins;

    bins_make(&bins, family, most_bins);
    compare(&bins, family, random_below(2) ? CLR_KIND_REAL : CLR_KIND_INTEGER, count,
            (enum values)random_below(VALUES_KINDS));
}

/* ---- Tests. */

static void test_sizes(void)
{
    for (size_t count = 0; count < 3000; count += 1 + random_below(tap_is_quick() ? 300 : 10))
        compare_any(count, 3000);
    batch_end("sizes up to 3000");
}

static void test_kinds(void)
{
    struct clr_bins bins;

    for (int family = 0; family < BINS_FAMILIES; family++) {
        for (enum values which = 0; which < VALUES_KINDS; which++) {
            bins_make(&bins, family, 3000);
            compare(&bins, family, CLR_KIND_REAL, 20011, which);
            compare(&bins, family, CLR_KIND_INTEGER, 20011, which);
        }
    }
    batch_end("values and ends of every kind");
}

/* Around what a group's memory has room for, once and several times, and far more. */
static void test_bins(void)
{
    static const int64_t counts[] = {1, 2, 100, 128, 129, 1000, 2047, 4095, 4096, 5000, 70000};
    const struct clr_value low = bins_real(-9.5), high = bins_integer(9);
    struct clr_bins bins;

    TAP_EACH (i, counts) {
        for (size_t j = 0; j < VALUES_KINDS; j++) {
            clr_bins_init(&bins, &low, &high, counts[i]);
            compare(&bins, 7, j % 2 ? CLR_KIND_REAL : CLR_KIND_INTEGER, 30011, (enum values)j);
        }
    }
    clr_bins_init(&bins, &low, &high, CLR_BINS_LIMIT);
    compare(&bins, 7, CLR_KIND_REAL, most, VALUES_AT_BOUNDS);
    compare(&bins, 7, CLR_KIND_INTEGER, most, VALUES_OF_FAMILY);
    batch_end("from one bin to %d", (int)CLR_BINS_LIMIT);
}

/* Groups of any size, with any number of copies of counters, in launches of any size. */
static void test_group_sizes(void)
{
    static const size_t sizes[] = {1, 2, 3, 7, 33, 64, 100, 256};
    const struct clr_binner usual = *binner;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= usual.group_size;
         i += tap_is_quick() ? 3 : 1) {
        for (size_t j = 0; j < 12; j++) {
            binner->group_size = sizes[i];
            binner->most_groups = 1 + (size_t)random_below(9);
            binner->most_copies = j % 4 == 0 ? 0 : (size_t)1 << random_below(6);
            binner->local_memory = random_below(2) ? usual.local_memory : 4096;
            binner->most_values = 1 + random_below(40000);
            compare_any((size_t)random_below(30000), 2000);
        }
    }
    /* What the device has room for, and what has been sent, stays as it is. */
    binner->group_size = usual.group_size;
    binner->most_groups = usual.most_groups;
    binner->most_copies = usual.most_copies;
    binner->local_memory = usual.local_memory;
    binner->most_values = usual.most_values;
    batch_end("groups and launches of any size");
}

static void test_large(void)
{
    for (int i = 0; i < 6; i++)
        compare_any(most - (size_t)random_below(1000), i < 3 ? 20 : CLR_BINS_LIMIT);
    batch_end("up to %zu values", most);
}

/* The same question again, and others in between that differ in one bound. */
static void test_again(void)
{
    struct clr_value low = bins_real(0.0), high = bins_real(10.0);
    struct clr_bins bins;

    for (int i = 0; i < 12; i++) {
        high = bins_real(i % 3 ? 10.0 : 11.0);
        clr_bins_init(&bins, &low, &high, i % 4 ? 10 : 11);
        compare(&bins, 1, CLR_KIND_REAL, 1000, VALUES_OF_FAMILY);
    }
    batch_end("questions again, and others in between");
}

/* Asks for the program. Returns whether it is there; if not, whether it is to be built in
 *requested. */
static bool ask_for_binner(bool *requested, struct clr_status *status)
{
    static const struct clr_bin_bounds none = {.count = 0};
    static const struct clr_resident_column column = {.rows = 0};
    struct clr_device_work work = {0};
    enum clr_scan_outcome outcome;
    uint64_t counts[1];

    clr_status_clear(status);
    clr_binner_run(device, &column, &none, counts, &outcome, requested, &work, status);
    return outcome == CLR_SCAN_DONE;
}

static void make_binner(void)
{
    struct clr_status status;
    bool requested = false;
    char *log = NULL;

    for (long fails = 0; fails < 3; fails++) {
        clr_memory_fail_after(fails);
        tap_ok(!ask_for_binner(&requested, &status) && !requested && status.code == CLR_NOMEM,
               "without memory there is no binner");
    }
    clr_memory_fail_after(-1);
    tap_ok(!ask_for_binner(&requested, &status) && requested, "it is built when it is asked for");
    clr_device_build(device, &log, &status);
    TAP_NEED(status.code == CLR_OK, "clr_device_build: %s\n%s", status.message,
             log != NULL ? log : "");
    binner = binner_of(device);
    /* No more than GPUs have, whatever this device is. */
    if (binner->local_memory > 24576)
        binner->local_memory = 24576;
    tap_ok(ask_for_binner(&requested, &status) && !requested && binner_of(device) == binner,
           "a binner is made once");
    tap_diag("groups of %zu, %zu of them, %zu bytes of local memory", binner->group_size,
             binner->most_groups, binner->local_memory);
}

/* All tests of the kernels' variant with or without doubles. */
static void test_variant(bool doubles)
{
    tap_diag("the kernels for a device with%s doubles", doubles ? "" : "out");
    info.doubles = doubles;
    device = devices_open(&info);
    make_binner();
    test_sizes();
    test_kinds();
    test_bins();
    test_group_sizes();
    test_large();
    test_again();
    clr_device_close(device);
}

TAP_TEST(all_tests)
{
    bool doubles;

    info = devices_choose();
    most = tap_is_quick() ? QUICK_MOST : MOST;
    info.type = CLR_DEVICE_GPU;
    doubles = info.doubles;
    test_variant(false);
    if (doubles)
        test_variant(true);
    else
        tap_skip(1, "the kernels for devices with doubles: this one has none");
}
