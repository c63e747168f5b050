/* The jobs of a worker, on a made-up device that waits, fails and hangs. */
#include "engine/jobs.h"

/* All slots are used; jobs come back in any order, and those not begun can be taken back. */
TAP_TEST(test_queue)
{
    enum { JOBS = 8 };
    struct clr_worker *worker = start();
    struct clr_job *jobs[JOBS];

    make_ready(worker);
    fake_set(hold_finish, true);
    fake_set(hold_begin, true);
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = new_job(worker, i + 1);
        submit(jobs[i]);
    }
    fake_set(hold_begin, false);
    fake_wait(&fake.begun, CLR_REDUCER_SLOTS, "jobs in all slots");
    fake_wait(&fake.finished, 1, "the first job to be waited for");
    tap_is_int64(fake_read(&fake.begun), CLR_REDUCER_SLOTS, "as many jobs as slots are begun");
    tap_ok(!has_ended(jobs[0]) && !has_ended(jobs[JOBS - 1]), "none has ended");
    /* From the middle, the end and the beginning of the queue. */
    tap_ok(collect(jobs[5], LONG_MS) == CLR_TASK_IDLE, "one is taken back");
    tap_ok(collect(jobs[JOBS - 1], LONG_MS) == CLR_TASK_IDLE, "the last one");
    tap_ok(collect(jobs[CLR_REDUCER_SLOTS], LONG_MS) == CLR_TASK_IDLE, "the first one");
    submit(jobs[JOBS - 1]);
    submit(jobs[5]);
    fake_set(hold_finish, false);
    for (int i = JOBS - 1; i >= 0; i--) {
        if (i != CLR_REDUCER_SLOTS)
            tap_ok(is_done(jobs[i], i + 1), "job %d is done", i);
    }
    for (int i = 0; i < JOBS; i++)
        drop(jobs[i]);
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
    int done = 0, failed = 0;

    make_ready(worker);
    fake_set(hold_begin, true); /* so that all are queued before the first ends */
    if (at_begin)
        fake_set(begin_fails_after, GOOD);
    else
        fake_set(finish_fails_after, GOOD);
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = new_job(worker, i);
        submit(jobs[i]);
    }
    fake_set(hold_begin, false);
    for (int i = 0; i < JOBS; i++) {
        bool ended = polls(jobs[i]);
        enum clr_task_phase phase = collect(jobs[i], LONG_MS);
        int64_t sum;
        if (phase == CLR_TASK_DONE)
            done += ended && clr_int192_to_int64(&jobs[i]->state.sum.integer, &sum) && sum == i;
        else
            failed += ended && phase == CLR_TASK_FAILED && jobs[i]->request.task.status.error == -5;
        drop(jobs[i]);
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
static enum clr_task_phase run_job(struct clr_worker *worker)
{
    struct clr_job *job = new_job(worker, 7);
    enum clr_task_phase phase;

    submit(job);
    phase = polls(job) ? collect(job, LONG_MS) : CLR_TASK_PENDING;
    if (phase == CLR_TASK_FAILED && job->request.task.status.error != -5)
        phase = CLR_TASK_PENDING;
    drop(job);
    return phase;
}

/* What a device is short of for a moment costs one job, and not the device. */
static void test_shortage(bool at_begin)
{
    const char *where = at_begin ? "a beginning" : "a finish";
    struct clr_worker *worker = start();
    struct clr_worker_report report;
    int as_expected = 0;

    make_ready(worker);
    fake_set(passes, true);
    fake_set(failures, 0);
    if (at_begin)
        fake_set(begin_fails_after, 0);
    else
        fake_set(finish_fails_after, 0);
    for (int round = 0; round < 4; round++) {
        fake_set(failures, 2);
        for (int i = 0; i < 2; i++)
            as_expected += run_job(worker) == CLR_TASK_FAILED;
        as_expected += run_job(worker) == CLR_TASK_DONE;
    }
    tap_is_int64(as_expected, 12, "%s that fails for a moment: one job is the host's", where);
    clr_worker_report(worker, &report);
    tap_ok(!report.failed && report.status.error == -5, "which is reported, and no more");
    fake_set(failures, FAKE_NEVER);
    for (int i = 0; i < 3; i++)
        run_job(worker);
    clr_worker_report(worker, &report);
    tap_ok(report.failed && report.status.code == CLR_DEVICE,
           "three times with nothing done in between: the device is lost");
    stop(worker);
}

/* A device that does not answer: nobody waits longer than he says, and nothing is freed too early.
 */
TAP_TEST(test_hang)
{
    struct clr_worker *worker = start();
    struct clr_job *running[CLR_REDUCER_SLOTS], *queued = new_job(worker, 5), *late;
    struct clr_worker_report report;
    int64_t before, took;

    make_ready(worker);
    fake_set(hold_finish, true);
    fake_set(hold_begin, true); /* until all are queued: a worker that waits begins nothing */
    for (int i = 0; i < CLR_REDUCER_SLOTS; i++) {
        running[i] = new_job(worker, i);
        submit(running[i]);
    }
    before = clr_clock_ns(); /* the time counts from the last that the device has done */
    fake_set(hold_begin, false);
    fake_wait(&fake.begun, CLR_REDUCER_SLOTS, "jobs in all slots");
    fake_wait(&fake.finished, 1, "a job to be waited for");
    submit(queued);
    tap_ok(collect(running[0], SHORT_MS) == CLR_TASK_FAILED && !has_ended(running[0]),
           "a device that does not answer");
    took = (clr_clock_ns() - before) / 1000000;
    tap_ok(took >= SHORT_MS && took < SHORT_MS + 5000, "is waited for for %d ms", (int)took);
    clr_worker_report(worker, &report);
    tap_ok(report.failed && report.status.code == CLR_DEVICE, "and counts as failed");
    tap_is_string(report.status.message, "the device did not answer within 100 ms",
                  "which is reported");
    tap_ok(has_ended(queued) && queued->request.task.phase == CLR_TASK_FAILED,
           "what was queued behind it fails");
    late = new_job(worker, 6);
    tap_ok(!submit(late), "what comes later is not taken");
    tap_ok(clr_worker_readiness(worker, CLR_SUM, CLR_INTEGER) == CLR_FAILED, "it is not ready");
    drop(queued);
    drop(late);

    /* Given up while it runs; the others after they have failed with the device. */
    drop(running[0]);
    for (int i = 1; i < CLR_REDUCER_SLOTS; i++) {
        tap_ok(has_ended(running[i]), "nobody waits for what was begun");
        drop(running[i]);
    }
    fake_set(hold_finish, false);
    stop(worker);
}

/* Owners in several threads: each gets its own answers. */
static struct clr_worker *shared;

static void *own_jobs(void *argument)
{
    int64_t base = *(int *)argument * 1000000;
    intptr_t wrong = 0;

    for (int i = 0; i < 300; i++) {
        struct clr_job *first = new_job(shared, base + i), *second = new_job(shared, -base - i);
        enum clr_task_phase phase;
        int64_t sum;
        submit(first);
        submit(second);
        phase = collect(second, LONG_MS);
        if (phase == CLR_TASK_DONE)
            wrong += !clr_int192_to_int64(&second->state.sum.integer, &sum) || sum != -base - i;
        else
            wrong += phase != CLR_TASK_IDLE;
        wrong += !polls(first) || !is_done(first, base + i);
        drop(first);
        drop(second);
    }
    return (void *)wrong;
}

TAP_TEST(test_owners)
{
    enum { OWNERS = 4 };
    pthread_t threads[OWNERS];
    int numbers[OWNERS];
    intptr_t wrong = 0;

    shared = start();
    make_ready(shared);
    for (int i = 0; i < OWNERS; i++) {
        numbers[i] = i + 1;
        TAP_NEED(pthread_create(&threads[i], NULL, own_jobs, &numbers[i]) == 0, "no thread");
    }
    for (int i = 0; i < OWNERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        wrong += (intptr_t)result;
    }
    tap_is_int64(wrong, 0, "jobs of %d threads", OWNERS);
    stop(shared);
}

TAP_TEST(test_failures)
{
    test_job_failure(true);
    test_job_failure(false);
    test_shortage(true);
    test_shortage(false);
}
