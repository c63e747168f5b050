/* A worker and its jobs on a made-up device that waits, fails or hangs as it is told. */
#include "engine/worker/worker.h"

#include "base/clock.h"
#include "engine/fake_device.h"
#include "random.h"

#include "tap.h"

#include <unistd.h>

enum { CAPACITY = 64, LONG_MS = 20000, SHORT_MS = 100 };

static const struct clr_device_info info = {.name = "made up"};

/* Workers live as long as the process, by contract; known here, so that they are no leaks. */
static struct clr_worker *workers[32];
static int worker_count;

/* A worker on a device that does as it should; `fake` tells otherwise afterwards. */
static struct clr_worker *start(void)
{
    struct clr_status status;
    struct clr_worker *worker;

    fake_set(opened, 0);
    fake_set(built, 0);
    fake_set(tested, 0);
    fake_set(begun, 0);
    fake_set(finished, 0);
    fake_set(in_slots, 0);
    fake_set(most_in_slots, 0);
    clr_status_clear(&status);
    worker = clr_worker_start(&info, &status);
    if (worker == NULL)
        tap_bail("%s", status.message);
    workers[worker_count++] = worker;
    return worker;
}

static void reset_fake(void)
{
    fake_set(hold_open, false);
    fake_set(hold_build, false);
    fake_set(hold_begin, false);
    fake_set(hold_finish, false);
    fake_set(open_error, 0);
    fake_set(build_error, 0);
    fake_set(test_error, 0);
    fake_set(wrong_result, false);
    fake_set(build_log, NULL);
    fake_set(begin_fails_after, FAKE_NEVER);
    fake_set(finish_fails_after, FAKE_NEVER);
    fake_set(passes, false);
    fake_set(failures, FAKE_NEVER);
}

static void stop(struct clr_worker *worker)
{
    reset_fake();
    tap_ok(clr_worker_stop(worker, LONG_MS), "the worker ends when it is asked to");
}

/* Asks until the program is ready or has failed. */
static enum clr_readiness settle_readiness(struct clr_worker *worker, enum clr_operation operation,
                                           enum clr_element element)
{
    int64_t start = clr_clock_ns();
    enum clr_readiness readiness;

    while ((readiness = clr_worker_readiness(worker, operation, element)) == CLR_STARTING) {
        if (clr_clock_ns() - start > (int64_t)LONG_MS * 1000000)
            tap_bail("a program is neither ready nor failed");
        usleep(1000);
    }
    return readiness;
}

static void make_ready(struct clr_worker *worker)
{
    tap_ok(settle_readiness(worker, CLR_SUM, CLR_INTEGER) == CLR_READY, "the device is ready");
}

/* A job whose sum is `value`. */
static struct clr_job *new_job(int64_t value)
{
    struct clr_job *job = clr_job_new(CLR_SUM, CAPACITY);
    size_t i;

    if (job == NULL)
        tap_bail("no memory");
    for (i = 0; i < CAPACITY; i++)
        job->chunk->integer[i] = i == 0 ? value : 0;
    job->chunk->count[CLR_INTEGER] = CAPACITY;
    job->elements = 1u << CLR_INTEGER;
    return job;
}

/* Waits for a job's end without taking it back. */
static bool polls(struct clr_worker *worker, struct clr_job *job)
{
    int64_t start_time = clr_clock_ns();

    while (!clr_worker_poll(worker, job)) {
        if (clr_clock_ns() - start_time > (int64_t)LONG_MS * 1000000)
            return false;
        usleep(1000);
    }
    return true;
}

/* Waits for a job, which must give that sum. */
static bool is_done(struct clr_worker *worker, struct clr_job *job, int64_t value)
{
    int64_t sum;

    return polls(worker, job) && clr_worker_collect(worker, job, LONG_MS) == CLR_JOB_DONE &&
           clr_int192_to_int64(&job->state.sum.integer, &sum) && sum == value &&
           job->work.bytes == CAPACITY * 8 && job->work.kernels == 2;
}

static void test_readiness(void)
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
    tap_ok(report.ready && !report.failed && report.startup_time > 0 && report.build_log == NULL,
           "which is reported");
    stop(worker);
}

/* A program that can't be built leaves the others alone. */
static void test_build_failure(void)
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
    job = new_job(7);
    clr_worker_submit(worker, job);
    tap_ok(is_done(worker, job, 7), "another program works on");
    clr_job_free(job);
    stop(worker);
}

static void test_self_test_failure(void)
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

static void test_open_failure(void)
{
    struct clr_worker_report report;
    struct clr_worker *worker;
    struct clr_job *job = new_job(1), *late = new_job(2);

    fake_set(open_error, -2);
    fake_set(hold_open, true);
    worker = start();
    clr_worker_submit(worker, job); /* nobody does this before it is ready; it must not be lost */
    fake_set(hold_open, false);
    tap_ok(polls(worker, job) && job->phase == CLR_JOB_FAILED && job->status.error == -2,
           "a device that can't be opened fails its jobs");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_INTEGER) == CLR_FAILED, "and is not ready");
    clr_worker_submit(worker, late);
    tap_ok(clr_worker_poll(worker, late) && late->phase == CLR_JOB_FAILED &&
               late->status.error == -2,
           "later jobs fail at once");
    tap_ok(clr_worker_collect(worker, late, LONG_MS) == CLR_JOB_FAILED, "and are collected so");
    clr_worker_report(worker, &report);
    tap_ok(report.failed && !report.ready, "which is reported");
    clr_job_free(job);
    clr_job_free(late);
    stop(worker);
}

/* All slots are used; jobs come back in any order, and those not begun can be taken back. */
static void test_queue(void)
{
    enum { JOBS = 8 };
    struct clr_worker *worker = start();
    struct clr_job *jobs[JOBS];
    int i;

    make_ready(worker);
    fake_set(hold_finish, true);
    fake_set(hold_begin, true);
    for (i = 0; i < JOBS; i++) {
        jobs[i] = new_job(i + 1);
        clr_worker_submit(worker, jobs[i]);
    }
    fake_set(hold_begin, false);
    fake_wait(&fake.begun, CLR_REDUCER_SLOTS, "jobs in all slots");
    fake_wait(&fake.finished, 1, "the first job to be waited for");
    tap_is_int64(fake_read(&fake.begun), CLR_REDUCER_SLOTS, "as many jobs as slots are begun");
    tap_ok(!clr_worker_poll(worker, jobs[0]) && !clr_worker_poll(worker, jobs[JOBS - 1]),
           "none has ended");
    /* From the middle, the end and the beginning of the queue. */
    tap_ok(clr_worker_collect(worker, jobs[5], LONG_MS) == CLR_JOB_IDLE, "one is taken back");
    tap_ok(clr_worker_collect(worker, jobs[JOBS - 1], LONG_MS) == CLR_JOB_IDLE, "the last one");
    tap_ok(clr_worker_collect(worker, jobs[CLR_REDUCER_SLOTS], LONG_MS) == CLR_JOB_IDLE,
           "the first one");
    clr_worker_submit(worker, jobs[JOBS - 1]);
    clr_worker_submit(worker, jobs[5]);
    fake_set(hold_finish, false);
    for (i = JOBS - 1; i >= 0; i--) {
        if (i != CLR_REDUCER_SLOTS)
            tap_ok(is_done(worker, jobs[i], i + 1), "job %d is done", i);
    }
    for (i = 0; i < JOBS; i++)
        clr_job_free(jobs[i]);
    tap_is_int64(fake_read(&fake.most_in_slots), CLR_REDUCER_SLOTS, "in all slots at a time");
    tap_is_int64(fake_read(&fake.begun), JOBS - 1, "and nothing was begun that was taken back");
    stop(worker);
}

/* What fails in the middle fails with all that is queued, and what was done stays done. */
static void test_job_failure(bool at_begin)
{
    enum { JOBS = 10, GOOD = 3 };
    struct clr_worker *worker = start();
    struct clr_worker_report report;
    struct clr_job *jobs[JOBS];
    int i, done = 0, failed = 0;

    make_ready(worker);
    fake_set(hold_begin, true); /* so that all are queued before the first ends */
    if (at_begin)
        fake_set(begin_fails_after, GOOD);
    else
        fake_set(finish_fails_after, GOOD);
    for (i = 0; i < JOBS; i++) {
        jobs[i] = new_job(i);
        clr_worker_submit(worker, jobs[i]);
    }
    fake_set(hold_begin, false);
    for (i = 0; i < JOBS; i++) {
        bool ended = polls(worker, jobs[i]);
        enum clr_job_phase phase = clr_worker_collect(worker, jobs[i], LONG_MS);
        int64_t sum;
        if (phase == CLR_JOB_DONE)
            done += ended && clr_int192_to_int64(&jobs[i]->state.sum.integer, &sum) && sum == i;
        else
            failed += ended && phase == CLR_JOB_FAILED && jobs[i]->status.error == -5;
        clr_job_free(jobs[i]);
    }
    tap_ok(done <= GOOD && done + failed == JOBS, "%s fails: %d jobs done, %d failed",
           at_begin ? "a beginning" : "a finish", done, failed);
    tap_ok(at_begin || done == GOOD, "those before it were done");
    clr_worker_report(worker, &report);
    tap_ok(report.failed && report.status.error == -5, "the device is out of use");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_INTEGER) == CLR_FAILED, "for good");
    stop(worker);
}

/* Submits a job, of which only that failure or its answer may become something. */
static enum clr_job_phase run_job(struct clr_worker *worker)
{
    struct clr_job *job = new_job(7);
    enum clr_job_phase phase;

    clr_worker_submit(worker, job);
    phase = polls(worker, job) ? clr_worker_collect(worker, job, LONG_MS) : CLR_JOB_RUNNING;
    if (phase == CLR_JOB_FAILED && job->status.error != -5)
        phase = CLR_JOB_RUNNING;
    clr_job_free(job);
    return phase;
}

/* What a device is short of for a moment costs one job, and not the device. */
static void test_shortage(bool at_begin)
{
    const char *where = at_begin ? "a beginning" : "a finish";
    struct clr_worker *worker = start();
    struct clr_worker_report report;
    int round, i, as_expected = 0;

    make_ready(worker);
    fake_set(passes, true);
    fake_set(failures, 0);
    if (at_begin)
        fake_set(begin_fails_after, 0);
    else
        fake_set(finish_fails_after, 0);
    for (round = 0; round < 4; round++) {
        fake_set(failures, 2);
        for (i = 0; i < 2; i++)
            as_expected += run_job(worker) == CLR_JOB_FAILED;
        as_expected += run_job(worker) == CLR_JOB_DONE;
    }
    tap_is_int64(as_expected, 12, "%s that fails for a moment: one job is the host's", where);
    clr_worker_report(worker, &report);
    tap_ok(!report.failed && report.status.error == -5, "which is reported, and no more");
    fake_set(failures, FAKE_NEVER);
    for (i = 0; i < 3; i++)
        run_job(worker);
    clr_worker_report(worker, &report);
    tap_ok(report.failed && report.status.code == CLR_DEVICE,
           "three times with nothing done in between: the device is lost");
    stop(worker);
}

/* A build that fails for want of something is tried again, at longer and longer intervals. */
static void test_build_shortage(void)
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

/* A device that does not answer: nobody waits longer than he says, and nothing is freed too early.
 */
static void test_hang(void)
{
    struct clr_worker *worker = start();
    struct clr_job *running[CLR_REDUCER_SLOTS], *queued = new_job(5), *late = new_job(6);
    struct clr_worker_report report;
    int64_t before, took;
    int i;

    make_ready(worker);
    fake_set(hold_finish, true);
    fake_set(hold_begin, true); /* until all are queued: a worker that waits begins nothing */
    for (i = 0; i < CLR_REDUCER_SLOTS; i++) {
        running[i] = new_job(i);
        clr_worker_submit(worker, running[i]);
    }
    fake_set(hold_begin, false);
    fake_wait(&fake.begun, CLR_REDUCER_SLOTS, "jobs in all slots");
    fake_wait(&fake.finished, 1, "a job to be waited for");
    clr_worker_submit(worker, queued);
    before = clr_clock_ns();
    tap_ok(clr_worker_collect(worker, running[0], SHORT_MS) == CLR_JOB_RUNNING,
           "a device that does not answer");
    took = (clr_clock_ns() - before) / 1000000;
    tap_ok(took >= SHORT_MS && took < SHORT_MS + 5000, "is waited for for %d ms", (int)took);
    clr_worker_report(worker, &report);
    tap_ok(report.failed && report.status.code == CLR_DEVICE, "and counts as failed");
    tap_is_string(report.status.message, "the device did not answer within 100 ms",
                  "which is reported");
    tap_ok(clr_worker_poll(worker, queued) && queued->phase == CLR_JOB_FAILED,
           "what was queued behind it fails");
    clr_worker_submit(worker, late);
    tap_ok(clr_worker_poll(worker, late) && late->phase == CLR_JOB_FAILED, "what comes later too");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_INTEGER) == CLR_FAILED, "it is not ready");
    clr_job_free(queued);
    clr_job_free(late);

    /* Given up while it runs; and, below, given up after the device has answered after all. */
    clr_worker_abandon(worker, running[0]);
    fake_set(hold_finish, false);
    for (i = 1; i < CLR_REDUCER_SLOTS; i++) {
        tap_ok(polls(worker, running[i]), "the device answers late");
        clr_worker_abandon(worker, running[i]);
    }
    stop(worker);
}

/* The end of the process: what runs is finished, what is queued fails, a hang is left behind. */
static void test_stop(void)
{
    struct clr_worker *worker = start();
    struct clr_job *jobs[CLR_REDUCER_SLOTS + 2];
    int64_t before;
    int i, done = 0, failed = 0;

    make_ready(worker);
    fake_set(hold_finish, true);
    for (i = 0; i < CLR_REDUCER_SLOTS + 2; i++) {
        jobs[i] = new_job(i);
        clr_worker_submit(worker, jobs[i]);
    }
    fake_wait(&fake.finished, 1, "a job to be waited for");
    before = clr_clock_ns();
    tap_ok(!clr_worker_stop(worker, SHORT_MS), "a hanging worker does not end");
    tap_ok(clr_clock_ns() - before < (int64_t)5000 * 1000000, "and is not waited for long");
    fake_set(hold_finish, false);
    tap_ok(clr_worker_stop(worker, LONG_MS), "it ends when the device answers");
    for (i = 0; i < CLR_REDUCER_SLOTS + 2; i++) {
        enum clr_job_phase phase = clr_worker_collect(worker, jobs[i], LONG_MS);
        done += phase == CLR_JOB_DONE;
        failed += phase == CLR_JOB_FAILED;
        clr_job_free(jobs[i]);
    }
    tap_ok(done >= 1 && done + failed == CLR_REDUCER_SLOTS + 2, "%d jobs done, %d failed", done,
           failed);
    tap_ok(clr_worker_readiness(worker, CLR_DOT, CLR_REAL) == CLR_FAILED, "it serves no more");
    tap_ok(clr_worker_stop(worker, LONG_MS), "and may be asked to end again");

    worker = start();
    fake_set(hold_build, true);
    clr_worker_readiness(worker, CLR_SUM, CLR_REAL);
    fake_wait(&fake.built, 1, "a build");
    tap_ok(!clr_worker_stop(worker, SHORT_MS), "a worker that is building ends after that");
    fake_set(hold_build, false);
    tap_ok(clr_worker_stop(worker, LONG_MS), "and not before");
}

static void test_memory(void)
{
    struct clr_worker_report report;
    struct clr_status status;
    struct clr_worker *worker;
    int after;

    clr_memory_fail_after(0);
    clr_status_clear(&status);
    tap_ok(clr_worker_start(&info, &status) == NULL && status.code == CLR_NOMEM,
           "no worker without memory");
    for (after = 0; after < 2; after++) {
        clr_memory_fail_after(after);
        tap_ok(clr_job_new(CLR_SUM, CAPACITY) == NULL, "no job without memory");
    }
    clr_memory_fail_after(-1);

    fake_set(hold_open, true);
    worker = start();
    fake_wait(&fake.opened, 1, "the opening");
    clr_memory_fail_after(0);
    fake_set(hold_open, false);
    do {
        usleep(1000);
        clr_worker_report(worker, &report);
    } while (report.status.code == CLR_OK);
    tap_ok(report.status.code == CLR_NOMEM && !report.failed && clr_worker_is_starting(worker),
           "a device that gets no memory is not given up");
    clr_memory_fail_after(-1);
    tap_ok(settle_readiness(worker, CLR_SUM, CLR_REAL) == CLR_READY, "it is opened later");
    stop(worker);
}

/* Owners in several threads: each gets its own answers. */
static struct clr_worker *shared;

static void *own_jobs(void *argument)
{
    int64_t base = *(int *)argument * 1000000;
    intptr_t wrong = 0;
    int i;

    for (i = 0; i < 300; i++) {
        struct clr_job *first = new_job(base + i), *second = new_job(-base - i);
        enum clr_job_phase phase;
        int64_t sum;
        clr_worker_submit(shared, first);
        clr_worker_submit(shared, second);
        phase = clr_worker_collect(shared, second, LONG_MS);
        if (phase == CLR_JOB_DONE)
            wrong += !clr_int192_to_int64(&second->state.sum.integer, &sum) || sum != -base - i;
        else
            wrong += phase != CLR_JOB_IDLE;
        wrong += !polls(shared, first) || !is_done(shared, first, base + i);
        clr_job_free(first);
        clr_job_free(second);
    }
    return (void *)wrong;
}

static void test_owners(void)
{
    enum { OWNERS = 4 };
    pthread_t threads[OWNERS];
    int numbers[OWNERS], i;
    intptr_t wrong = 0;

    shared = start();
    make_ready(shared);
    for (i = 0; i < OWNERS; i++) {
        numbers[i] = i + 1;
        if (pthread_create(&threads[i], NULL, own_jobs, &numbers[i]) != 0)
            tap_bail("no thread");
    }
    for (i = 0; i < OWNERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong += (intptr_t)result;
    }
    tap_is_int64(wrong, 0, "jobs of %d threads", OWNERS);
    stop(shared);
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
static void test_rest(void)
{
    struct clr_worker *worker = start();
    pthread_t thread;

    fake_set(hold_build, true);
    clr_worker_readiness(worker, CLR_SUM, CLR_INTEGER);
    fake_wait(&fake.built, 1, "a build");
    clr_worker_readiness(worker, CLR_SUM, CLR_REAL);
    clr_worker_readiness(worker, CLR_DOT, CLR_REAL);
    if (pthread_create(&thread, NULL, release_build, NULL) != 0)
        tap_bail("no thread");
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

int main(void)
{
    test_readiness();
    test_rest();
    test_build_failure();
    test_self_test_failure();
    test_open_failure();
    test_queue();
    test_job_failure(true);
    test_job_failure(false);
    test_shortage(true);
    test_shortage(false);
    test_build_shortage();
    test_hang();
    test_stop();
    test_memory();
    test_owners();
    return tap_done();
}
