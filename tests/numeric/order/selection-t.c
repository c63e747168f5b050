/* Keys, sorting, selection and percentiles against qsort() with an exact comparison. */
#include "numeric/order/kept.h"
#include "numeric/order/keys.h"
#include "numeric/order/selection.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/bigint.h"
#include "numeric/order/families.h"
#include "random.h"

#include "tap.h"

#include <stdlib.h>

enum { LARGEST = 200000 };

static struct clr_value values[LARGEST];
static int64_t integers[LARGEST];
static double reals[LARGEST];

int64_t order_integer(enum order_family family)
{
    switch (family) {
    case ORDER_ANY:
        return random_integer();
    case ORDER_FEW:
        return random_between(-3, 3);
    case ORDER_ALIKE:
        return 7;
    case ORDER_SPREAD:
        return (int64_t)random_below(40000);
    case ORDER_GREATEST:
        return INT64_MAX - (int64_t)random_below(3000);
    case ORDER_NEAR_LIMITS:
        /* Where doubles are 1 to 1,024 apart: between two of them, and on them. */
        return (int64_t)((uint64_t)1 << random_between(52, 62)) * (random_bits() & 1 ? 1 : -1) +
               random_between(-1100, 1100);
    default:
        return (int64_t)random_below(3) * INT64_C(1000000000000) + random_between(0, 1000);
    }
}

double order_real(enum order_family family)
{
    switch (family) {
    case ORDER_ANY:
        return random_finite();
    case ORDER_FEW:
        return random_between(-6, 6) * 0.5 * (random_bits() & 1 ? 1.0 : -1.0);
    case ORDER_CLUSTERS:
        return (double)order_integer(family) * (random_below(4) != 0 ? 0.25 : 1.0);
    default:
        return (double)order_integer(family);
    }
}

/* Returns how many values there are; types: 1 INTEGERs, 2 REALs, 3 both. */
static size_t make(enum order_family family, int types, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        bool integer = types == 1 || (types == 3 && random_bits() & 1);
        values[i].kind = integer ? CLR_KIND_INTEGER : CLR_KIND_REAL;
        if (integer)
            values[i].as.integer = order_integer(family);
        else
            values[i].as.real = order_real(family);
    }
    if (family == ORDER_ALIKE && count > 2 && types != 1)
        values[count / 2] = (struct clr_value){.kind = CLR_KIND_REAL, .as.real = -1e300};
    return count;
}

static int compare_values(const void *a, const void *b)
{
    return clr_value_compare(a, b, -1);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Equal as numbers, zeros by their signs, whatever the type. */
static bool is_same(const struct clr_value *a, const struct clr_value *b)
{
    return clr_value_compare(a, b, 0) == 0;
}

TAP_TEST(test_keys)
{
    int i;

    batch_begin();
    for (i = 0; i < 100000; i++) {
        enum order_family family = (enum order_family)random_below(ORDER_FAMILIES);
        int order, keys;
        clr_u128 place[2];
        int j;
        make(family, 3, 2);
        for (j = 0; j < 2; j++) {
            bool integer = values[j].kind == CLR_KIND_INTEGER;
            struct clr_value back;
            place[j] = integer ? clr_integer_to_place(values[j].as.integer)
                               : clr_double_to_place(values[j].as.real);
            back = clr_place_to_value(place[j]);
            batch_ok(is_same(&back, &values[j]), "value %d of case %d comes back", j, i);
            if (integer)
                batch_ok(clr_key_to_integer(clr_integer_to_key(values[j].as.integer)) ==
                             values[j].as.integer,
                         "%" PRId64 " comes back", values[j].as.integer);
            batch_ok((uint64_t)place[j] < CLR_KEY_TAILS, "the tail of case %d", i);
        }
        order = clr_value_compare(&values[0], &values[1], 0);
        /* INTEGER 0 stands at +0.0. */
        if (order == 0 && values[0].kind != values[1].kind)
            continue;
        keys = (place[0] > place[1]) - (place[0] < place[1]);
        batch_ok((order > 0) - (order < 0) == keys, "case %d: order %d, keys %d", i, order, keys);
    }
    batch_end("places are in the order of numbers");
}

TAP_TEST(test_sort)
{
    static uint64_t keys[LARGEST], want[LARGEST], scratch[LARGEST];
    static const size_t counts[] = {0, 1, 2, 31, 32, 33, 100, 257, 5000, LARGEST};
    size_t i, j;
    int digits;

    batch_begin();
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (digits = 0; digits < 9; digits++) {
            for (j = 0; j < counts[i]; j++)
                keys[j] = want[j] =
                    digits == 8 ? random_bits() : random_bits() & (uint64_t)0xff << 8 * digits;
            clr_radix_sort(keys, scratch, counts[i]);
            qsort(want, counts[i], sizeof *want, compare_keys);
            batch_ok(memcmp(keys, want, counts[i] * sizeof *want) == 0, "%zu keys, digit %d",
                     counts[i], digits);
        }
    }
    batch_end("keys are sorted");
}

/* Distributes the values over four runs of each type, some of them empty; returns the list. */
static const struct clr_run *split(struct clr_run runs[8], size_t count)
{
    size_t used[2] = {0, 0}, i, start = 0;

    for (i = 0; i < count; i++) {
        if (values[i].kind == CLR_KIND_INTEGER)
            integers[used[0]++] = values[i].as.integer;
        else
            reals[used[1]++] = values[i].as.real;
    }
    for (i = 0; i < 8; i++) {
        size_t left;
        if (i % 4 == 0)
            start = 0;
        left = used[i / 4] - start;
        runs[i] = (struct clr_run){.kind = i < 4 ? CLR_KIND_INTEGER : CLR_KIND_REAL,
                                   .values = i < 4 ? (const void *)&integers[start]
                                                   : (const void *)&reals[start],
                                   .count = i % 4 == 3 ? left : random_below(left + 1),
                                   .next = i < 7 ? &runs[i + 1] : NULL};
        start += runs[i].count;
    }
    return runs;
}

TAP_TEST(test_select)
{
    static const size_t counts[] = {1,  2,    3,    10,   32,   33,    64,
                                    65, 1000, 4096, 4097, 9000, 60000, LARGEST};
    size_t i, trials = tap_is_quick() ? 2 : 6, trial;
    int family, types;

    for (family = 0; family < ORDER_FAMILIES; family++) {
        batch_begin();
        for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            for (types = 1; types <= 3; types++) {
                struct clr_run runs[8];
                size_t count = make((enum order_family)family, types, counts[i]);
                const struct clr_run *list = split(runs, count);
                qsort(values, count, sizeof values[0], compare_values);
                batch_ok(clr_runs_count(list) == count, "the count");
                for (trial = 0; trial < trials; trial++) {
                    size_t rank = trial == 0 ? 0 : trial == 1 ? count - 1 : random_below(count);
                    size_t next = rank + 1 < count ? rank + 1 : rank;
                    struct clr_value found[2];
                    TAP_NEED(clr_select(list, rank, found) == CLR_OK, "no memory");
                    /* Where types meet, equal numbers are one. */
                    batch_ok(is_same(&found[0], &values[rank]) ||
                                 (found[0].as.real == 0.0 && values[rank].as.real == 0.0),
                             "family %d, types %d: rank %zu of %zu", family, types, rank, count);
                    batch_ok(is_same(&found[1], &values[next]) ||
                                 (found[1].as.real == 0.0 && values[next].as.real == 0.0),
                             "family %d, types %d: after rank %zu of %zu", family, types, rank,
                             count);
                }
            }
        }
        batch_end("selection, family %d", family);
    }
}

TAP_TEST(test_select_failing)
{
    struct clr_run runs[8];
    struct clr_value found[2];
    const struct clr_run *list = split(runs, make(ORDER_ANY, 3, 2000));

    clr_memory_fail_after(0);
    tap_ok(clr_select(list, 1000, found) == CLR_NOMEM, "selection without memory");
    clr_memory_fail_after(-1);
}

TAP_TEST(test_position)
{
    struct clr_position position = clr_percentile_position(0.5, 4);

    tap_ok(position.rank == 1 && position.beyond == 0.5, "the median of four");
    position = clr_percentile_position(1.0, 4);
    tap_ok(position.rank == 3 && position.beyond == 0.0, "the last of four");
    position = clr_percentile_position(1.0, ((uint64_t)1 << 53) + 4);
    tap_ok(position.rank == ((uint64_t)1 << 53) + 3 && position.beyond == 0.0,
           "the last of more than doubles count");
    position = clr_percentile_position(0.0, 1);
    tap_ok(position.rank == 0 && position.beyond == 0.0, "the only one");
}

/* value + factor * beyond, as units of bigint.h; factor is one of the values. */
static void add_exactly(struct bigint *sum, const struct clr_value *value, double factor)
{
    int64_t low = value->kind == CLR_KIND_INTEGER ? value->as.integer & 0xffffffff : 0;

    if (value->kind == CLR_KIND_REAL) {
        bigint_add_product(sum, value->as.real, factor);
    } else {
        bigint_add_product(sum, (double)(value->as.integer - low), factor);
        bigint_add_product(sum, (double)low, factor);
    }
}

TAP_TEST(test_between)
{
    int i, cases = tap_is_quick() ? 2000 : 20000;

    batch_begin();
    for (i = 0; i < cases; i++) {
        double beyond = i % 4 == 0 ? random_compose(0, random_below(1023), random_bits())
                                   : (double)random_below(64) / 64;
        struct bigint exact;
        make((enum order_family)random_below(ORDER_FAMILIES), 3, 2);
        bigint_clear(&exact);
        add_exactly(&exact, &values[0], 1.0);
        add_exactly(&exact, &values[1], beyond);
        add_exactly(&exact, &values[0], -beyond);
        batch_double(clr_percentile_at(values, beyond, true), bigint_round(&exact, 1) + 0.0,
                     "case %d", i);
    }
    batch_end("%d interpolations are rounded once", cases);
}

TAP_TEST(test_kept)
{
    struct clr_budget budget = {.limit = UINT64_MAX};
    struct clr_feed feed = {0};
    struct clr_kept kept;
    const struct clr_run *run;
    int64_t sum = 0, got = 0;
    enum clr_code code = CLR_OK;
    size_t i;

    clr_kept_init(&kept, &budget);
    for (i = 0; i < 400000; i++) {
        int64_t integer = random_between(-1000, 1000);
        bool real = random_below(3) == 0;
        sum += integer;
        if (real ? feed.real == feed.real_end : feed.integer == feed.integer_end)
            code = clr_kept_make_room(&kept, &feed, real ? CLR_KIND_REAL : CLR_KIND_INTEGER);
        TAP_NEED(code == CLR_OK, "no room");
        if (real)
            *feed.real++ = (double)integer;
        else
            *feed.integer++ = integer;
    }
    tap_is_uint64(clr_runs_count(clr_kept_runs(&kept, &feed)), i, "all are kept");
    for (run = clr_kept_runs(&kept, &feed); run != NULL; run = run->next) {
        for (i = 0; i < run->count; i++)
            got += run->kind == CLR_KIND_REAL ? (int64_t)((const double *)run->values)[i]
                                              : ((const int64_t *)run->values)[i];
    }
    tap_is_int64(got, sum, "with their values");
    tap_ok(budget.used > 300000 * sizeof(int64_t) && budget.used < 600000 * sizeof(int64_t),
           "the budget knows it: %" PRIu64, budget.used);
    clr_kept_clear(&kept);
    tap_is_uint64(budget.used, 0, "and gets it back");
    memset(&feed, 0, sizeof feed);
    budget.limit = 1000;
    tap_ok(clr_kept_make_room(&kept, &feed, CLR_KIND_REAL) == CLR_OK, "the first block fits");
    feed.real = feed.real_end;
    tap_ok(clr_kept_make_room(&kept, &feed, CLR_KIND_REAL) == CLR_LIMIT, "then the limit holds");
    tap_is_uint64(clr_runs_count(clr_kept_runs(&kept, &feed)), CLR_KEPT_FIRST,
                  "and what is kept stays");
    clr_kept_clear(&kept);
}

/* Each rank of few keys, of which some are the same or lie close together, beside all of them
   sorted. */
TAP_TEST(test_few)
{
    static const size_t counts[] = {1, 2, 32, 33, 100, 1000, 4096};
    static uint64_t keys[4096], sorted[4096], scratch[4096], found[2];
    int family;
    size_t c, i;

    batch_begin();
    for (family = 0; family <= ORDER_FAMILIES; family++) {
        for (c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            const size_t count = counts[c];

            for (i = 0; i < count; i++)
                keys[i] = sorted[i] =
                    family == ORDER_FAMILIES
                        ? (uint64_t)clr_double_to_key(order_real(ORDER_ANY))
                        : clr_integer_to_key(order_integer((enum order_family)family));
            clr_radix_sort(sorted, scratch, count);
            for (i = 0; i < count; i += 1 + random_below(count / 8 + 1)) {
                clr_few_select(keys, scratch, count, i, found);
                batch_ok(found[0] == sorted[i] && found[1] == sorted[i + 1 < count ? i + 1 : i],
                         "rank %zu of %zu, family %d", i, count, family);
            }
            clr_few_select(keys, scratch, count, count - 1, found);
            batch_ok(found[0] == sorted[count - 1] && found[1] == found[0],
                     "the last one of %zu, family %d", count, family);
        }
    }
    batch_end("ranks of few keys");
}
