/* A worker on a made-up device that is opened and builds, and fails at that, and ends. */
#include "engine/jobs.h"

TAP_TEST(test_readiness)
{
    struct clr_worker_report report;
    struct clr_worker *worker;

    fake_set(hold_open, true);
    worker = start();
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_REAL) == CLR_STARTING,
           "not ready while the device is opened");
    clr_worker_report(worker, &report);
    tap_ok(!report.ready && !report.failed && report.status.code == CLR_OK, "nor failed");
    fake_set(hold_build, true);
    fake_set(hold_open, false);
    fake_wait(&fake.built, 1, "a build");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_REAL) == CLR_STARTING,
           "nor while the program is built");
    fake_set(hold_build, false);
    tap_ok(settle_readiness(worker, CLR_SUM, CLR_REAL) == CLR_READY, "then it is ready");
    tap_is_int64(fake_read(&fake.tested), 1, "and was tested");
    tap_ok(clr_worker_readiness(worker, CLR_DOT, CLR_REAL) == CLR_STARTING,
           "another program is built when it is asked for");
    tap_ok(settle_readiness(worker, CLR_DOT, CLR_REAL) == CLR_READY, "and is ready");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_REAL) == CLR_READY, "beside the first one");
    tap_is_int64(fake_read(&fake.built), 2, "each was built once");
    clr_worker_report(worker, &report);
    tap_ok(report.ready && !report.failed && report.startup_time > 0 && report.build_log[0] == '\0',
           "which is reported");
    stop(worker);
}

/* A program that can't be built leaves the others alone. */
TAP_TEST(test_build_failure)
{
    struct clr_worker *worker = start();
    struct clr_worker_report report;
    struct clr_job *job;

    fake_set(build_error, -11);
    fake_set(build_log, "line 1: error");
    tap_ok(settle_readiness(worker, CLR_SUM, CLR_REAL) == CLR_FAILED, "a build that fails");
    clr_worker_report(worker, &report);
    tap_is_string(report.build_log, "line 1: error", "its log is reported");
    tap_ok(report.status.error == -11 && !report.failed, "with the error");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_REAL) == CLR_FAILED, "it is not tried again");
    tap_is_int64(fake_read(&fake.built), 1, "by anybody");
    fake_set(build_error, 0);
    make_ready(worker);
    job = new_job(worker, 7);
    submit(job);
    tap_ok(is_done(job, 7), "another program works on");
    drop(job);
    stop(worker);
}

TAP_TEST(test_self_test_failure)
{
    struct clr_worker *worker = start();
    struct clr_worker_report report;

    fake_set(wrong_result, true);
    tap_ok(settle_readiness(worker, CLR_SUM, CLR_REAL) == CLR_FAILED,
           "a program with wrong results must not serve");
    clr_worker_report(worker, &report);
    tap_ok(!report.failed && report.status.code == CLR_DEVICE && report.status.error == 0,
           "which is reported");
    fake_set(wrong_result, false);
    make_ready(worker);
    fake_set(test_error, -5);
    tap_ok(settle_readiness(worker, CLR_EXTREMES, CLR_REAL) == CLR_FAILED,
           "an error of OpenCL in a test");
    clr_worker_report(worker, &report);
    tap_ok(report.failed && report.status.error == -5, "ends the use of the device");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_INTEGER) == CLR_FAILED, "for all programs");
    stop(worker);
}

TAP_TEST(test_open_failure)
{
    struct clr_worker_report report;
    struct clr_worker *worker;
    struct clr_job *job, *late;

    fake_set(open_error, -2);
    fake_set(hold_open, true);
    worker = start();
    job = new_job(worker, 1);
    late = new_job(worker, 2);
    submit(job); /* nobody does this before it is ready; it must not be lost */
    fake_set(hold_open, false);
    tap_ok(polls(job) && job->request.task.phase == CLR_TASK_FAILED &&
               job->request.task.status.error == -2,
           "a device that can't be opened fails its jobs");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_INTEGER) == CLR_FAILED, "and is not ready");
    tap_ok(!submit(late), "later jobs are not taken");
    clr_worker_report(worker, &report);
    tap_ok(report.failed && !report.ready, "which is reported");
    drop(job);
    drop(late);
    stop(worker);
}

/* A build that fails for want of something is tried again, at longer and longer intervals. */
TAP_TEST(test_build_shortage)
{
    struct clr_worker *worker = start();
    enum clr_readiness readiness = CLR_FAILED;
    int i;

    fake_set(passes, true);
    fake_set(build_error, -6);
    for (i = 0; i < 200; i++)
        settle_readiness(worker, CLR_SUM, CLR_REAL);
    i = fake_read(&fake.built);
    tap_ok(i >= 4 && i <= 9, "200 askings: %d builds", i);
    fake_set(build_error, 0);
    for (i = 0; i < 2000 && readiness != CLR_READY; i++)
        readiness = settle_readiness(worker, CLR_SUM, CLR_REAL);
    tap_ok(readiness == CLR_READY, "it is built at last");
    stop(worker);
}

/* How long a worker that takes no processor time is waited for: a busy machine may leave this
   process without any for a tenth of a second. */
enum { IDLE_MS = 500 };

/* Takes processor time for longer than that, as a compiler on a busy machine; then the build ends.
 */
static void *build_slowly(void *unused)
{
    const int64_t end = clr_clock_process_ns() + 3 * (int64_t)IDLE_MS / 2 * 1000000;

    (void)unused;
    while (clr_clock_process_ns() < end)
        continue;
    fake_set(hold_build, false);
    return NULL;
}

TAP_TEST(test_stop_in_build)
{
    struct clr_worker *worker = start();
    pthread_t builder;

    fake_set(hold_build, true);
    clr_worker_readiness(worker, CLR_SUM, CLR_REAL);
    fake_wait(&fake.built, 1, "a build");
    tap_ok(!clr_worker_stop(worker, SHORT_MS), "a build that takes no processor time hangs");
    TAP_NEED(pthread_create(&builder, NULL, build_slowly, NULL) == 0, "no thread");
    tap_ok(clr_worker_stop(worker, IDLE_MS), "one that does is waited for");
    pthread_join(builder, NULL);
}

/* The end of the process: what runs is finished, what is queued fails, a hang is left behind. */
TAP_TEST(test_stop)
{
    struct clr_worker *worker = start();
    struct clr_job *jobs[CLR_REDUCER_SLOTS + 2];
    int64_t before;
    int done = 0, failed = 0;

    make_ready(worker);
    fake_set(hold_finish, true);
    for (int i = 0; i < CLR_REDUCER_SLOTS + 2; i++) {
        jobs[i] = new_job(worker, i);
        submit(jobs[i]);
    }
    fake_wait(&fake.finished, 1, "a job to be waited for");
    before = clr_clock_ns();
    tap_ok(!clr_worker_stop(worker, SHORT_MS), "a hanging worker does not end");
    tap_ok(clr_clock_ns() - before < (int64_t)5000 * 1000000, "and is not waited for long");
    fake_set(hold_finish, false);
    tap_ok(clr_worker_stop(worker, LONG_MS), "it ends when the device answers");
    for (int i = 0; i < CLR_REDUCER_SLOTS + 2; i++) {
        enum clr_task_phase phase = collect(jobs[i], LONG_MS);
        done += phase == CLR_TASK_DONE;
        failed += phase == CLR_TASK_FAILED;
        drop(jobs[i]);
    }
    tap_ok(done >= 1 && done + failed == CLR_REDUCER_SLOTS + 2, "%d jobs done, %d failed", done,
           failed);
    tap_ok(clr_worker_readiness(worker, CLR_DOT, CLR_REAL) == CLR_FAILED, "it serves no more");
    tap_ok(clr_worker_stop(worker, LONG_MS), "and may be asked to end again");
}

TAP_TEST(test_memory)
{
    struct clr_worker_report report;
    struct clr_status status = {.code = CLR_OK};
    struct clr_worker *worker;

    clr_memory_fail_after(0);
    tap_ok(clr_worker_start(&info, &status) == NULL && status.code == CLR_NOMEM,
           "no worker without memory");
    clr_memory_fail_after(-1);

    fake_set(hold_open, true);
    worker = start();
    clr_memory_fail_after(0);
    tap_ok(clr_job_new(worker, NULL, 0) == NULL, "no job without memory");
    clr_memory_fail_after(-1);
    fake_wait(&fake.opened, 1, "the opening");
    clr_memory_fail_after(0);
    fake_set(hold_open, false);
    do {
        usleep(1000);
        clr_worker_report(worker, &report);
    } while (report.status.code == CLR_OK);
    tap_ok(report.status.code == CLR_NOMEM && !report.failed && report.builds,
           "a device that gets no memory is not given up");
    clr_memory_fail_after(-1);
    tap_ok(settle_readiness(worker, CLR_SUM, CLR_REAL) == CLR_READY, "it is opened later");
    stop(worker);
}

static void *release_build(void *unused)
{
    (void)unused;
    usleep(50000);
    fake_set(hold_build, false);
    return NULL;
}

/* A process may end as soon as a worker rests: then nothing is in the driver, nor goes there until
   somebody asks for something. */
TAP_TEST(test_rest)
{
    struct clr_worker *worker = start();
    pthread_t thread;

    fake_set(hold_build, true);
    clr_worker_readiness(worker, CLR_SUM, CLR_INTEGER);
    fake_wait(&fake.built, 1, "a build");
    clr_worker_readiness(worker, CLR_SUM, CLR_REAL);
    clr_worker_readiness(worker, CLR_DOT, CLR_REAL);
    TAP_NEED(pthread_create(&thread, NULL, release_build, NULL) == 0, "no thread");
    clr_worker_rest(worker, LONG_MS);
    tap_is_int64(fake_read(&fake.tested), 1, "rest waits for what is being built");
    usleep(50000);
    tap_is_int64(fake_read(&fake.built), 1, "... and nothing else is built then");
    pthread_join(thread, NULL);
    tap_ok(settle_readiness(worker, CLR_SUM, CLR_REAL) == CLR_READY &&
               settle_readiness(worker, CLR_DOT, CLR_REAL) == CLR_READY,
           "... until somebody asks");
    stop(worker);
}
