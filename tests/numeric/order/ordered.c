/* Numbers in order while they come and go, against an array that is kept sorted. */
#include "numeric/order/ordered.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

#include "tap.h"

enum { LARGEST = 20000 };

static clr_u128 sorted[LARGEST + 1];
static size_t sorted_count;

static size_t position_of(clr_u128 place)
{
    size_t i = 0, high = sorted_count;

    while (i < high) {
        size_t middle = i + (high - i) / 2;
        if (sorted[middle] < place)
            i = middle + 1;
        else
            high = middle;
    }
    return i;
}

static void insert(clr_u128 place)
{
    size_t i = position_of(place);

    memmove(&sorted[i + 1], &sorted[i], (sorted_count - i) * sizeof place);
    sorted[i] = place;
    sorted_count++;
}

static void take_out(size_t i)
{
    sorted_count--;
    memmove(&sorted[i], &sorted[i + 1], (sorted_count - i) * sizeof sorted[0]);
}

/* Numbers that ascend, descend, are all alike, or come in no order. */
static clr_u128 next_place(int family, int64_t step)
{
    switch (family) {
    case 0:
        return clr_integer_to_place(step);
    case 1:
        return clr_integer_to_place(-step);
    case 2:
        return clr_integer_to_place(random_between(0, 2));
    default:
        return clr_integer_to_place(random_integer());
    }
}

/* Grows to a size, stays at it for a while, and shrinks again, asking for ranks all the time. */
static void test_family(int family, size_t size)
{
    struct clr_budget budget = {.limit = UINT64_MAX};
    struct clr_ordered ordered;
    int64_t step;
    size_t fullest = size;

    clr_ordered_init(&ordered, &budget);
    sorted_count = 0;
    batch_begin();
    for (step = 0; step < 4 * (int64_t)size; step++) {
        clr_u128 place = next_place(family, step);
        bool shrinks = step >= 3 * (int64_t)size;
        if (!shrinks) {
            batch_ok(clr_ordered_insert(&ordered, place) == CLR_OK, "insert %" PRId64, step);
            insert(place);
        }
        if ((shrinks || sorted_count > fullest) && sorted_count > 0) {
            size_t i = random_below(sorted_count);
            clr_ordered_remove(&ordered, sorted[i]);
            take_out(i);
        }
        if (step % 16 == 0)
            clr_ordered_remove(&ordered, clr_double_to_place(0.25));
        batch_ok(ordered.count == sorted_count, "count at %" PRId64, step);
        if (sorted_count > 0) {
            size_t rank = random_bits() & 1 ? sorted_count / 2 : random_below(sorted_count);
            batch_ok(clr_ordered_at(&ordered, rank) == sorted[rank],
                     "family %d: rank %zu at step %" PRId64, family, rank, step);
        }
    }
    batch_end("family %d, up to %zu numbers", family, size);
    while (sorted_count > 0) {
        clr_ordered_remove(&ordered, sorted[0]);
        take_out(0);
    }
    tap_ok(ordered.count == 0 && ordered.block_count == 0, "and all of them leave");
    clr_ordered_clear(&ordered);
    tap_is_uint64(budget.used, 0, "no memory is left over");
}

static void test_limits(void)
{
    struct clr_budget budget = {.limit = 100000};
    struct clr_ordered ordered;
    enum clr_code code = CLR_OK;
    uint64_t count = 0, i;
    bool right = true;

    clr_ordered_init(&ordered, &budget);
    while ((code = clr_ordered_insert(&ordered, clr_integer_to_place((int64_t)count))) == CLR_OK)
        count++;
    tap_ok(code == CLR_LIMIT && count > 1000, "%" PRIu64 " numbers fit", count);
    for (i = 0; i < count; i++)
        right = right && clr_ordered_at(&ordered, i) == clr_integer_to_place((int64_t)i);
    tap_ok(right && ordered.count == count, "and are all there");
    clr_ordered_clear(&ordered);
    clr_memory_fail_after(1);
    tap_ok(clr_ordered_insert(&ordered, 1) == CLR_NOMEM && ordered.count == 0, "without memory");
    clr_memory_fail_after(-1);
    tap_ok(clr_ordered_insert(&ordered, 1) == CLR_OK && clr_ordered_at(&ordered, 0) == 1,
           "and then with it");
    clr_ordered_clear(&ordered);
}

TAP_TEST(test_ordered)
{
    static const size_t sizes[] = {1, 5, 300, 3000};
    size_t i;
    int family;

    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (family = 0; family < 4; family++)
            test_family(family, sizes[i]);
    }
    test_limits();
}
