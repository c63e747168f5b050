/* Percentiles, selection and distinct values in portions: of more numbers than tests by SQL have,
   when they are stopped, and without memory. tests/sqlite/aggregates/order-t.py has their answers.
 */
#include "numeric/order/selection.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/distinct/distinct_counting.h"
#include "numeric/order/kept.h"
#include "numeric/order/portions.h"
#include "random.h"

enum { MOST_VALUES = 300000 };

static int64_t integers[MOST_VALUES];
static double reals[MOST_VALUES];
static struct clr_run runs[3];
static const struct clr_run *starts[3];
static const uint64_t unlimited = UINT64_MAX;

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

/* Returns whether the value is of the rank: how many are less, and how many not greater, tells. */
static bool has_rank(const int64_t *values, size_t count, int64_t value, uint64_t rank)
{
    uint64_t less = 0, equal = 0;

    for (size_t i = 0; i < count; i++) {
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

    TAP_NEED(values != NULL, "no memory");
    for (size_t i = 0; i < count; i++)
        values[i] = i < count / 2 ? random_integer() >> random_below(60) : (int64_t)i * 1000003;
    for (size_t i = 0; i < 3; i++) {
        runs[i] = (struct clr_run){.next = i < 2 ? &runs[i + 1] : NULL,
                                   .kind = CLR_KIND_INTEGER,
                                   .values = values + i * (count / 3),
                                   .count = count / 3};
        parts[i] = &runs[i];
    }
    for (int j = 2; j < 6; j++)
        ranks[j] = random_below(count);
    tap_ok(clr_portions_select(&portions, ranks, 6, found) == CLR_OK, "six of %zu", count);
    for (int j = 0; j < 6; j++) {
        const uint64_t next = ranks[j] + 1 < count ? ranks[j] + 1 : ranks[j];
        tap_ok(has_rank(values, count, found[j][0].as.integer, ranks[j]) &&
                   has_rank(values, count, found[j][1].as.integer, next),
               "rank %llu of %zu", (unsigned long long)ranks[j], count);
    }
    clr_memory_free(values);
}

static int passes;

/* Does the work, but ends it early in one of the passes. */
static bool run_until(void *context, int count, clr_portion_work *work, void *argument)
{
    atomic_bool stop = passes-- <= 0;

    (void)context;
    for (int i = 0; i < count; i++)
        work(argument, i, &stop);
    return !stop;
}

/* Four ranks are found in one pass where a sample is right, as it is among values in order. */
TAP_TEST(test_sharing)
{
    static const uint64_t ranks[] = {MOST_VALUES / 2, 7, MOST_VALUES - 1, MOST_VALUES / 3};
    struct clr_value found[4][2];
    struct clr_portions portions = {.count = 1, .starts = starts, .run = run_until};

    for (size_t i = 0; i < MOST_VALUES; i++)
        integers[i] = (int64_t)i * 1000003;
    runs[0] = (struct clr_run){.kind = CLR_KIND_INTEGER, .values = integers, .count = MOST_VALUES};
    starts[0] = &runs[0];
    starts[1] = NULL;
    passes = 1;
    tap_ok(clr_portions_select(&portions, ranks, 4, found) == CLR_OK, "four ranks in one pass");
    for (int j = 0; j < 4; j++)
        tap_is_int64(found[j][0].as.integer, (int64_t)ranks[j] * 1000003, "the rank %llu",
                     (unsigned long long)ranks[j]);
}

/* Many different values of both types, all large: every pass there is. */
static void make_hard(struct clr_portions *portions)
{
    *portions = (struct clr_portions){.count = 2, .starts = starts};
    for (size_t i = 0; i < MOST_VALUES; i++) {
        integers[i] = INT64_MAX - (int64_t)(i * 11 % MOST_VALUES);
        reals[i] = (double)integers[i];
    }
    runs[0] = (struct clr_run){
        .next = &runs[1], .kind = CLR_KIND_INTEGER, .values = integers, .count = MOST_VALUES / 2};
    runs[1] = (struct clr_run){.kind = CLR_KIND_REAL, .values = reals, .count = MOST_VALUES / 2};
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
    int before;

    make_hard(&portions);
    portions.run = run_until;
    for (int what = 0; what < 3; what++) {
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
    int after, failures;
    bool failed;

    make_hard(&portions);
    for (int what = 0; what < 3; what++) {
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
