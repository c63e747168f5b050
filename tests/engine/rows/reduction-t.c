/*
 * Reductions: the way of values to a state, by the host, by a device, or by both.
 */
#include "engine/reductions.h"

static int64_t host_chunks(void)
{
    int64_t sum = 0;
    for (int i = 0; i < CLR_HOST_REASONS; i++)
        sum += stats.on_host[i];
    return sum;
}

static void test_host(void)
{
    set_up("host");
    for (enum clr_operation operation = 0; operation < CLR_OPERATIONS; operation++) {
        whole(operation, 0);
        whole(operation, 1);
        whole(operation, CHUNK - 1);
        whole(operation, CHUNK);
        whole(operation, CHUNK + 1);
        whole(operation, 50 * CHUNK + 7);
    }
    child_ok(stats.values_fed == 3 * (1 + CHUNK - 1 + CHUNK + CHUNK + 1 + 50 * CHUNK + 7),
             "values fed");
    child_ok(stats.on_host[CLR_HOST_SETTING] > 0 && stats.on_host[CLR_HOST_REMAINDER] > 0 &&
                 stats.on_host[CLR_HOST_SETTING] + stats.on_host[CLR_HOST_REMAINDER] ==
                     host_chunks(),
             "the setting is the reason");
    child_ok(!clr_runtime_started(), "no runtime is started for that");
}

static void test_device(void)
{
    set_up("auto");
    for (enum clr_operation operation = 0; operation < CLR_OPERATIONS; operation++) {
        make_ready(operation);
        /* What the device has not begun at the end is taken back: that may be all. */
        for (int round = 0; round < 20 || (round < 10000 && stats.chunks_to_device == 0); round++)
            whole(operation, random_below(30 * CHUNK));
        child_ok(stats.chunks_to_device > 0 && stats.bytes_to_device > 0, "the device has served");
        child_ok(stats.kernels_launched == 2 * stats.chunks_to_device &&
                     stats.passes == stats.kernels_launched,
                 "its work is counted");
        child_ok(stats.on_host[CLR_HOST_REMAINDER] + stats.on_host[CLR_HOST_BUSY] == host_chunks(),
                 "the host has done what is left");
        child_ok(stats.device_errors == 0, "and there was no error");
    }
}

/* With a count of the chunks: each goes one way, and one way only. */
static void test_counts(void)
{
    struct run run;

    set_up("gpu");
    make_ready(CLR_SUM);
    settings.host_threshold = CHUNK / 2;
    begin(&run, CLR_SUM);
    for (int i = 0; i < CHUNK; i++) {
        if (i < CHUNK / 2 - 1)
            add_real(&run, i, 0);
        add_integer(&run, i, 0);
    }
    make_room(&run); /* hands a chunk on: its integers to the device, its few reals to the host */
    child_ok(stats.on_host[CLR_HOST_BELOW_THRESHOLD] == 1 && host_chunks() == 1,
             "too few reals for a device");
    child_ok(run.reduction->in_flight == 1, "and enough integers");
    for (int i = 0; i < CHUNK; i++)
        add_real(&run, i, 0);
    fake_wait(&fake.finished, 2, "the chunks");
    add_integer(&run, 1, 0);
    end(&run, "both of them");
    settings.host_threshold = CHUNK + 1;
    whole(CLR_SUM, 20 * CHUNK);
    child_ok(stats.on_host[CLR_HOST_BELOW_THRESHOLD] > 10, "no chunk reaches the threshold");
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
}

static void test_named_device_starts_at_once(void)
{
    set_up("gpu");
    settings.start_after = INT64_MAX;
    whole(CLR_SUM, 3 * CHUNK);
    child_ok(clr_runtime_started() && stats.on_host[CLR_HOST_EARLY] == 0,
             "who names a device gets it started");
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
}

/* The device holds no more than it may; the host does the rest, and takes back what was not begun.
 */
static void test_busy(void)
{
    enum { IN_FLIGHT = 3 };
    struct run run;

    set_up("auto");
    make_ready(CLR_EXTREMES);
    settings.chunks_in_flight = IN_FLIGHT;
    fake_set(hold_finish, true);
    begin(&run, CLR_EXTREMES);
    for (int i = 0; i < 20 * CHUNK; i++) {
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
}

/* A statement that is aborted: nothing is launched, nothing is lost, and the next one works. */
static void test_abort(void)
{
    struct run run;
    int begun;

    set_up("auto");
    make_ready(CLR_SUM);
    for (int round = 0; round < 30; round++) {
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
}

/* Groups hand their memory on: a million of them must not allocate a million times. */
static void test_reuse(void)
{
    set_up("host");
    for (int i = 0; i < 3; i++) { /* once to take the memory */
        whole(CLR_SUM, 10);
        whole(CLR_DOT, 10);
        whole(CLR_EXTREMES, 10);
    }
    clr_memory_fail_after(0);
    for (int i = 0; i < 1000; i++) {
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
}

/* More reductions at a time than a pool keeps, ended in another order. */
static void test_many(void)
{
    enum { MANY = 40 };
    struct run runs[MANY];

    set_up("auto");
    make_ready(CLR_SUM);
    make_ready(CLR_DOT);
    for (int i = 0; i < MANY; i++)
        begin(&runs[i], i % 3 == 0 ? CLR_DOT : CLR_SUM);
    for (int round = 0; round < 500; round++)
        add_any(&runs[random_below(MANY)], random_below(CHUNK));
    for (int i = 0; i < MANY; i++)
        end(&runs[i * 7 % MANY], "one of many");
}

TAP_TEST(all_tests)
{
    run_case(test_host, "on the host");
    run_case(test_device, "on a device");
    run_case(test_counts, "which way chunks go");
    run_case(test_early, "auto and few values");
    run_case(test_named_device_starts_at_once, "a named device and few values");
    run_case(test_starting, "while a device starts");
    run_case(test_busy, "a device that is busy");
    run_case(test_abort, "reductions that are aborted");
    run_case(test_reuse, "memory that is used again");
    run_case(test_many, "many reductions at a time");
}
