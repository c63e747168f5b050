/* TEXT and BLOBs in memory, the different ones among them and the mode, against a sorted list. */
#include "numeric/values/bytes.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/distinct/distinct_counting.h"
#include "random.h"

#include <stdlib.h>

enum { MOST_VALUES = 60000, LONGEST = 300000, MOST_PORTIONS = 5 };

static int64_t addresses[MOST_VALUES];
static unsigned char room[LONGEST];

/* Adds a value; returns false if there was no room. */
static bool add(struct clr_bytes *bytes, enum clr_kind kind, size_t size, int64_t *address)
{
    unsigned char *to = clr_bytes_add(bytes, kind, size, address);

    if (to != NULL)
        memcpy(to, room, size);
    return to != NULL;
}

/* A value of a size that tells all of its bytes. */
static void fill_room(size_t size)
{
    memset(room, (int)(size % 251), size);
}

static void test_values(void)
{
    static size_t sizes[3000];
    struct clr_bytes bytes = {0}, more = {0};

    for (size_t i = 0; i < 3000; i++) {
        struct clr_bytes *to = i < 1500 ? &bytes : &more;

        sizes[i] = random_below(100) == 0 ? random_below(LONGEST) : random_below(50);
        fill_room(sizes[i]);
        batch_ok(add(to, i % 2 ? CLR_KIND_TEXT : CLR_KIND_BLOB, sizes[i], &addresses[i]), "added");
    }
    clr_bytes_append(&bytes, &more);
    batch_ok(more.blocks == NULL && more.size == 0, "nothing is left where all was taken from");
    for (size_t i = 0; i < 3000; i++) {
        struct clr_value value = clr_bytes_value(addresses[i]);

        fill_room(sizes[i]);
        batch_ok(value.kind == (i % 2 ? CLR_KIND_TEXT : CLR_KIND_BLOB) &&
                     value.as.size == sizes[i] && memcmp(value.bytes, room, sizes[i]) == 0,
                 "value %zu of %zu bytes", i, sizes[i]);
        batch_ok(bytes.longest >= sizes[i], "the longest is not shorter");
    }
    clr_bytes_free(&bytes);
    clr_bytes_free(&more);
    batch_end("values are where they were put");
}

static void test_limit(void)
{
    atomic_int_least64_t left = 100000;
    struct clr_bytes bytes = {.left = &left};
    int64_t address;
    size_t taken;
    int count = 0;

    fill_room(1000);
    while (add(&bytes, CLR_KIND_BLOB, 1000, &address))
        count++;
    tap_ok(count > 20 && count <= 100 && bytes.size <= 100000, "%d values within the limit", count);
    tap_is_int64(bytes.code, CLR_LIMIT, "then it is reached");
    tap_ok(!add(&bytes, CLR_KIND_BLOB, 0, &address) && address == 0, "and nothing more is added");
    clr_bytes_free(&bytes);
    atomic_store(&left, 100000);
    for (count = 0; count < 300; count++) {
        if (count % 30 == 0)
            clr_bytes_clear(&bytes);
        if (!add(&bytes, CLR_KIND_BLOB, count % 30 == 7 ? 20000 : 1000, &address))
            break;
    }
    taken = bytes.size;
    tap_ok(count == 300 && 100000 - atomic_load(&left) == (int64_t)taken,
           "what is forgotten is given back: %zu bytes are taken", taken);
    clr_bytes_free(&bytes);
    bytes = (struct clr_bytes){0};
    clr_memory_fail_after(0);
    tap_ok(!add(&bytes, CLR_KIND_TEXT, 5, &address) && bytes.code == CLR_NOMEM, "no memory");
    clr_memory_fail_after(-1);
    clr_bytes_free(&bytes);
    tap_ok(add(&bytes, CLR_KIND_TEXT, 5, &address) && bytes.code == CLR_OK, "and then again");
    clr_bytes_free(&bytes);
}

/* ---- Different values. */

static int compare(const void *a, const void *b)
{
    const struct clr_value first = clr_bytes_value(*(const int64_t *)a);
    const struct clr_value second = clr_bytes_value(*(const int64_t *)b);

    return clr_value_compare(&first, &second, 0);
}

/* The result, from the addresses in order. */
static struct clr_distinct_result expect(const int64_t *values, size_t count)
{
    static int64_t sorted[MOST_VALUES];
    struct clr_distinct_result result = {0};
    size_t same = 0;

    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++) {
        bool is_new = i == 0 || compare(&sorted[i - 1], &sorted[i]) != 0;

        same = is_new ? 1 : same + 1;
        result.size += is_new;
        if (same > result.count) {
            result.count = same;
            result.mode = clr_bytes_value(sorted[i]);
        }
    }
    return result;
}

/* Values of which about so many are different. Most begin alike, and some are equal in all but the
   type, or the size. */
static void make_values(struct clr_bytes *bytes, size_t count, uint64_t variety)
{
    size_t size;

    for (size_t i = 0; i < count; i++) {
        uint64_t number = random_below(variety);

        memset(room, 0, 40);
        size = random_below(4) == 0 ? (size_t)(number % 3) : 3 + (size_t)(number % 30);
        if (size >= 3)
            memcpy(room + size - 3, &number, 3);
        TAP_NEED(add(bytes, number % 5 == 0 ? CLR_KIND_BLOB : CLR_KIND_TEXT, size, &addresses[i]),
                 "no memory");
    }
}

static bool is_same(const struct clr_distinct_result *a, const struct clr_distinct_result *b)
{
    return a->size == b->size && a->count == b->count &&
           (a->count == 0 || clr_bytes_equal(&a->mode, &b->mode));
}

static void test_distinct(size_t count, uint64_t variety)
{
    struct clr_bytes bytes = {0};
    struct clr_bytes_run runs[MOST_PORTIONS];
    struct clr_portions portions = {.count = 1 + (int)random_below(MOST_PORTIONS)};
    struct clr_distinct_result expected, result;
    size_t first = 0;
    enum clr_code code = CLR_NOMEM;

    make_values(&bytes, count, variety);
    expected = expect(addresses, count);
    for (int i = 0; i < portions.count; i++) {
        size_t more = i + 1 == portions.count ? count - first : random_below(count - first + 1);

        runs[i] = (struct clr_bytes_run){addresses + first, more};
        first += more;
    }
    for (int after = 0; code == CLR_NOMEM; after++) {
        clr_memory_fail_after(after);
        code =
            clr_portions_distinct_bytes(&portions, runs, true, UINT64_MAX, random_bits(), &result);
        if (clr_memory_fail_after(-1) == 0)
            batch_ok(code == CLR_OK, "%zu values: code %d", count, code);
    }
    batch_ok(is_same(&result, &expected), "%zu values, %d portions: %llu different, not %llu",
             count, portions.count, (unsigned long long)result.size,
             (unsigned long long)expected.size);
    code = clr_portions_distinct_bytes(&portions, runs, false, UINT64_MAX, random_bits(), &result);
    batch_ok(code == CLR_OK && result.size == expected.size, "%zu values without mode", count);
    code = clr_portions_distinct_bytes(&portions, runs, true, random_below(24 * count + 1),
                                       random_bits(), &result);
    batch_ok(code == CLR_LIMIT || (code == CLR_OK && is_same(&result, &expected)),
             "%zu values in little memory: code %d", count, code);
    clr_bytes_free(&bytes);
}

TAP_TEST(test_bytes)
{
    static const uint64_t varieties[] = {1, 2, 100, 5000, 1000000};

    test_values();
    test_limit();
    for (int round = 0; round < 100; round++)
        test_distinct(random_below(random_below(5) == 0 ? MOST_VALUES : 2000),
                      varieties[round % 5]);
    for (int round = 0; round < 3; round++)
        test_distinct(MOST_VALUES, 1000000);
    batch_end("different values and the most frequent one");
}
