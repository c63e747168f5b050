/* Sorted copies of columns of every type and width, made in one portion or several, against
   qsort(). */
#include "numeric/order/sorted_copy.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/parts.h"
#include "numeric/scans.h"
#include "random.h"

#include "tap.h"

#include <stdlib.h>

enum { ROWS = 5003, MOST_PORTIONS = 7 };

static bool run(void *context, int count, clr_portion_work *work, void *argument)
{
    const atomic_bool *stop = context;
    int i;

    for (i = count - 1; i >= 0; i--)
        work(argument, i, stop);
    return !clr_portion_stops(stop);
}

static enum clr_code make(const struct clr_column *column, int portions, bool stops,
                          struct clr_sorted_copy **copy)
{
    const atomic_bool stop = stops;
    const struct clr_portions list = {
        .count = portions, .run = run, .context = (void *)(uintptr_t)&stop};

    return clr_sorted_copy_make(column, &list, copy);
}

/* A column of one type of numbers, with NULLs if there are to be some, and many equal values. */
static struct clr_column *make_column(uint8_t kind, uint8_t bytes, bool has_nulls)
{
    struct clr_column *column = scans_column(kind, ROWS, 0);
    size_t i;

    if (kind == CLR_TAG_REAL)
        for (i = 0; i < ROWS; i += 1 + (size_t)random_below(5))
            column->values[i] = scans_bits(random_below(2) ? -0.0 : 0.0);
    if (bytes > 0)
        scans_narrow(&column, bytes);
    for (i = 0; has_nulls && i < ROWS; i++)
        column->tags[i] = random_below(3) == 0 ? CLR_TAG_NULL : kind;
    if (has_nulls)
        column->kind = CLR_TAG_MIXED;
    return column;
}

static int compare(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Stores the column's keys in their order, and returns how many they are. */
static size_t sort(const struct clr_column *column, uint8_t kind, int64_t *keys)
{
    size_t count = 0, i;

    for (i = 0; i < column->rows; i++) {
        const int64_t bits = clr_column_value(column, i);

        if (column->kind != CLR_TAG_MIXED || column->tags[i] != CLR_TAG_NULL)
            keys[count++] = kind == CLR_TAG_REAL ? clr_real_to_key(bits) : bits;
    }
    qsort(keys, count, sizeof *keys, compare);
    return count;
}

static void check(const struct clr_sorted_copy *copy, uint8_t kind, const int64_t *keys,
                  size_t count)
{
    const enum clr_kind type = kind == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER;
    const struct clr_distinct_result *found = clr_sorted_copy_distinct(copy);
    uint64_t length = 0, longest = 0, distinct = 0;
    int64_t mode = 0, last = 0;
    struct clr_value value;
    size_t i;

    batch_ok(clr_sorted_copy_count(copy) == count, "the count");
    for (i = 0; i < count; i++) {
        const int64_t key = kind == CLR_TAG_REAL && keys[i] == -1 ? 0 : keys[i];

        value = clr_sort_key_to_value(type, keys[i]);
        if (memcmp(&value.as, &(struct clr_value){.as = clr_sorted_copy_at(copy, i).as}.as,
                   sizeof value.as) != 0 ||
            clr_sorted_copy_at(copy, i).kind != type) {
            batch_ok(false, "rank %zu", i);
            return;
        }
        length = length > 0 && key == last ? length + 1 : 1;
        distinct += length == 1;
        last = key;
        if (length > longest) {
            longest = length;
            mode = key;
        }
    }
    value = clr_sort_key_to_value(type, mode);
    batch_ok(found->size == distinct, "%llu different ones", (unsigned long long)found->size);
    batch_ok(found->count == longest && found->mode.kind == type &&
                 memcmp(&found->mode.as, &value.as, sizeof value.as) == 0,
             "the mode");
}

static void test_answers(uint8_t kind, uint8_t bytes, bool has_nulls)
{
    static int64_t keys[ROWS];
    struct clr_sorted_copy *copy;
    int round;

    batch_begin();
    for (round = 0; round < 12; round++) {
        struct clr_column *column = make_column(kind, bytes, has_nulls);
        const int portions = 1 + round % MOST_PORTIONS;

        if (batch_ok(make(column, portions, false, &copy) == CLR_OK, "a copy")) {
            check(copy, kind, keys, sort(column, kind, keys));
            batch_ok(clr_sorted_copy_size(copy) <= clr_sorted_copy_cost(column, portions),
                     "what it takes");
            clr_sorted_copy_release(copy);
        }
        clr_column_release(column);
    }
    batch_end("%s of %d bytes%s", kind == CLR_TAG_REAL ? "REALs" : "INTEGERs", bytes,
              has_nulls ? ", and NULLs" : "");
}

/* REALs whose bits lie close together, which are negative: the bits are not in their order. */
static void test_bits(void)
{
    struct clr_frame frame = {.bytes = 2, .least = scans_bits(-1.5)};
    struct clr_column *column;
    struct clr_sorted_copy *copy;
    static int64_t keys[ROWS];
    size_t i;

    frame.known_least = frame.least;
    frame.known_greatest = frame.least + UINT16_MAX;
    column = clr_column_new_framed(ROWS, &frame);
    if (column == NULL)
        tap_bail("no memory");
    column->rows = ROWS;
    column->kind = CLR_TAG_REAL;
    for (i = 0; i < ROWS; i++) {
        const int64_t bits = frame.least + (int64_t)random_below(UINT16_MAX);
        clr_column_put_values(column, i, &bits, 1);
    }
    batch_begin();
    if (batch_ok(make(column, 3, false, &copy) == CLR_OK, "a copy"))
        check(copy, CLR_TAG_REAL, keys, sort(column, CLR_TAG_REAL, keys));
    batch_end("negative REALs that are kept by their bits");
    clr_sorted_copy_release(copy);
    clr_column_release(column);
}

static void test_refusals(void)
{
    struct clr_column *column = make_column(CLR_TAG_INTEGER, 0, false);
    struct clr_column *mixed = scans_column(CLR_TAG_MIXED, ROWS, 0);
    struct clr_column *nulls = scans_column(CLR_TAG_NULL, ROWS, 0);
    struct clr_column *codes = scans_codes(1, 7, ROWS, false);
    struct clr_sorted_copy *copy;
    int after = 0;

    tap_ok(make(mixed, 2, false, &copy) == CLR_INVALID && copy == NULL, "numbers of two types");
    tap_is_uint64(clr_sorted_copy_cost(nulls, 2), 0, "nothing but NULLs");
    tap_is_uint64(clr_sorted_copy_cost(codes, 2), 0, "codes");
    tap_ok(make(column, 2, true, &copy) == CLR_STOPPED && copy == NULL, "who wants a stop gets it");
    do {
        clr_memory_fail_after(after++);
        copy = NULL;
    } while (make(column, 2, false, &copy) == CLR_NOMEM && copy == NULL && after < 20);
    clr_memory_fail_after(-1);
    tap_ok(copy != NULL && after == 6, "without memory there is none, %d times", after - 1);
    clr_sorted_copy_release(clr_sorted_copy_retain(copy));
    tap_is_uint64(clr_sorted_copy_count(copy), ROWS, "who has a reference can use it");
    clr_sorted_copy_release(copy);
    clr_sorted_copy_release(NULL);
    clr_column_release(codes);
    clr_column_release(nulls);
    clr_column_release(mixed);
    clr_column_release(column);
}

void sorted_copy_tests(void)
{
    static const uint8_t kinds[] = {CLR_TAG_INTEGER, CLR_TAG_REAL}, widths[] = {0, 1, 2, 4};
    size_t i, j;

    random_start();
    for (i = 0; i < sizeof kinds; i++) {
        for (j = 0; j < sizeof widths; j++) {
            test_answers(kinds[i], widths[j], false);
            test_answers(kinds[i], widths[j], true);
        }
    }
    test_bits();
    test_refusals();
}
