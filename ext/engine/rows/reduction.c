#include "engine/rows/reduction.h"

#include "base/memory.h"
#include "engine/worker/runtime.h"
#include "numeric/scan/host_reduce.h"
#include "opencl/reduction/reducer.h"

#include <string.h>
#include <strings.h>

/* ---- A chunk's reduction on a device. */

static void clear_job(struct clr_task *task)
{
    clr_memory_free(((struct clr_job *)(void *)task)->chunk);
}

/* The place is the device's slot. */
static bool step_job(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct clr_job *job = (struct clr_job *)(void *)task;

    if (!job->is_begun) {
        job->is_begun = true;
        task->is_under_way =
            clr_reducer_begin(device, task->place, job->chunk, job->elements, status) == CLR_OK;
        return task->is_under_way;
    }
    clr_state_clear(&job->state);
    clr_state_extend(&job->state, job->more, clr_operation_more(job->chunk->operation));
    clr_reducer_finish(device, task->place, &job->state, &job->request.work, status);
    return false;
}

static const struct clr_request_kind job_kind = {
    .what = "a chunk's reduction", .turn = CLR_TASK_JOB, .step = step_job, .clear = clear_job};

struct clr_job *clr_job_new(struct clr_worker *worker, struct clr_chunk *chunk, unsigned elements)
{
    struct clr_status status;
    struct clr_job *job = clr_request_new(&job_kind, sizeof *job, worker, NULL, &status);

    if (job == NULL)
        return NULL;
    job->chunk = chunk;
    job->elements = elements;
    return job;
}

/* ---- The pool. */

void clr_pool_free(struct clr_pool *pool)
{
    struct clr_reduction *reduction;

    while ((reduction = pool->free) != NULL) {
        pool->free = reduction->next;
        clr_memory_free(reduction->filling);
        clr_memory_free(reduction);
    }
    while (pool->free_chunk_count > 0)
        clr_memory_free(pool->free_chunks[--pool->free_chunk_count]);
}

struct clr_reduction *clr_reduction_begin(struct clr_pool *pool, enum clr_operation operation)
{
    struct clr_reduction *reduction = pool->free;

    if (reduction != NULL) {
        pool->free = reduction->next;
        pool->free_count--;
    } else {
        reduction = clr_memory_alloc(sizeof *reduction);
        if (reduction == NULL)
            return NULL;
        reduction->pool = pool;
        reduction->filling = NULL;
        reduction->in_flight = 0;
    }
    reduction->operation = operation;
    clr_state_clear(&reduction->state);
    if (clr_operation_more(operation) > 0)
        clr_state_extend(&reduction->state, reduction->more, clr_operation_more(operation));
    return reduction;
}

static void return_chunk(struct clr_pool *pool, struct clr_chunk *chunk)
{
    if (pool->free_chunk_count == CLR_KEPT_CHUNKS)
        clr_memory_free(chunk);
    else
        pool->free_chunks[pool->free_chunk_count++] = chunk;
}

/* Sees to it that there is a chunk to be filled, of the settings' size, which may have changed.
   Pairs fit into each. Returns false without memory. */
static bool find_chunk(struct clr_reduction *reduction)
{
    struct clr_pool *pool = reduction->pool;
    const size_t size = (size_t)pool->settings->chunk_size;

    while (reduction->filling != NULL || pool->free_chunk_count > 0) {
        if (reduction->filling == NULL)
            reduction->filling = pool->free_chunks[--pool->free_chunk_count];
        if (reduction->filling->capacity == size)
            return true;
        clr_memory_free(reduction->filling);
        reduction->filling = NULL;
    }
    reduction->filling = clr_chunk_new(CLR_PAIRS, size);
    return reduction->filling != NULL;
}

/* The mask of the element types that a chunk has values of. */
static unsigned present(const struct clr_chunk *chunk)
{
    return (chunk->count[CLR_REAL] > 0 ? 1u << CLR_REAL : 0) |
           (chunk->count[CLR_INTEGER] > 0 ? 1u << CLR_INTEGER : 0);
}

static void reduce_here(struct clr_reduction *reduction, const struct clr_chunk *chunk,
                        unsigned elements, enum clr_host_reason reason)
{
    int element;

    if (elements == 0)
        return;
    for (element = 0; element < CLR_ELEMENTS; element++) {
        if (elements & 1u << element)
            clr_host_reduce(chunk, (enum clr_element)element, &reduction->state);
    }
    reduction->pool->stats->on_host[reason]++;
}

static void count_work(struct clr_stats *stats, const struct clr_device_work *work)
{
    stats->chunks_to_device++;
    stats->bytes_to_device += work->bytes;
    stats->kernels_launched += work->kernels;
    stats->passes += work->passes;
    stats->transfer_time += work->transfer_time;
    stats->kernel_time += work->kernel_time;
}

/* Takes over what became of a job. A chunk that the worker may still read is left to it. */
static void take_answer(struct clr_reduction *reduction, struct clr_job *job,
                        enum clr_task_phase phase, const struct clr_status *status)
{
    struct clr_stats *stats = reduction->pool->stats;

    if (phase == CLR_TASK_DONE) {
        /* A device counts no rows: that was done when the chunk was handed on. */
        clr_state_merge(&reduction->state, &job->state);
        count_work(stats, &job->request.work);
    } else if (phase == CLR_TASK_FAILED) {
        clr_stats_note_failure(stats, status);
        reduce_here(reduction, job->chunk, job->elements, CLR_HOST_FAILED);
    } else {
        reduce_here(reduction, job->chunk, job->elements, CLR_HOST_BUSY);
    }
    if (phase == CLR_TASK_IDLE || clr_task_has_ended(&job->request.task)) {
        return_chunk(reduction->pool, job->chunk);
        job->chunk = NULL;
    }
    clr_request_release(&job->request);
}

static void collect_answered(struct clr_reduction *reduction)
{
    int i = 0;

    if (clr_runtime_forked())
        return;
    while (i < reduction->in_flight) {
        struct clr_job *job = reduction->flight[i];
        if (clr_task_has_ended(&job->request.task)) {
            reduction->flight[i] = reduction->flight[--reduction->in_flight];
            take_answer(reduction, job, job->request.task.phase, &job->request.task.status);
        } else {
            i++;
        }
    }
}

static void collect_all(struct clr_reduction *reduction)
{
    const int64_t timeout = reduction->pool->settings->device_timeout;
    struct clr_status status;

    while (reduction->in_flight > 0) {
        /* The newest first: it is the likeliest not to have been begun. */
        struct clr_job *job = reduction->flight[--reduction->in_flight];
        enum clr_task_phase phase;

        if (clr_runtime_forked()) {
            /* Nobody else exists here that could touch the job; its memory is the parent's. */
            reduce_here(reduction, job->chunk, job->elements, CLR_HOST_FORKED);
            continue;
        }
        clr_status_clear(&status);
        phase = clr_worker_await(job->request.worker, &job->request.task, timeout, NULL, &status);
        take_answer(reduction, job, phase, &status);
    }
}

/* Whether the worker has the programs for an operation's terms on one element type. */
static enum clr_readiness find_programs(struct clr_worker *worker, enum clr_operation operation,
                                        enum clr_element element)
{
    enum clr_readiness readiness = CLR_READY, one;
    int count, i;
    const struct clr_term *terms = clr_operation_terms(operation, &count);

    for (i = 0; i < count && readiness != CLR_FAILED; i++) {
        one = clr_worker_readiness(worker, terms[i].operation, element);
        if (one != CLR_READY)
            readiness = one;
    }
    return readiness;
}

/* Finds a worker that can take the element types in the mask now; else tells why there is none. */
static struct clr_worker *find_worker(struct clr_reduction *reduction, unsigned elements,
                                      enum clr_host_reason *reason)
{
    const struct clr_settings *settings = reduction->pool->settings;
    struct clr_worker *worker = NULL;
    enum clr_readiness readiness;
    int element;

    if (strcasecmp(settings->device, "host") == 0) {
        *reason = CLR_HOST_SETTING;
        return NULL;
    }
    if (strcasecmp(settings->device, "auto") == 0 && !clr_runtime_started() &&
        reduction->pool->stats->values_fed < settings->start_after) {
        *reason = CLR_HOST_EARLY;
        return NULL;
    }
    switch (clr_runtime_worker(settings->device, &worker)) {
    case CLR_AVAILABLE:
        break;
    case CLR_COMING:
        *reason = CLR_HOST_STARTING;
        return NULL;
    case CLR_FORKED:
        *reason = CLR_HOST_FORKED;
        return NULL;
    default:
        *reason = CLR_HOST_NO_DEVICE;
        return NULL;
    }
    for (element = 0; element < CLR_ELEMENTS; element++) {
        if (!(elements & 1u << element))
            continue;
        readiness = find_programs(worker, reduction->operation, (enum clr_element)element);
        if (readiness != CLR_READY) {
            *reason = readiness == CLR_STARTING ? CLR_HOST_STARTING : CLR_HOST_FAILED;
            return NULL;
        }
    }
    if (reduction->in_flight >= settings->chunks_in_flight) {
        *reason = CLR_HOST_BUSY;
        return NULL;
    }
    return worker;
}

/* Counts the filling chunk's values, and closes the feed. */
static inline void close_chunk(struct clr_reduction *reduction, struct clr_feed *feed)
{
    struct clr_chunk *chunk = reduction->filling;
    size_t reals = (size_t)(feed->real - chunk->real);
    size_t integers = (size_t)(feed->integer - chunk->integer);

    chunk->count[CLR_REAL] = reals;
    chunk->count[CLR_INTEGER] = integers;
    reduction->state.count += (int64_t)(reals + integers);
    reduction->state.non_integers += (int64_t)reals;
    reduction->pool->stats->values_fed += (int64_t)(reals + integers);
    memset(feed, 0, sizeof *feed);
}

/* Sends the filling chunk on its way. Returns false, with why not, if it is to be reduced here. */
static bool send(struct clr_reduction *reduction, unsigned elements, enum clr_host_reason *reason)
{
    struct clr_worker *worker = find_worker(reduction, elements, reason);
    struct clr_job *job;

    if (worker == NULL)
        return false;
    *reason = CLR_HOST_BUSY;
    job = clr_job_new(worker, reduction->filling, elements);
    if (job == NULL)
        return false;
    if (clr_worker_post(worker, &job->request.task) != CLR_READY) {
        *reason = CLR_HOST_FAILED;
        job->chunk = NULL;
        clr_request_release(&job->request);
        return false;
    }
    reduction->flight[reduction->in_flight++] = job;
    reduction->filling = NULL;
    return true;
}

/* Sends a full chunk on its way, or reduces it here; then it can be filled again. Not inlined: most
   groups have no full one. */
static __attribute__((noinline)) void dispatch(struct clr_reduction *reduction,
                                               struct clr_feed *feed)
{
    const struct clr_chunk *chunk = reduction->filling;
    size_t threshold = (size_t)reduction->pool->settings->host_threshold;
    enum clr_host_reason reason = CLR_HOST_BUSY;
    unsigned large = 0, small = 0;
    int element;

    close_chunk(reduction, feed);
    for (element = 0; element < CLR_ELEMENTS; element++) {
        size_t count = chunk->count[element];
        if (count >= threshold)
            large |= 1u << element;
        else if (count > 0)
            small |= 1u << element;
    }
    collect_answered(reduction);
    if (small != 0)
        reduce_here(reduction, chunk, small, CLR_HOST_BELOW_THRESHOLD);
    if (large != 0 && !send(reduction, large, &reason))
        reduce_here(reduction, chunk, large, reason);
}

enum clr_code clr_reduction_make_room(struct clr_reduction *reduction, struct clr_feed *feed)
{
    struct clr_chunk *chunk;

    if (feed->real != NULL)
        dispatch(reduction, feed);
    if (!find_chunk(reduction))
        return CLR_NOMEM;
    chunk = reduction->filling;
    chunk->operation = reduction->operation;
    reduction->pitch = chunk->capacity;
    feed->real = chunk->real;
    feed->real_end = chunk->real + chunk->capacity;
    feed->integer = chunk->integer;
    feed->integer_end = chunk->integer + chunk->capacity;
    return CLR_OK;
}

void clr_reduction_settle(struct clr_reduction *reduction, struct clr_feed *feed)
{
    const struct clr_chunk *chunk;

    if (feed->real != NULL) {
        chunk = reduction->filling;
        close_chunk(reduction, feed);
        reduce_here(reduction, chunk, present(chunk), CLR_HOST_REMAINDER);
    }
    if (reduction->in_flight > 0)
        collect_all(reduction);
}

void clr_reduction_end(struct clr_reduction *reduction)
{
    struct clr_pool *pool = reduction->pool;

    if (reduction->in_flight > 0)
        collect_all(reduction);
    if (pool->free_count == CLR_KEPT_REDUCTIONS) {
        clr_memory_free(reduction->filling);
        clr_memory_free(reduction);
        return;
    }
    reduction->next = pool->free;
    pool->free = reduction;
    pool->free_count++;
}
