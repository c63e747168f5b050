/* Selection and distinct values in portions, against the same done in one go. */
#include "numeric/order/portions.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/distinct/distinct.h"
#include "numeric/distinct/distinct_counting.h"
#include "numeric/order/families.h"
#include "numeric/order/selection.h"
#include "random.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 300000, MOST_PORTIONS = 7, MOST_RUNS = 20, MOST_RANKS = 9 };

static int64_t integers[MOST_VALUES];
static double reals[MOST_VALUES];
static struct clr_run runs[MOST_RUNS];
static const struct clr_run *starts[MOST_PORTIONS + 1];
static int run_count;

static const uint64_t unlimited = UINT64_MAX;

/* Cuts the values into runs, and the runs into portions, of which some may be empty. types: 1
   INTEGERs, 2 REALs, 3 both. */
static void make(struct clr_portions *portions, int family, int types, size_t count)
{
    size_t first = 0, i;
    int portion, next = 0;

    for (i = 0; i < count; i++) {
        integers[i] = order_integer((enum order_family)family);
        reals[i] = order_real((enum order_family)family);
    }
    run_count = (int)random_between(1, MOST_RUNS);
    for (i = 0; i < (size_t)run_count; i++) {
        bool real = types == 2 || (types == 3 && random_bits() & 1);
        size_t size = i + 1 == (size_t)run_count ? count - first : random_below(count - first + 1);
        const void *values = real ? (const void *)&reals[first] : (const void *)&integers[first];
        if (random_below(4) != 0 && size > 2 * count / (size_t)run_count &&
            i + 1 < (size_t)run_count)
            size = 2 * count / (size_t)run_count;
        runs[i] = (struct clr_run){.next = i + 1 < (size_t)run_count ? &runs[i + 1] : NULL,
                                   .kind = real ? CLR_KIND_REAL : CLR_KIND_INTEGER,
                                   .values = values,
                                   .count = size};
        first += size;
    }
    *portions =
        (struct clr_portions){.count = (int)random_between(1, MOST_PORTIONS), .starts = starts};
    starts[0] = runs;
    for (portion = 1; portion < portions->count; portion++) {
        next += (int)random_below((uint64_t)(run_count - next) + 1);
        starts[portion] = next < run_count ? &runs[next] : NULL;
    }
    starts[portions->count] = NULL;
}

static bool is_same(const struct clr_value *a, const struct clr_value *b)
{
    return a->kind == b->kind && a->as.integer == b->as.integer;
}

/* Several ranks together, in any order, and the same one twice. */
static void check_selection(const struct clr_portions *portions, const char *what)
{
    const uint64_t total = clr_runs_count(runs);
    struct clr_value want[2], got[MOST_RANKS][2];
    uint64_t ranks[MOST_RANKS];
    int count = (int)random_between(1, MOST_RANKS), i;

    if (total == 0)
        return;
    for (i = 0; i < count; i++)
        ranks[i] = random_below(total);
    ranks[random_below((uint64_t)count)] = 0;
    ranks[random_below((uint64_t)count)] = total - 1;
    if (count > 2)
        ranks[0] = ranks[count - 1];
    batch_ok(clr_portions_select(portions, ranks, count, got) == CLR_OK, "%d ranks, %s", count,
             what);
    for (i = 0; i < count; i++)
        batch_ok(clr_select(runs, ranks[i], want) == CLR_OK && is_same(&got[i][0], &want[0]) &&
                     is_same(&got[i][1], &want[1]),
                 "rank %llu of %llu, %d together, %s", (unsigned long long)ranks[i],
                 (unsigned long long)total, count, what);
}

/* The same by the table that rows are fed to. */
static void find_distinct(struct clr_distinct_result *want)
{
    struct clr_budget budget = {.limit = UINT64_MAX};
    struct clr_distinct distinct;
    struct clr_distinct_cursor cursor = {0};
    const struct clr_run *run;
    enum clr_code code = CLR_OK;

    memset(want, 0, sizeof *want);
    clr_distinct_init(&distinct, &budget, true, 3);
    for (run = runs; run != NULL && code == CLR_OK; run = run->next)
        code = clr_distinct_add_numbers(&distinct, run->kind, run->values, run->count);
    TAP_NEED(code == CLR_OK, "no memory");
    want->size = clr_distinct_size(&distinct);
    clr_mode_find(&distinct, &want->mode);
    while (clr_distinct_next(&distinct, &cursor))
        want->count = cursor.count > want->count ? cursor.count : want->count;
    clr_distinct_free(&distinct);
}

static void check_distinct(const struct clr_portions *portions, const char *what)
{
    struct clr_distinct_result want, got;

    find_distinct(&want);
    batch_ok(clr_portions_distinct(portions, false, unlimited, 5, &got) == CLR_OK &&
                 got.size == want.size,
             "%llu of %llu different, %s", (unsigned long long)got.size,
             (unsigned long long)want.size, what);
    batch_ok(clr_portions_distinct(portions, true, unlimited, 7, &got) == CLR_OK &&
                 got.size == want.size && got.count == want.count &&
                 (want.count == 0 || is_same(&got.mode, &want.mode)),
             "the mode, %s", what);
}

TAP_TEST(test_random)
{
    const int rounds = tap_is_quick() ? 60 : 400;
    struct clr_portions portions;
    char what[80];
    int round;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        int family = round % ORDER_FAMILIES, types = 1 + round / ORDER_FAMILIES % 3;
        size_t count = random_below(random_below(8) == 0 ? MOST_VALUES : 3000);
        make(&portions, family, types, count);
        snprintf(what, sizeof what, "round %d, family %d, types %d", round, family, types);
        check_selection(&portions, what);
        check_distinct(&portions, what);
    }
    batch_end("selection and distinct values in portions");
}

/* Returns whether the value is of the rank: how many are less, and how many not greater, tells. */
static bool has_rank(const int64_t *values, size_t count, int64_t value, uint64_t rank)
{
    uint64_t less = 0, equal = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        less += values[i] < value;
        equal += values[i] == value;
    }
    return less <= rank && rank < less + equal;
}

/* So many that what a sample leaves is selected from again; in the second half they are in order,
   so that a sample is right, and in the first one it may not be. */
TAP_TEST(test_many)
{
    const size_t count = 3000000;
    int64_t *values = clr_memory_alloc(count * sizeof *values);
    const struct clr_run *parts[4] = {NULL};
    const struct clr_portions portions = {.count = 3, .starts = parts};
    struct clr_value found[6][2];
    uint64_t ranks[6] = {0, count - 1};
    size_t i;
    int j;

    TAP_NEED(values != NULL, "no memory");
    for (i = 0; i < count; i++)
        values[i] = i < count / 2 ? random_integer() >> random_below(60) : (int64_t)i * 1000003;
    for (i = 0; i < 3; i++) {
        runs[i] = (struct clr_run){.next = i < 2 ? &runs[i + 1] : NULL,
                                   .kind = CLR_KIND_INTEGER,
                                   .values = values + i * (count / 3),
                                   .count = count / 3};
        parts[i] = &runs[i];
    }
    for (j = 2; j < 6; j++)
        ranks[j] = random_below(count);
    tap_ok(clr_portions_select(&portions, ranks, 6, found) == CLR_OK, "six of %zu", count);
    for (j = 0; j < 6; j++) {
        const uint64_t next = ranks[j] + 1 < count ? ranks[j] + 1 : ranks[j];
        tap_ok(has_rank(values, count, found[j][0].as.integer, ranks[j]) &&
                   has_rank(values, count, found[j][1].as.integer, next),
               "rank %llu of %zu", (unsigned long long)ranks[j], count);
    }
    clr_memory_free(values);
}

/* ---- Stops, and want of memory. */

static int passes;

/* Does the work, but ends it early in one of the passes. */
static bool run_until(void *context, int count, clr_portion_work *work, void *argument)
{
    atomic_bool stop = passes-- <= 0;
    int i;

    (void)context;
    for (i = 0; i < count; i++)
        work(argument, i, &stop);
    return !stop;
}

/* Four ranks are found in one pass where a sample is right, as it is among values in order. */
TAP_TEST(test_sharing)
{
    static const uint64_t ranks[] = {MOST_VALUES / 2, 7, MOST_VALUES - 1, MOST_VALUES / 3};
    struct clr_value found[4][2];
    struct clr_portions portions;
    size_t i;
    int j;

    make(&portions, 0, 1, MOST_VALUES);
    portions.run = run_until;
    for (i = 0; i < MOST_VALUES; i++)
        integers[i] = (int64_t)i * 1000003;
    passes = 1;
    tap_ok(clr_portions_select(&portions, ranks, 4, found) == CLR_OK, "four ranks in one pass");
    for (j = 0; j < 4; j++)
        tap_is_int64(found[j][0].as.integer, (int64_t)ranks[j] * 1000003, "the rank %llu",
                     (unsigned long long)ranks[j]);
}

/* Many different values of both types, all large: every pass there is. */
static void make_hard(struct clr_portions *portions)
{
    size_t i;

    make(portions, 4, 3, MOST_VALUES);
    for (i = 0; i < MOST_VALUES; i++) {
        integers[i] = INT64_MAX - (int64_t)(i * 11 % MOST_VALUES);
        reals[i] = (double)integers[i];
    }
    runs[0].kind = CLR_KIND_INTEGER;
    runs[0].values = integers;
    runs[0].count = MOST_VALUES / 2;
    runs[0].next = &runs[1];
    runs[1] = (struct clr_run){.kind = CLR_KIND_REAL, .values = reals, .count = MOST_VALUES / 2};
    portions->count = 2;
    starts[0] = &runs[0];
    starts[1] = &runs[1];
    starts[2] = NULL;
}

static enum clr_code do_all(const struct clr_portions *portions, int what)
{
    static const uint64_t ranks[] = {MOST_VALUES / 2, 5, MOST_VALUES - 5};
    struct clr_distinct_result result;
    struct clr_value found[3][2];

    if (what == 0)
        return clr_portions_select(portions, ranks, 3, found);
    return clr_portions_distinct(portions, what == 2, unlimited, 1, &result);
}

TAP_TEST(test_stops)
{
    static const char *const names[] = {"a selection", "a count", "a mode"};
    struct clr_portions portions;
    enum clr_code code;
    int what, before;

    make_hard(&portions);
    portions.run = run_until;
    for (what = 0; what < 3; what++) {
        for (before = 0; before < 20; before++) {
            passes = before;
            code = do_all(&portions, what);
            if (code != CLR_STOPPED)
                break;
        }
        tap_ok(code == CLR_OK && before >= 3, "%s of %d passes can be stopped in each", names[what],
               before);
    }
}

TAP_TEST(test_no_memory)
{
    struct clr_distinct_result result;
    struct clr_portions portions;
    enum clr_code code;
    uint64_t memory = 1;
    int what, after, failures;
    bool failed;

    make_hard(&portions);
    for (what = 0; what < 3; what++) {
        batch_begin();
        for (after = 0, failures = 0, failed = true; failed; after++) {
            clr_memory_fail_after(after);
            code = do_all(&portions, what);
            failed = clr_memory_fail_after(-1);
            /* A sample for which there is no memory is done without. */
            batch_ok(code == (failed ? CLR_NOMEM : CLR_OK) || (what == 0 && code == CLR_OK),
                     "allocation %d", after);
            failures += code != CLR_OK;
            after += after > 60 ? 40 : 0;
        }
        batch_end("without memory");
        tap_ok(failures > 0, "... %d times", failures);
    }
    do {
        memory *= 2;
        code = clr_portions_distinct(&portions, false, memory, 1, &result);
    } while (code == CLR_LIMIT);
    tap_ok(code == CLR_OK && memory >= MOST_VALUES * sizeof(int64_t),
           "within %llu bytes, and not within half of them", (unsigned long long)memory);
}
