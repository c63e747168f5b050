/* Reductions on their way, and what they must come to; each test in a process of its own. */
#ifndef CLR_TESTS_REDUCTIONS_H
#define CLR_TESTS_REDUCTIONS_H

#include "child.h"
#include "engine/fake_catalog.h"
#include "engine/fake_device.h"
#include "engine/rows/reduction.h"
#include "engine/worker/runtime.h"
#include "numeric/data.h"
#include "random.h"

enum { LIMIT_S = 60, CHUNK = 100 };

static struct clr_settings settings;
static struct clr_stats stats;
static struct clr_pool pool;

static inline void set_up(const char *device)
{
    struct clr_status status;

    unsetenv("CLREDUCE_DEVICE");
    clr_settings_init(&settings);
    clr_settings_set(&settings, "device", device, &status);
    settings.chunk_size = CHUNK;
    settings.host_threshold = 1;
    settings.start_after = 0;
    memset(&stats, 0, sizeof stats);
    pool = (struct clr_pool){.settings = &settings, .stats = &stats};
}

/* A reduction on its way, and what it must come to. */
struct run {
    struct clr_reduction *reduction;
    struct clr_feed feed;
    struct clr_state expected;
};

static inline void begin(struct run *run, enum clr_operation operation)
{
    memset(run, 0, sizeof *run);
    run->reduction = clr_reduction_begin(&pool, operation);
    TAP_NEED(run->reduction != NULL, "no memory");
    clr_state_clear(&run->expected);
}

static inline void make_room(struct run *run)
{
    if ((run->feed.real == run->feed.real_end || run->feed.integer == run->feed.integer_end) &&
        clr_reduction_make_room(run->reduction, &run->feed) != CLR_OK)
        tap_bail("no memory");
}

static inline void add_integer(struct run *run, int64_t x, int64_t y)
{
    enum clr_operation operation = run->reduction->operation;

    make_room(run);
    if (operation == CLR_DOT)
        run->feed.integer[run->reduction->pitch] = y;
    *run->feed.integer++ = x;
    run->expected.count++;
    if (operation == CLR_EXTREMES)
        clr_range_add(&run->expected.integers, x);
    else
        clr_sum_add_integer(&run->expected.sum, (clr_i128)x * (operation == CLR_DOT ? y : 1), 1);
}

static inline void add_real(struct run *run, double x, double y)
{
    enum clr_operation operation = run->reduction->operation;

    make_room(run);
    if (operation == CLR_DOT)
        run->feed.real[run->reduction->pitch] = y;
    *run->feed.real++ = x;
    run->expected.count++;
    run->expected.non_integers++;
    if (operation == CLR_EXTREMES)
        clr_range_add(&run->expected.reals, clr_real_to_key(clr_bits_of(x)));
    else
        clr_sum_add_product(&run->expected.sum, x, operation == CLR_DOT ? y : 1.0, 1);
}

/* Any values, mixed in a proportion that is different every time. */
static inline void add_any(struct run *run, size_t count)
{
    uint64_t reals = random_below(11);

    while (count-- > 0) {
        if (random_below(10) < reals)
            add_real(run, random_finite(), random_finite());
        else
            add_integer(run, random_integer(), random_integer());
    }
}

/* Settles a reduction, compares, and ends it. */
static inline bool end(struct run *run, const char *what)
{
    struct clr_state *state = &run->reduction->state, *want = &run->expected;
    double sum, wanted_sum = clr_sum_round(&want->sum, 1);
    bool same;

    clr_reduction_settle(run->reduction, &run->feed);
    sum = clr_sum_round(&state->sum, 1);
    same = state->count == want->count && state->non_integers == want->non_integers &&
           memcmp(&sum, &wanted_sum, sizeof sum) == 0 &&
           memcmp(&state->sum.integer, &want->sum.integer, sizeof want->sum.integer) == 0 &&
           data_same_range(&state->integers, &want->integers) &&
           data_same_range(&state->reals, &want->reals) && run->reduction->in_flight == 0 &&
           run->feed.real == NULL;
    clr_reduction_end(run->reduction);
    return child_ok(same, what);
}

/* A reduction from its beginning to its end. */
static inline void whole(enum clr_operation operation, size_t count)
{
    struct run run;
    begin(&run, operation);
    add_any(&run, count);
    end(&run, "the state of a whole reduction");
}

/* Feeds until a device answers, and starts to count anew. */
static inline void make_ready(enum clr_operation operation)
{
    double start = child_now();

    memset(&stats, 0, sizeof stats);
    while (stats.chunks_to_device == 0 && child_now() - start < LIMIT_S) {
        struct run run;
        begin(&run, operation);
        add_real(&run, 1.0, 1.0);
        while (run.reduction->state.count < 4 * CHUNK) {
            add_integer(&run, 1, 1);
            add_real(&run, 1.0, 1.0);
        }
        usleep(1000); /* or what is settled is taken back before the device has begun */
        end(&run, "the state while a device starts");
    }
    child_ok(stats.chunks_to_device > 0, "a device serves");
    memset(&stats, 0, sizeof stats);
}

/* A test, whose pool is freed after it. */
static void (*run_test)(void);

static inline void run_and_free(void)
{
    run_test();
    clr_pool_free(&pool);
}

static inline void run_case(void (*test)(void), const char *name)
{
    run_test = test;
    tap_ok(child_run(run_and_free, LIMIT_S), "%s", name);
}

#endif
