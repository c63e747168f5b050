/* Reductions with devices that fail, without memory, and in a child of fork(). */
#include "engine/reductions.h"

static void test_no_device(void)
{
    set_up("accelerator");
    clr_runtime_catalog("cpu");
    whole(CLR_SUM, 10 * CHUNK);
    child_ok(stats.on_host[CLR_HOST_NO_DEVICE] > 0 && stats.on_host[CLR_HOST_STARTING] == 0,
             "there is no accelerator");
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
    set_up("auto");
    make_ready(CLR_SUM);
    for (int round = 0; round < 5; round++) {
        fake_set(hold_finish, true);
        begin(&forked_run, CLR_SUM);
        add_any(&forked_run, 20 * CHUNK);
        child_ok(child_run(end_in_child, LIMIT_S), "a child with chunks in flight");
        fake_set(hold_finish, false);
        add_any(&forked_run, 3 * CHUNK);
        end(&forked_run, "the state in the parent");
    }
    child_ok(stats.on_host[CLR_HOST_FORKED] == 0, "the parent did not fork");
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

        set_up("host");
        memset(&feed, 0, sizeof feed);
        clr_memory_fail_after(after);
        reduction = clr_reduction_begin(&pool, CLR_SUM);
        for (int i = 0; reduction != NULL && i < 5 * CHUNK; i++) {
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
    child_ok(after > 2, "several allocations have failed");
}

TAP_TEST(all_tests)
{
    bool passed = true;

    run_case(test_no_device, "without a device");
    run_case(test_build_failure, "without a program");
    for (int i = 0; i < 30; i++) {
        passed = child_run(test_job_failure, LIMIT_S) && passed;
        random_bits(); /* so that no two children draw the same numbers */
    }
    tap_ok(passed, "devices that fail, 30 times");
    run_case(test_hang, "a device that hangs");
    run_case(test_fork, "fork() with chunks in flight");
    run_case(test_memory, "without memory");
}
