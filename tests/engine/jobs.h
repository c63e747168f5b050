/* A worker on a made-up device, and jobs for it. */
#ifndef CLR_TESTS_JOBS_H
#define CLR_TESTS_JOBS_H

#include "base/clock.h"
#include "engine/fake_device.h"
#include "engine/rows/reduction.h"

#include <unistd.h>

enum { CAPACITY = 64, LONG_MS = 20000, SHORT_MS = 100 };

static const struct clr_device_info info = {.name = "made up"};

/* Workers live as long as the process, by contract; known here, so that they are no leaks. */
static struct clr_worker *workers[32];
static int worker_count;

/* A worker on a device that does as it should; `fake` tells otherwise afterwards. */
static inline struct clr_worker *start(void)
{
    struct clr_status status = {.code = CLR_OK};
    struct clr_worker *worker;

    fake_set(opened, 0);
    fake_set(built, 0);
    fake_set(tested, 0);
    fake_set(begun, 0);
    fake_set(finished, 0);
    fake_set(in_slots, 0);
    fake_set(most_in_slots, 0);
    worker = clr_worker_start(&info, &status);
    TAP_NEED(worker != NULL, "%s", status.message);
    workers[worker_count++] = worker;
    return worker;
}

static inline void reset_fake(void)
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

static inline void stop(struct clr_worker *worker)
{
    reset_fake();
    tap_ok(clr_worker_stop(worker, LONG_MS), "the worker ends when it is asked to");
}

/* Asks until the program is ready or has failed. */
static inline enum clr_readiness
settle_readiness(struct clr_worker *worker, enum clr_operation operation, enum clr_element element)
{
    int64_t start = clr_clock_ns();
    enum clr_readiness readiness;

    while ((readiness = clr_worker_readiness(worker, operation, element)) == CLR_STARTING) {
        TAP_NEED(clr_clock_ns() - start <= (int64_t)LONG_MS * 1000000,
                 "a program is neither ready nor failed");
        usleep(1000);
    }
    return readiness;
}

static inline void make_ready(struct clr_worker *worker)
{
    tap_ok(settle_readiness(worker, CLR_SUM, CLR_INTEGER) == CLR_READY, "the device is ready");
}

/* A job whose sum is `value`. */
static inline struct clr_job *new_job(struct clr_worker *worker, int64_t value)
{
    struct clr_chunk *chunk = clr_chunk_new(CLR_SUM, CAPACITY);
    struct clr_job *job = chunk == NULL ? NULL : clr_job_new(worker, chunk, 1u << CLR_INTEGER);

    TAP_NEED(job != NULL, "no memory");
    for (size_t i = 0; i < CAPACITY; i++)
        chunk->integer[i] = i == 0 ? value : 0;
    chunk->count[CLR_INTEGER] = CAPACITY;
    return job;
}

/* Hands a job over. Returns whether the worker takes it. */
static inline bool submit(struct clr_job *job)
{
    return clr_worker_post(job->request.worker, &job->request.task) == CLR_READY;
}

static inline bool has_ended(const struct clr_job *job)
{
    return clr_task_has_ended(&job->request.task);
}

/* Takes a job back, or waits for it. */
static inline enum clr_task_phase collect(struct clr_job *job, int64_t timeout_ms)
{
    struct clr_status status = {.code = CLR_OK};

    return clr_worker_await(job->request.worker, &job->request.task, timeout_ms, NULL, &status);
}

static inline void drop(struct clr_job *job)
{
    clr_request_release(&job->request);
}

/* Waits for a job's end without taking it back. */
static inline bool polls(const struct clr_job *job)
{
    int64_t start_time = clr_clock_ns();

    while (!has_ended(job)) {
        if (clr_clock_ns() - start_time > (int64_t)LONG_MS * 1000000)
            return false;
        usleep(1000);
    }
    return true;
}

/* Waits for a job, which must give that sum. */
static inline bool is_done(struct clr_job *job, int64_t value)
{
    int64_t sum;

    return polls(job) && collect(job, LONG_MS) == CLR_TASK_DONE &&
           clr_int192_to_int64(&job->state.sum.integer, &sum) && sum == value &&
           job->request.work.bytes == CAPACITY * 8 && job->request.work.kernels == 2;
}

#endif
