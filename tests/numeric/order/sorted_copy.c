/* Columns that get no sorted copy. tests/sqlite/views/view-order-t.py has what copies answer. */
#include "numeric/order/sorted_copy.h"

#include "base/memory.h"
#include "numeric/scans.h"
#include "random.h"

#include "tap.h"

enum { ROWS = 5003 };

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

TAP_TEST(test_refusals)
{
    struct clr_column *column = scans_column(CLR_TAG_INTEGER, ROWS, 0);
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
    tap_ok(clr_sorted_copy_size(copy) <= clr_sorted_copy_cost(column, 2), "a copy takes its cost");
    clr_sorted_copy_release(copy);
    clr_sorted_copy_release(NULL);
    clr_column_release(codes);
    clr_column_release(nulls);
    clr_column_release(mixed);
    clr_column_release(column);
}
