/* Distinct values: many of them, and their room. tests/sqlite/aggregates/order-windows-t.py has
 * counts and modes. */
#include "numeric/distinct/distinct.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

#include <stdlib.h>

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
    size_t i;

    for (int family = 0; family < 4; family++) {
        uint64_t found = 0, total = 0;
        struct clr_distinct_cursor cursor = {0};
        for (i = 0; i < COUNT; i++) {
            integers[i] = family == 0   ? (int64_t)i
                          : family == 1 ? (int64_t)(i << 44)
                          : family == 2 ? (int64_t)random_bits()
                                        : random_between(0, 50000);
        }
        clr_distinct_init(&distinct, &budget, true, random_bits());
        TAP_NEED(clr_distinct_add_numbers(&distinct, CLR_KIND_INTEGER, integers, COUNT) == CLR_OK,
                 "no memory");
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
        TAP_NEED(clr_distinct_add_numbers(&distinct, CLR_KIND_INTEGER, integers, COUNT) == CLR_OK,
                 "no memory");
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
    while ((code = clr_distinct_add_numbers(&distinct, CLR_KIND_INTEGER, &integer, 1)) == CLR_OK)
        integer++;
    tap_ok(code == CLR_LIMIT && clr_distinct_size(&distinct) == (uint64_t)integer,
           "%" PRId64 " integers fit", integer);
    clr_distinct_free(&distinct);
    clr_memory_fail_after(0);
    tap_ok(clr_distinct_add_numbers(&distinct, CLR_KIND_REAL, &real, 1) == CLR_NOMEM,
           "a REAL without memory");
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
