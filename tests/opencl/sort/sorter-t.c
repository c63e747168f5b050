/*
 * Columns sorted on a device against qsort(): every length around the sizes of groups and tiles,
 * keys of every kind, and groups, launches and spans of any size. A CPU device runs the code for
 * GPUs as well, as in device-t.c, which says how the device is chosen.
 */
#include "base/memory.h"
#include "batch.h"
#include "numeric/values/column.h"
#include "numeric/values/value.h"
#include "opencl/core/device_private.h"
#include "opencl/devices.h"
#include "opencl/sort/sorted_column.h"
#include "opencl/sort/sorter_private.h"
#include "random.h"

#include "tap.h"

#include <math.h>

enum { MOST = 1500000, QUICK_MOST = 100000, ALL_SIZES = 5000 };

enum keys {
    KEYS_ANY,
    KEYS_OF_ALL_LENGTHS,
    KEYS_FEW,
    KEYS_EQUAL,
    KEYS_SORTED,
    KEYS_REVERSED,
    KEYS_NARROW,
    KEYS_ONE_DIGIT,
    KEYS_APART,
    KEYS_LONG_RUNS,
    KEYS_TWICE,
    KEYS_LAST_ONE,
    KEYS_KINDS
};

static const char *const keys_names[KEYS_KINDS] = {
    "any bits",   "of all lengths", "a few",     "all equal", "sorted", "reversed",
    "close to 0", "one digit",      "two apart", "long runs", "twice",  "one that differs",
};

static struct clr_device_info info;
static struct clr_device *device;
static struct clr_sorter *sorter;
static int64_t *values, *expected, *found;
static size_t most;

static int64_t *new_keys(void)
{
    int64_t *keys = clr_memory_alloc(MOST * sizeof *keys);

    if (keys == NULL)
        tap_bail("no memory");
    return keys;
}

/* Bits of hard doubles: both zeros, infinities, subnormals, whole numbers, any. */
static int64_t any_real(void)
{
    static const double special[] = {0.0,
                                     -0.0,
                                     0x1p-1074,
                                     -0x1p-1074,
                                     INFINITY,
                                     -INFINITY,
                                     0x1.fffffffffffffp1023,
                                     -0x1.fffffffffffffp1023};
    double real;
    int64_t bits;

    switch (random_below(4)) {
    case 0:
        real = special[random_below(8)];
        break;
    case 1:
        real = (double)random_between(-1000, 1000);
        break;
    default:
        real = random_finite();
        break;
    }
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static int64_t of_all_lengths(uint8_t kind)
{
    return kind == CLR_TAG_REAL ? any_real() : random_integer();
}

static int compare_keys(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void reverse(int64_t *keys, size_t count)
{
    size_t i;

    for (i = 0; i < count / 2; i++) {
        int64_t key = keys[i];
        keys[i] = keys[count - 1 - i];
        keys[count - 1 - i] = key;
    }
}

static void fill(uint8_t kind, size_t count, enum keys keys)
{
    int64_t few[3] = {of_all_lengths(kind), of_all_lengths(kind), of_all_lengths(kind)};
    uint64_t digit = 8 * random_below(8);
    size_t i;

    for (i = 0; i < count; i++) {
        switch (keys) {
        case KEYS_ANY:
            values[i] = kind == CLR_TAG_REAL ? any_real() : (int64_t)random_bits();
            break;
        case KEYS_FEW:
            values[i] = few[random_below(3)];
            break;
        case KEYS_EQUAL:
        case KEYS_LAST_ONE:
            values[i] = few[0];
            break;
        case KEYS_NARROW:
            values[i] = random_between(-300, 300);
            break;
        case KEYS_ONE_DIGIT:
            values[i] = (int64_t)(((uint64_t)few[0] & ~((uint64_t)255 << digit)) | random_below(256)
                                                                                       << digit);
            break;
        case KEYS_APART:
            values[i] = random_below(2) ? INT64_MIN : INT64_MAX;
            break;
        case KEYS_LONG_RUNS:
            values[i] = i > 0 && random_below(1000) > 0 ? values[i - 1] : random_between(-9, 9);
            break;
        case KEYS_TWICE:
            values[i] = (int64_t)(i / 2);
            break;
        default:
            values[i] = of_all_lengths(kind);
            break;
        }
    }
    if (keys == KEYS_LAST_ONE && count > 0)
        values[count - 1] = of_all_lengths(kind);
    if (keys == KEYS_SORTED || keys == KEYS_REVERSED)
        qsort(values, count, sizeof *values, compare_keys);
    if (keys == KEYS_REVERSED)
        reverse(values, count);
}

static void expect(uint8_t kind, size_t count, struct clr_runs *runs)
{
    const bool real = kind == CLR_TAG_REAL;
    uint64_t length = 0;
    size_t i;

    for (i = 0; i < count; i++)
        expected[i] = real ? clr_real_to_key(values[i]) : values[i];
    qsort(expected, count, sizeof *expected, compare_keys);
    memset(runs, 0, sizeof *runs);
    for (i = 0; i < count; i++) {
        int64_t key = expected[i];
        bool equal = i > 0 && (key == expected[i - 1] ||
                               (real && key == 0 && expected[i - 1] == -1)); /* -0.0 */
        length = equal ? length + 1 : 1;
        runs->distinct += !equal;
        if (length > runs->longest) {
            runs->longest = length;
            runs->mode = real && key == -1 ? 0 : key;
        }
    }
}

/* What sorting took. */
struct effort {
    int steps, launches;
};

/* Sorts values on the device and compares. */
static struct effort compare(uint8_t kind, size_t count, const char *what)
{
    struct clr_resident_column *column = devices_upload(device, kind, values, count);
    struct clr_sorted_column *sorted = clr_sorted_column_new(kind, count);
    struct clr_device_work work = {0};
    struct effort effort = {0, 0};
    const struct clr_runs *runs;
    struct clr_status status;
    struct clr_runs wanted;
    bool complete = false;

    if (sorted == NULL)
        tap_bail("no memory");
    clr_status_clear(&status);
    for (; !complete; effort.steps++) {
        clr_sorted_column_step(device, sorted, column, &complete, &status);
        devices_bail_on(&status, "clr_sorted_column_step");
    }
    clr_resident_column_free(device, column);
    memset(found, 0x55, count * sizeof *found);
    clr_sorted_column_read(device, sorted, 0, count, found, &work, &status);
    devices_bail_on(&status, "clr_sorted_column_read");
    expect(kind, count, &wanted);
    batch_ok(count == 0 || memcmp(found, expected, count * sizeof *found) == 0,
             "%zu %s, %s: the order", count, kind == CLR_TAG_REAL ? "reals" : "integers", what);
    runs = clr_sorted_column_runs(sorted);
    batch_ok(runs->distinct == wanted.distinct && runs->longest == wanted.longest &&
                 runs->mode == wanted.mode,
             "%zu %s, %s: %llu runs and %llu of %llx instead of %llu and %llu of %llx", count,
             kind == CLR_TAG_REAL ? "reals" : "integers", what, (unsigned long long)runs->distinct,
             (unsigned long long)runs->longest, (unsigned long long)runs->mode,
             (unsigned long long)wanted.distinct, (unsigned long long)wanted.longest,
             (unsigned long long)wanted.mode);
    effort.launches = (int)clr_sorted_column_work(sorted)->kernels;
    clr_sorted_column_free(device, sorted);
    return effort;
}

static uint8_t any_kind(void)
{
    return random_below(2) ? CLR_TAG_REAL : CLR_TAG_INTEGER;
}

static void test_any(size_t count)
{
    enum keys keys = (enum keys)random_below(KEYS_KINDS);
    uint8_t kind = any_kind();

    fill(kind, count, keys);
    compare(kind, count, keys_names[keys]);
}

static void test_sizes(void)
{
    size_t count;

    batch_begin();
    for (count = 0; count <= ALL_SIZES;
         count += count < 300 && !tap_is_quick() ? 1 : random_below(tap_is_quick() ? 200 : 20) + 1)
        test_any(count);
    batch_end("sizes up to %d", (int)ALL_SIZES);
}

static void test_keys(void)
{
    static const uint8_t kinds[] = {CLR_TAG_INTEGER, CLR_TAG_REAL};
    const size_t count = 120007;
    int i, keys;

    batch_begin();
    for (i = 0; i < 2; i++) {
        for (keys = 0; keys < KEYS_KINDS; keys++) {
            fill(kinds[i], count, (enum keys)keys);
            compare(kinds[i], count, keys_names[keys]);
        }
    }
    batch_end("keys of every kind");
}

static void test_large(void)
{
    int i;

    batch_begin();
    for (i = 0; i < (tap_is_quick() ? 2 : 4); i++) {
        test_any(most - random_below(1000));
        test_any(random_below(most));
    }
    batch_end("up to %zu keys", most);
}

static struct effort sort_integers(enum keys keys)
{
    fill(CLR_TAG_INTEGER, 4000, keys);
    return compare(CLR_TAG_INTEGER, 4000, keys_names[keys]);
}

/* Digits that are the same in all keys take no launches; all others take three, and no more. All
   of a few keys' are one step, unless steps are to be as short as can be. */
static void test_steps(void)
{
    const size_t usual = sorter->step_keys;
    struct effort equal, narrow, one, all, shortest;

    batch_begin();
    equal = sort_integers(KEYS_EQUAL);
    narrow = sort_integers(KEYS_NARROW);
    one = sort_integers(KEYS_ONE_DIGIT);
    all = sort_integers(KEYS_ANY);
    sorter->step_keys = 1;
    shortest = sort_integers(KEYS_ANY);
    sorter->step_keys = usual;
    batch_end("keys of which some digits are constant");
    tap_is_int64(equal.launches, 2, "launches for equal keys");
    tap_is_int64(narrow.launches, 2 + 2 * 3, "for keys within 600");
    tap_is_int64(one.launches, 2 + 3, "for keys of which one digit differs");
    tap_is_int64(all.launches, 2 + 8 * 3, "for any keys");
    tap_is_int64(all.steps, 2, "their steps: the buffers, and what is launched");
    tap_is_int64(shortest.steps, 1 + shortest.launches - 8,
                 "short ones: each launch, with a scatter that of its scan");
}

/* Any group of any size, in launches of any size. */
static void test_group_sizes(void)
{
    static const size_t sizes[] = {1, 2, 3, 7, 33, 64, 100, 256};
    static const size_t lengths[] = {1, 2, 99, 1000, 4096, 4097, 20011};
    const struct clr_sorter usual = *sorter;
    size_t i, j;

    batch_begin();
    for (i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= usual.group_size;
         i += tap_is_quick() ? 3 : 1) {
        for (j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
            sorter->group_size = sizes[i];
            test_any(lengths[j]);
            sorter->most_groups = 1 + (size_t)random_below(9);
            test_any(lengths[j]);
            sorter->step_keys = 1 + (size_t)random_below(lengths[j]);
            test_any(lengths[j]);
            sorter->most_groups = usual.most_groups;
            test_any(lengths[j]);
            *sorter = usual;
        }
        sorter->group_size = sizes[i];
        sorter->most_groups = 3 + (size_t)random_below(100);
        sorter->step_keys = 100000;
        test_any(tap_is_quick() ? 60013 : 500009);
        *sorter = usual;
    }
    batch_end("groups of any size");
}

/* The keys of ranks, of one and of several at a time. */
static void test_read(void)
{
    const size_t count = 50021;
    struct clr_resident_column *column;
    struct clr_sorted_column *sorted = clr_sorted_column_new(CLR_TAG_REAL, count);
    uint64_t ranks[CLR_MOST_RANKS];
    int64_t keys[CLR_MOST_RANKS];
    struct clr_device_work work = {0};
    struct clr_status status;
    struct clr_runs runs;
    bool complete = false;
    int i, round, number;

    fill(CLR_TAG_REAL, count, KEYS_ANY);
    column = devices_upload(device, CLR_TAG_REAL, values, count);
    expect(CLR_TAG_REAL, count, &runs);
    clr_status_clear(&status);
    while (!complete) {
        clr_sorted_column_step(device, sorted, column, &complete, &status);
        devices_bail_on(&status, "clr_sorted_column_step");
    }
    clr_sorted_column_step(device, sorted, column, &complete, &status);
    tap_ok(complete && status.code == CLR_OK, "what is complete stays so");
    batch_begin();
    for (round = 0; round < 50; round++) {
        number = random_between(1, CLR_MOST_RANKS);
        for (i = 0; i < number; i++)
            ranks[i] = i == 0 ? 0 : i == 1 ? count - 1 : random_below(count);
        work.kernels = 0;
        clr_sorted_column_find(device, sorted, ranks, number, keys, &work, &status);
        devices_bail_on(&status, "clr_sorted_column_find");
        batch_ok(work.kernels == 1, "%d ranks, one launch", number);
        for (i = 0; i < number; i++)
            batch_ok(keys[i] == expected[ranks[i]], "rank %llu", (unsigned long long)ranks[i]);
    }
    batch_end("keys at ranks");
    tap_ok(clr_sorted_column_work(sorted)->kernels > 0, "what it cost is known");
    clr_sorted_column_free(device, sorted);
    clr_resident_column_free(device, column);
}

/* Failures that leave the device in use. */
static void test_refusals(void)
{
    const size_t too_many = (size_t)UINT32_MAX + 1, usual = sorter->step_keys;
    struct clr_sorted_column *sorted = clr_sorted_column_new(CLR_TAG_INTEGER, too_many);
    struct clr_resident_column *column = clr_resident_column_new(CLR_TAG_INTEGER, too_many);
    struct clr_status status;
    bool complete;

    clr_status_clear(&status);
    tap_ok(clr_sorted_column_step(device, sorted, column, &complete, &status) == CLR_INVALID &&
               !complete,
           "2^32 rows are refused");
    tap_is_string(status.message, "4294967296 rows are too many to be sorted", "in plain words");
    clr_sorted_column_free(device, sorted);
    clr_resident_column_free(device, column);

    fill(CLR_TAG_INTEGER, 1000, KEYS_ANY);
    column = devices_upload(device, CLR_TAG_INTEGER, values, 1000);
    sorted = clr_sorted_column_new(CLR_TAG_INTEGER, 1000);
    clr_status_clear(&status);
    clr_sorted_column_step(device, sorted, column, &complete, &status);
    clr_memory_fail_after(0);
    tap_ok(clr_sorted_column_step(device, sorted, column, &complete, &status) == CLR_NOMEM,
           "no memory on the host");
    clr_sorted_column_free(device, sorted);
    sorted = clr_sorted_column_new(CLR_TAG_INTEGER, 1000);
    clr_status_clear(&status);
    sorter->step_keys = 1;
    clr_sorted_column_step(device, sorted, column, &complete, &status);
    clr_sorted_column_step(device, sorted, column, &complete, &status);
    tap_ok(status.code == CLR_OK && !complete, "given back amid the work");
    sorter->step_keys = usual;
    clr_sorted_column_free(device, sorted);
    clr_sorted_column_free(device, NULL);
    clr_resident_column_free(device, column);
    clr_memory_fail_after(0);
    tap_ok(clr_sorted_column_new(CLR_TAG_REAL, 1) == NULL, "nor a column without memory");
    clr_memory_fail_after(-1);
    tap_ok(clr_sorted_column_size(1000, false) == 16000 &&
               clr_sorted_column_size(1000, true) == 8000,
           "the sizes");
}

static void open_sorter(void)
{
    struct clr_status status;
    char *log = NULL;
    long fails;

    for (fails = 0; fails < 4; fails++) {
        clr_memory_fail_after(fails);
        clr_status_clear(&status);
        tap_ok(clr_module_open(device, &clr_sorter_kind, &log, &status) == CLR_NOMEM &&
                   clr_module_state(device, &clr_sorter_kind, &status) == CLR_NOMEM,
               "no sorter without memory for allocation %ld: %s", fails, status.message);
    }
    clr_memory_fail_after(-1);
    clr_status_clear(&status);
    if (clr_module_open(device, &clr_sorter_kind, &log, &status) != CLR_OK)
        tap_bail("clr_module_open: %s\n%s", status.message, log != NULL ? log : "");
    sorter = clr_sorter_of(device);
    tap_ok(clr_module_open(device, &clr_sorter_kind, &log, &status) == CLR_OK &&
               clr_sorter_of(device) == sorter,
           "a sorter is made once");
    tap_diag("groups of %zu, %zu of them, %zu keys a step", sorter->group_size, sorter->most_groups,
             sorter->step_keys);
}

/* All tests of the kernels' variant for one type of device. */
static void test_variant(enum clr_device_type type)
{
    struct clr_status status;

    tap_diag("the kernels for a device of type %s", clr_device_type_name(type));
    info.type = type;
    clr_status_clear(&status);
    clr_device_open(&info, &device, &status);
    devices_bail_on(&status, "clr_device_open");
    open_sorter();
    test_sizes();
    test_keys();
    test_steps();
    test_group_sizes();
    test_large();
    test_read();
    test_refusals();
    clr_device_close(device);
}

int main(void)
{
    enum clr_device_type type;

    info = devices_choose();
    random_start();
    most = tap_is_quick() ? QUICK_MOST : MOST;
    values = new_keys();
    expected = new_keys();
    found = new_keys();
    type = info.type;
    test_variant(CLR_DEVICE_GPU);
    if (type == CLR_DEVICE_CPU)
        test_variant(CLR_DEVICE_CPU);
    else
        tap_skip(1, "the kernels for CPU devices: this one is a %s", clr_device_type_name(type));
    clr_memory_free(values);
    clr_memory_free(expected);
    clr_memory_free(found);
    return tap_done();
}
