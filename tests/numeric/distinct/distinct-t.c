/* Distinct values, their counts and the mode, against a list that is searched from end to end. */
#include "numeric/distinct/distinct.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>

enum { LARGEST = 4000, LONGEST_TEXT = 40 };

/* The values that are there, in the order in which they came. */
static struct held {
    struct clr_value value;
    char bytes[LONGEST_TEXT];
} window[LARGEST];
static size_t window_first, window_end;

/* Whether two values are one to SQLite. */
static bool is_equal(const struct clr_value *a, const struct clr_value *b)
{
    if (a->kind == CLR_KIND_REAL && b->kind == CLR_KIND_REAL)
        return a->as.real == b->as.real;
    if (a->kind <= CLR_KIND_REAL && b->kind <= CLR_KIND_REAL)
        return clr_value_compare(a, b, 0) == 0;
    return a->kind == b->kind && clr_value_compare(a, b, 0) == 0;
}

static struct clr_value any_value(int variety, char *bytes)
{
    struct clr_value value = {.kind = CLR_KIND_INTEGER};
    size_t i;

    switch (random_below(6)) {
    case 0:
    case 1:
        value.as.integer = random_bits() % 8 == 0 ? random_integer() : random_between(0, variety);
        break;
    case 2:
    case 3:
        value.kind = CLR_KIND_REAL;
        value.as.real = random_between(-1, 2 * variety) * 0.5 * (random_bits() & 1 ? 1.0 : -1.0);
        if (random_below(8) == 0)
            value.as.real = (double)random_integer();
        if (random_below(50) == 0)
            value.as.real = random_bits() & 1 ? INFINITY : 0x1p63;
        break;
    default:
        value.kind = random_bits() & 1 ? CLR_KIND_TEXT : CLR_KIND_BLOB;
        value.as.size = random_below(3) == 0 ? random_below(LONGEST_TEXT) : random_below(3);
        for (i = 0; i < value.as.size; i++)
            bytes[i] = (char)random_below(2);
        value.bytes = bytes;
        break;
    }
    return value;
}

static void add(struct clr_distinct *distinct, const struct clr_value *value)
{
    enum clr_code code;

    if (value->kind == CLR_KIND_INTEGER)
        code = clr_distinct_add_integers(distinct, &value->as.integer, 1);
    else if (value->kind == CLR_KIND_REAL)
        code = clr_distinct_add_reals(distinct, &value->as.real, 1);
    else
        code = clr_distinct_add_bytes(distinct, value);
    if (code != CLR_OK)
        tap_bail("a value was not taken: %d", code);
}

/* Returns how many different values there are, and finds the mode. */
static uint64_t look(struct clr_value *mode)
{
    uint64_t size = 0, most = 0;
    size_t i, j;

    for (i = window_first; i < window_end; i++) {
        struct clr_value value = window[i].value;
        uint64_t count = 0;
        bool first = true;
        for (j = window_first; j < window_end; j++) {
            if (!is_equal(&window[i].value, &window[j].value))
                continue;
            count++;
            first = first && j >= i;
            if (window[j].value.kind == CLR_KIND_INTEGER)
                value = window[j].value;
        }
        if (value.kind == CLR_KIND_REAL)
            value.as.real += 0.0;
        size += first;
        if (count > most || (count == most && clr_value_compare(&value, mode, 0) < 0)) {
            most = count;
            *mode = value;
        }
    }
    return size;
}

static bool is_same(const struct clr_value *a, const struct clr_value *b)
{
    return a->kind == b->kind && clr_value_compare(a, b, 0) == 0;
}

/* A window of a length that slides over random values. */
static void test_window(int variety, size_t length, bool typed)
{
    struct clr_budget budget = {.limit = UINT64_MAX};
    struct clr_distinct distinct;
    struct clr_mode_heap heap;
    size_t steps = tap_is_quick() ? 500 : LARGEST, i;

    clr_distinct_init(&distinct, &budget, typed, random_bits());
    clr_mode_heap_init(&heap, &distinct, &budget);
    window_first = window_end = 0;
    batch_begin();
    for (i = 0; i < steps; i++) {
        struct held *held = &window[window_end++];
        struct clr_value want = {.kind = CLR_KIND_NONE}, got = want;
        uint64_t size;
        held->value = any_value(variety, held->bytes);
        add(&distinct, &held->value);
        if (typed && clr_mode_heap_change(&heap, &held->value, 1) != CLR_OK)
            tap_bail("the heap has no memory");
        if (window_end - window_first > length) {
            held = &window[window_first++];
            if (typed && clr_mode_heap_change(&heap, &held->value, -1) != CLR_OK)
                tap_bail("the heap has no memory");
            clr_distinct_remove(&distinct, &held->value);
        }
        if (length > 100 && i % 64 != 0)
            continue;
        size = look(&want);
        batch_ok(clr_distinct_size(&distinct) == size, "step %zu: %" PRIu64 " and not %" PRIu64, i,
                 clr_distinct_size(&distinct), size);
        if (!typed)
            continue;
        batch_ok(clr_mode_find(&distinct, &got) && is_same(&got, &want), "the mode at step %zu", i);
        while (!heap.begun) {
            if (clr_mode_heap_fill(&heap, 1 + random_below(50)) != CLR_OK)
                tap_bail("no memory");
        }
        clr_mode_heap_find(&heap, &got);
        batch_ok(is_same(&got, &want), "the heap's mode at step %zu", i);
    }
    batch_end("variety %d, window of %zu, %s", variety, length, typed ? "typed" : "untyped");
    for (; window_first < window_end; window_first++)
        clr_distinct_remove(&distinct, &window[window_first].value);
    tap_is_uint64(clr_distinct_size(&distinct), 0, "and all leave");
    clr_mode_heap_free(&heap);
    clr_distinct_free(&distinct);
    tap_is_uint64(budget.used, 0, "no memory is left over");
}

static int compare_integers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Many numbers at a time: keys in a row, with only their upper bits different, and at random. */
TAP_TEST(test_many)
{
    enum { COUNT = 300000 };
    static int64_t integers[COUNT];
    struct clr_budget budget = {.limit = UINT64_MAX};
    struct clr_distinct distinct;
    uint64_t size, want;
    int family;
    size_t i;

    for (family = 0; family < 4; family++) {
        uint64_t found = 0, total = 0;
        struct clr_distinct_cursor cursor = {0};
        for (i = 0; i < COUNT; i++) {
            integers[i] = family == 0   ? (int64_t)i
                          : family == 1 ? (int64_t)(i << 44)
                          : family == 2 ? (int64_t)random_bits()
                                        : random_between(0, 50000);
        }
        clr_distinct_init(&distinct, &budget, true, random_bits());
        if (clr_distinct_add_integers(&distinct, integers, COUNT) != CLR_OK)
            tap_bail("no memory");
        size = clr_distinct_size(&distinct);
        while (clr_distinct_next(&distinct, &cursor)) {
            struct clr_value value = cursor.value;
            found++;
            total += cursor.count;
            if (cursor.count == 0 || clr_distinct_find(&distinct, &value) != cursor.count)
                total += COUNT;
        }
        qsort(integers, COUNT, sizeof integers[0], compare_integers);
        for (want = 1, i = 1; i < COUNT; i++)
            want += integers[i] != integers[i - 1];
        tap_ok(size == want && found == want && total == COUNT,
               "family %d: %" PRIu64 " of %" PRIu64 " and %" PRIu64 " in all", family, size, want,
               total);
        if (clr_distinct_add_integers(&distinct, integers, COUNT) != CLR_OK)
            tap_bail("no memory");
        tap_is_uint64(clr_distinct_size(&distinct), want, "all of them again");
        clr_distinct_free(&distinct);
        tap_is_uint64(clr_distinct_size(&distinct), 0, "freed");
        tap_is_uint64(budget.used, 0, "no memory is left over");
    }
}

/* A limit or a failing allocation loses nothing that was there, and can be freed. */
TAP_TEST(test_limits)
{
    struct clr_budget budget = {.limit = 50000};
    struct clr_distinct distinct;
    struct clr_value text = {.kind = CLR_KIND_TEXT, .bytes = "some text", .as.size = 9};
    enum clr_code code = CLR_OK;
    int64_t integer = 0;
    double real = 0.5;

    clr_distinct_init(&distinct, &budget, true, 1);
    while ((code = clr_distinct_add_integers(&distinct, &integer, 1)) == CLR_OK)
        integer++;
    tap_ok(code == CLR_LIMIT && clr_distinct_size(&distinct) == (uint64_t)integer,
           "%" PRId64 " integers fit", integer);
    clr_distinct_free(&distinct);
    clr_memory_fail_after(0);
    tap_ok(clr_distinct_add_reals(&distinct, &real, 1) == CLR_NOMEM, "a REAL without memory");
    clr_memory_fail_after(1);
    tap_ok(clr_distinct_add_bytes(&distinct, &text) == CLR_NOMEM, "a TEXT without memory");
    clr_memory_fail_after(-1);
    tap_is_uint64(clr_distinct_size(&distinct), 0, "neither is there");
    tap_ok(clr_distinct_add_bytes(&distinct, &text) == CLR_OK &&
               clr_distinct_find(&distinct, &text) == 1,
           "with memory it is");
    clr_distinct_free(&distinct);
    tap_is_uint64(budget.used, 0, "no memory is left over");
}

TAP_TEST(test_windows)
{
    test_window(3, 1, true);
    test_window(3, 7, true);
    test_window(10, 60, true);
    test_window(300, 700, true);
    test_window(10, 60, false);
}
