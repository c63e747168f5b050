/*
 * Reductions: the way of values to a state, by the host, by a device, and by both where the device
 * is slow, fails or hangs. Each case has a process of its own, with made-up devices.
 */
#include "engine/rows/reduction.h"

#include "child.h"
#include "engine/fake_catalog.h"
#include "engine/fake_device.h"
#include "engine/worker/runtime.h"
#include "numeric/data.h"
#include "random.h"

#include "tap.h"

enum { LIMIT_S = 60, CHUNK = 100 };

static struct clr_settings settings;
static struct clr_stats stats;
static struct clr_pool pool;

static void set_up(const char *device)
{
    struct clr_status status;

    unsetenv("CLREDUCE_DEVICE");
    clr_settings_init(&settings);
    clr_settings_set(&settings, "device", device, &status);
    settings.chunk_size = CHUNK;
    settings.host_threshold = 1;
    settings.start_after = 0;
    memset(&stats, 0, sizeof stats);
    clr_pool_init(&pool, &settings, &stats);
}

/* A reduction on its way, and what it must come to. */
struct run {
    struct clr_reduction *reduction;
    struct clr_feed feed;
    struct clr_state expected;
};

static void begin(struct run *run, enum clr_operation operation)
{
    memset(run, 0, sizeof *run);
    run->reduction = clr_reduction_begin(&pool, operation);
    if (run->reduction == NULL)
        tap_bail("no memory");
    clr_state_clear(&run->expected);
}

static void make_room(struct run *run)
{
    if ((run->feed.real == run->feed.real_end || run->feed.integer == run->feed.integer_end) &&
        clr_reduction_make_room(run->reduction, &run->feed) != CLR_OK)
        tap_bail("no memory");
}

static void add_integer(struct run *run, int64_t x, int64_t y)
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

static void add_real(struct run *run, double x, double y)
{
    enum clr_operation operation = run->reduction->operation;
    int64_t bits;

    make_room(run);
    if (operation == CLR_DOT)
        run->feed.real[run->reduction->pitch] = y;
    *run->feed.real++ = x;
    run->expected.count++;
    run->expected.non_integers++;
    memcpy(&bits, &x, sizeof bits);
    if (operation == CLR_EXTREMES)
        clr_range_add(&run->expected.reals, clr_real_to_key(bits));
    else
        clr_sum_add_product(&run->expected.sum, x, operation == CLR_DOT ? y : 1.0, 1);
}

/* Any values, mixed in a proportion that is different every time. */
static void add_any(struct run *run, size_t count)
{
    uint64_t reals = random_below(11);

    while (count-- > 0) {
        if (random_below(10) < reals)
            add_real(run, random_finite(), random_finite());
        else
            add_integer(run, random_integer(), random_integer());
    }
}

static bool same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

/* Settles a reduction, compares, and ends it. */
static bool end(struct run *run, const char *what)
{
    struct clr_state *state = &run->reduction->state, *want = &run->expected;
    double sum, wanted_sum = clr_sum_round(&want->sum, 1);
    bool same;

    clr_reduction_settle(run->reduction, &run->feed);
    sum = clr_sum_round(&state->sum, 1);
    same = state->count == want->count && state->non_integers == want->non_integers &&
           memcmp(&sum, &wanted_sum, sizeof sum) == 0 &&
           memcmp(&state->sum.integer, &want->sum.integer, sizeof want->sum.integer) == 0 &&
           same_range(&state->integers, &want->integers) &&
           same_range(&state->reals, &want->reals) && run->reduction->in_flight == 0 &&
           run->feed.real == NULL;
    clr_reduction_end(run->reduction);
    return child_ok(same, what);
}

/* A reduction from its beginning to its end. */
static void whole(enum clr_operation operation, size_t count)
{
    struct run run;
    begin(&run, operation);
    add_any(&run, count);
    end(&run, "the state of a whole reduction");
}

static int64_t host_chunks(void)
{
    int64_t sum = 0;
    int i;
    for (i = 0; i < CLR_HOST_REASONS; i++)
        sum += stats.on_host[i];
    return sum;
}

/* Feeds until a device answers, and starts to count anew. */
static void make_ready(enum clr_operation operation)
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

static void test_host(void)
{
    int operation;

    set_up("host");
    for (operation = 0; operation < CLR_OPERATIONS; operation++) {
        whole((enum clr_operation)operation, 0);
        whole((enum clr_operation)operation, 1);
        whole((enum clr_operation)operation, CHUNK - 1);
        whole((enum clr_operation)operation, CHUNK);
        whole((enum clr_operation)operation, CHUNK + 1);
        whole((enum clr_operation)operation, 50 * CHUNK + 7);
    }
    child_ok(stats.values_fed == 3 * (1 + CHUNK - 1 + CHUNK + CHUNK + 1 + 50 * CHUNK + 7),
             "values fed");
    child_ok(stats.on_host[CLR_HOST_SETTING] > 0 && stats.on_host[CLR_HOST_REMAINDER] > 0 &&
                 stats.on_host[CLR_HOST_SETTING] + stats.on_host[CLR_HOST_REMAINDER] ==
                     host_chunks(),
             "the setting is the reason");
    child_ok(!clr_runtime_started(), "no runtime is started for that");
    clr_pool_free(&pool);
}

static void test_device(void)
{
    int operation, round;

    set_up("auto");
    for (operation = 0; operation < CLR_OPERATIONS; operation++) {
        make_ready((enum clr_operation)operation);
        /* What the device has not begun at the end is taken back: that may be all. */
        for (round = 0; round < 20 || (round < 10000 && stats.chunks_to_device == 0); round++)
            whole((enum clr_operation)operation, random_below(30 * CHUNK));
        child_ok(stats.chunks_to_device > 0 && stats.bytes_to_device > 0, "the device has served");
        child_ok(stats.kernels_launched == 2 * stats.chunks_to_device &&
                     stats.passes == stats.kernels_launched,
                 "its work is counted");
        child_ok(stats.on_host[CLR_HOST_REMAINDER] + stats.on_host[CLR_HOST_BUSY] == host_chunks(),
                 "the host has done what is left");
        child_ok(stats.device_errors == 0, "and there was no error");
    }
    clr_pool_free(&pool);
}

/* With a count of the chunks: each goes one way, and one way only. */
static void test_counts(void)
{
    struct run run;
    int i;

    set_up("gpu");
    make_ready(CLR_SUM);
    settings.host_threshold = CHUNK / 2;
    begin(&run, CLR_SUM);
    for (i = 0; i < CHUNK; i++) {
        if (i < CHUNK / 2 - 1)
            add_real(&run, i, 0);
        add_integer(&run, i, 0);
    }
    make_room(&run); /* hands a chunk on: its integers to the device, its few reals to the host */
    child_ok(stats.on_host[CLR_HOST_BELOW_THRESHOLD] == 1 && host_chunks() == 1,
             "too few reals for a device");
    child_ok(run.reduction->in_flight == 1, "and enough integers");
    for (i = 0; i < CHUNK; i++)
        add_real(&run, i, 0);
    fake_wait(&fake.finished, 2, "the chunks");
    add_integer(&run, 1, 0);
    end(&run, "both of them");
    settings.host_threshold = CHUNK + 1;
    whole(CLR_SUM, 20 * CHUNK);
    child_ok(stats.on_host[CLR_HOST_BELOW_THRESHOLD] > 10, "no chunk reaches the threshold");
    clr_pool_free(&pool);
}

static void test_early(void)
{
    double start = child_now();
    struct run run;

    set_up("auto");
    settings.start_after = 10 * CHUNK;
    begin(&run, CLR_SUM);
    while (run.expected.count < 9 * CHUNK)
        add_real(&run, 1.0, 0);
    make_room(&run);
    child_ok(!clr_runtime_started() && stats.on_host[CLR_HOST_EARLY] == 9,
             "auto starts no device for a few values");
    while (stats.on_host[CLR_HOST_STARTING] == 0 && child_now() - start < LIMIT_S)
        add_real(&run, 1.0, 0);
    child_ok(clr_runtime_started() && stats.on_host[CLR_HOST_EARLY] == 9,
             "and starts one for more");
    end(&run, "the sum meanwhile");
    clr_pool_free(&pool);
}

static void test_named_device_starts_at_once(void)
{
    set_up("gpu");
    settings.start_after = INT64_MAX;
    whole(CLR_SUM, 3 * CHUNK);
    child_ok(clr_runtime_started() && stats.on_host[CLR_HOST_EARLY] == 0,
             "who names a device gets it started");
    clr_pool_free(&pool);
}

static void test_starting(void)
{
    set_up("auto");
    fake_catalog_hold(true);
    whole(CLR_DOT, 10 * CHUNK);
    child_ok(stats.on_host[CLR_HOST_STARTING] > 0 &&
                 stats.on_host[CLR_HOST_STARTING] + stats.on_host[CLR_HOST_REMAINDER] ==
                     host_chunks(),
             "nobody waits for discovery");
    fake_set(hold_build, true);
    fake_catalog_hold(false);
    fake_wait(&fake.opened, 1, "the device");
    whole(CLR_DOT, 10 * CHUNK);
    child_ok(stats.chunks_to_device == 0, "nor for a build");
    fake_set(hold_build, false);
    make_ready(CLR_DOT);
    clr_pool_free(&pool);
}

static void test_no_device(void)
{
    set_up("accelerator");
    clr_runtime_catalog();
    whole(CLR_SUM, 10 * CHUNK);
    child_ok(stats.on_host[CLR_HOST_NO_DEVICE] > 0 && stats.on_host[CLR_HOST_STARTING] == 0,
             "there is no accelerator");
    clr_pool_free(&pool);
}

static void test_build_failure(void)
{
    double start = child_now();

    set_up("auto");
    fake.build_error = -11;
    while (stats.on_host[CLR_HOST_FAILED] == 0 && child_now() - start < LIMIT_S)
        whole(CLR_SUM, 10 * CHUNK);
    child_ok(stats.on_host[CLR_HOST_FAILED] > 0 && stats.chunks_to_device == 0,
             "a program that can't be built");
    child_ok(stats.device_errors == 0, "is no chunk's error");
    clr_pool_free(&pool);
}

/* The device holds no more than it may; the host does the rest, and takes back what was not begun.
 */
static void test_busy(void)
{
    enum { IN_FLIGHT = 3 };
    struct run run;
    int i;

    set_up("auto");
    make_ready(CLR_EXTREMES);
    settings.chunks_in_flight = IN_FLIGHT;
    fake_set(hold_finish, true);
    begin(&run, CLR_EXTREMES);
    for (i = 0; i < 20 * CHUNK; i++) {
        add_real(&run, random_finite(), 0);
        child_ok(run.reduction->in_flight <= IN_FLIGHT, "never too many in flight");
    }
    child_ok(run.reduction->in_flight == IN_FLIGHT, "as many as may be are in flight");
    child_ok(stats.on_host[CLR_HOST_BUSY] == 19 - IN_FLIGHT, "the host has done the others");
    fake_set(hold_finish, false);
    end(&run, "what device and host found together");
    child_ok(stats.chunks_to_device + stats.on_host[CLR_HOST_BUSY] == 19 &&
                 stats.on_host[CLR_HOST_REMAINDER] == 1,
             "each chunk went one way");
    clr_pool_free(&pool);
}

/* From an error on the host does everything: what had been handed over, and what comes. */
static void test_job_failure(void)
{
    enum clr_operation operation = (enum clr_operation)random_below(CLR_OPERATIONS);

    set_up("auto");
    make_ready(operation);
    if (random_bits() & 1)
        fake_set(begin_fails_after, (int)random_below(5));
    else
        fake_set(finish_fails_after, (int)random_below(5));
    while (stats.device_errors == 0)
        whole(operation, 40 * CHUNK);
    child_ok(stats.on_host[CLR_HOST_FAILED] >= stats.device_errors, "the host has done its work");
    child_ok(stats.last_error.error == -5, "the error is kept");
    stats.chunks_to_device = 0;
    whole(operation, 40 * CHUNK);
    child_ok(stats.chunks_to_device == 0, "the device gets nothing more");
    clr_pool_free(&pool);
}

static void test_hang(void)
{
    double start, took;
    struct run run;
    int finished;

    set_up("auto");
    make_ready(CLR_SUM);
    settings.device_timeout = 200;
    finished = fake_read(&fake.finished);
    fake_set(hold_finish, true);
    begin(&run, CLR_SUM);
    add_any(&run, 30 * CHUNK);
    fake_wait(&fake.finished, finished + 1, "a chunk to be waited for");
    start = child_now();
    end(&run, "the state in spite of a device that hangs");
    took = child_now() - start;
    child_ok(took < 0.2 * CLR_REDUCER_SLOTS + 5.0, "it was not waited for any longer");
    child_ok(stats.device_errors > 0 && stats.last_error.code == CLR_DEVICE, "the error is kept");
    child_ok(strstr(stats.last_error.message, "did not answer within 200 ms") != NULL,
             "and says what was wrong");
    start = child_now();
    whole(CLR_SUM, 30 * CHUNK);
    child_ok(child_now() - start < 5.0, "later reductions do not wait at all");
    fake_set(hold_finish, false); /* late answers find nobody, and are dropped */
    usleep(50000);
    whole(CLR_SUM, 30 * CHUNK);
    clr_pool_free(&pool);
}

/* A statement that is aborted: nothing is launched, nothing is lost, and the next one works. */
static void test_abort(void)
{
    struct run run;
    int round, begun;

    set_up("auto");
    make_ready(CLR_SUM);
    for (round = 0; round < 30; round++) {
        fake_set(hold_finish, true); /* the worker begins what is in its queue, and then waits */
        begin(&run, CLR_SUM);
        add_any(&run, random_below(10 * CHUNK));
        usleep(2000);
        begun = fake_read(&fake.begun);
        fake_set(hold_finish, false);
        clr_reduction_end(run.reduction);
        child_ok(run.reduction->in_flight == 0, "nothing is in flight");
        child_ok(fake_read(&fake.begun) <= begun + settings.chunks_in_flight,
                 "nothing new is launched");
        whole(CLR_SUM, 3 * CHUNK);
    }
    clr_pool_free(&pool);
}

static struct run forked_run;

static void end_in_child(void)
{
    child_leaves_threads_behind();
    add_any(&forked_run, 5 * CHUNK);
    end(&forked_run, "the state in a child");
    child_ok(stats.on_host[CLR_HOST_FORKED] > 0, "whose host did the work");
    whole(CLR_SUM, 10 * CHUNK);
    clr_pool_free(&pool);
}

/* With chunks in flight: the child reduces them itself, and the parent gets its answers. */
static void test_fork(void)
{
    int round;

    set_up("auto");
    make_ready(CLR_SUM);
    for (round = 0; round < 5; round++) {
        fake_set(hold_finish, true);
        begin(&forked_run, CLR_SUM);
        add_any(&forked_run, 20 * CHUNK);
        child_ok(child_run(end_in_child, LIMIT_S), "a child with chunks in flight");
        fake_set(hold_finish, false);
        add_any(&forked_run, 3 * CHUNK);
        end(&forked_run, "the state in the parent");
    }
    child_ok(stats.on_host[CLR_HOST_FORKED] == 0, "the parent did not fork");
    clr_pool_free(&pool);
}

/* Groups hand their memory on: a million of them must not allocate a million times. */
static void test_reuse(void)
{
    int i;

    set_up("host");
    for (i = 0; i < 3; i++) { /* once to take the memory */
        whole(CLR_SUM, 10);
        whole(CLR_DOT, 10);
        whole(CLR_EXTREMES, 10);
    }
    clr_memory_fail_after(0);
    for (i = 0; i < 1000; i++) {
        whole(CLR_SUM, 10);
        whole(CLR_DOT, 10);
        whole(CLR_EXTREMES, 3 * CHUNK);
    }
    child_ok(!clr_memory_fail_after(-1), "reductions use the memory of earlier ones");

    settings.chunk_size = 17;
    whole(CLR_SUM, 100);
    settings.chunk_size = 5000;
    whole(CLR_SUM, 100);
    whole(CLR_DOT, 10000);
    clr_pool_free(&pool);
}

/* More reductions at a time than a pool keeps, ended in another order. */
static void test_many(void)
{
    enum { MANY = 40 };
    struct run runs[MANY];
    int round, i;

    set_up("auto");
    make_ready(CLR_SUM);
    make_ready(CLR_DOT);
    for (i = 0; i < MANY; i++)
        begin(&runs[i], i % 3 == 0 ? CLR_DOT : CLR_SUM);
    for (round = 0; round < 500; round++)
        add_any(&runs[random_below(MANY)], random_below(CHUNK));
    for (i = 0; i < MANY; i++)
        end(&runs[i * 7 % MANY], "one of many");
    clr_pool_free(&pool);
}

/* Every allocation fails once; what was fed before is not lost, and nothing leaks. */
static void test_memory(void)
{
    bool failed = true;
    long after;

    for (after = 0; failed; after++) {
        struct clr_reduction *reduction;
        struct clr_feed feed;
        int64_t fed = 0, sum = 0;
        int i;

        set_up("host");
        memset(&feed, 0, sizeof feed);
        clr_memory_fail_after(after);
        reduction = clr_reduction_begin(&pool, CLR_SUM);
        for (i = 0; reduction != NULL && i < 5 * CHUNK; i++) {
            if (feed.integer == feed.integer_end &&
                clr_reduction_make_room(reduction, &feed) != CLR_OK)
                continue;
            *feed.integer++ = 1;
            fed++;
        }
        failed = clr_memory_fail_after(-1);
        if (reduction != NULL) {
            clr_reduction_settle(reduction, &feed);
            child_ok(clr_int192_to_int64(&reduction->state.sum.integer, &sum) && sum == fed,
                     "what could be fed is there");
            clr_reduction_end(reduction);
        } else {
            child_ok(failed, "no reduction without memory");
        }
        clr_pool_free(&pool);
    }
    child_ok(after > 3, "several allocations have failed");
}

static void run_case(void (*test)(void), const char *name)
{
    tap_ok(child_run(test, LIMIT_S), "%s", name);
}

int main(void)
{
    int i;
    bool passed = true;

    random_start();
    run_case(test_host, "on the host");
    run_case(test_device, "on a device");
    run_case(test_counts, "which way chunks go");
    run_case(test_early, "auto and few values");
    run_case(test_named_device_starts_at_once, "a named device and few values");
    run_case(test_starting, "while a device starts");
    run_case(test_no_device, "without a device");
    run_case(test_build_failure, "without a program");
    run_case(test_busy, "a device that is busy");
    for (i = 0; i < 30; i++) {
        passed = child_run(test_job_failure, LIMIT_S) && passed;
        random_bits(); /* so that no two children draw the same numbers */
    }
    tap_ok(passed, "devices that fail, 30 times");
    run_case(test_hang, "a device that hangs");
    run_case(test_abort, "reductions that are aborted");
    run_case(test_fork, "fork() with chunks in flight");
    run_case(test_reuse, "memory that is used again");
    run_case(test_many, "many reductions at a time");
    run_case(test_memory, "without memory");
    return tap_done();
}
