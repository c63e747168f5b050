#include "engine/rows/reduction.h"

#include "base/memory.h"
#include "engine/worker/runtime.h"
#include "numeric/scan/host_reduce.h"

#include <string.h>
#include <strings.h>

/* What a pool keeps at the most: enough for a query with several aggregates. */
enum { KEPT_REDUCTIONS = 8, KEPT_JOBS = 8 };

void clr_pool_init(struct clr_pool *pool, const struct clr_settings *settings,
                   struct clr_stats *stats)
{
    memset(pool, 0, sizeof *pool);
    pool->settings = settings;
    pool->stats = stats;
}

static void free_reduction(struct clr_reduction *reduction)
{
    if (reduction->filling != NULL)
        clr_job_free(reduction->filling);
    clr_memory_free(reduction);
}

void clr_pool_free(struct clr_pool *pool)
{
    size_t i;

    for (i = 0; i < 2; i++) {
        while (pool->free_reductions[i] != NULL) {
            struct clr_reduction *reduction = pool->free_reductions[i];
            pool->free_reductions[i] = reduction->next;
            free_reduction(reduction);
        }
        while (pool->free_jobs[i] != NULL) {
            struct clr_job *job = pool->free_jobs[i];
            pool->free_jobs[i] = job->next;
            clr_job_free(job);
        }
    }
}

struct clr_reduction *clr_reduction_begin(struct clr_pool *pool, enum clr_operation operation)
{
    size_t list = clr_operation_width(operation) - 1;
    struct clr_reduction *reduction = pool->free_reductions[list];

    if (reduction != NULL) {
        pool->free_reductions[list] = reduction->next;
        pool->free_reduction_count[list]--;
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

/* Whether a job's chunk can serve under the present settings, which may have changed. */
static bool fits_settings(const struct clr_pool *pool, const struct clr_job *job)
{
    return job->chunk->capacity == (size_t)pool->settings->chunk_size;
}

static struct clr_job *take_job(struct clr_reduction *reduction)
{
    struct clr_pool *pool = reduction->pool;
    size_t width = clr_operation_width(reduction->operation);
    struct clr_job *job;

    while ((job = pool->free_jobs[width - 1]) != NULL) {
        pool->free_jobs[width - 1] = job->next;
        pool->free_job_count[width - 1]--;
        if (fits_settings(pool, job))
            return job;
        clr_job_free(job);
    }
    return clr_job_new(reduction->operation, (size_t)pool->settings->chunk_size);
}

static void return_job(struct clr_reduction *reduction, struct clr_job *job)
{
    struct clr_pool *pool = reduction->pool;
    size_t width = clr_operation_width(reduction->operation);

    if (pool->free_job_count[width - 1] == KEPT_JOBS) {
        clr_job_free(job);
        return;
    }
    job->next = pool->free_jobs[width - 1];
    pool->free_jobs[width - 1] = job;
    pool->free_job_count[width - 1]++;
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

/* Takes over what became of a job that is the reduction's again. */
static void take_answer(struct clr_reduction *reduction, struct clr_job *job,
                        enum clr_job_phase phase)
{
    struct clr_stats *stats = reduction->pool->stats;

    if (phase == CLR_JOB_DONE) {
        /* A device counts no rows: that was done when the chunk was handed on. */
        clr_state_merge(&reduction->state, &job->state);
        clr_stats_count_work(stats, &job->work, 1);
    } else if (phase == CLR_JOB_FAILED) {
        clr_stats_note_failure(stats, &job->status);
        reduce_here(reduction, job->chunk, job->elements, CLR_HOST_FAILED);
    } else {
        reduce_here(reduction, job->chunk, job->elements, CLR_HOST_BUSY);
    }
    job->phase = CLR_JOB_IDLE;
    return_job(reduction, job);
}

static void collect_answered(struct clr_reduction *reduction)
{
    int i = 0;

    if (clr_runtime_forked())
        return;
    while (i < reduction->in_flight) {
        struct clr_job *job = reduction->flight[i].job;
        if (clr_worker_poll(reduction->flight[i].worker, job)) {
            reduction->flight[i] = reduction->flight[--reduction->in_flight];
            take_answer(reduction, job, job->phase);
        } else {
            i++;
        }
    }
}

static void collect_all(struct clr_reduction *reduction)
{
    struct clr_pool *pool = reduction->pool;
    struct clr_worker_report report;

    while (reduction->in_flight > 0) {
        /* The newest first: it is the likeliest not to have been begun. */
        struct clr_worker *worker = reduction->flight[--reduction->in_flight].worker;
        struct clr_job *job = reduction->flight[reduction->in_flight].job;
        enum clr_job_phase phase;

        if (clr_runtime_forked()) {
            /* Nobody else exists here that could touch the job. */
            reduce_here(reduction, job->chunk, job->elements, CLR_HOST_FORKED);
            clr_job_free(job);
            continue;
        }
        phase = clr_worker_collect(worker, job, pool->settings->device_timeout);
        if (phase != CLR_JOB_RUNNING) {
            take_answer(reduction, job, phase);
            continue;
        }
        clr_worker_report(worker, &report);
        clr_stats_note_failure(pool->stats, &report.status);
        reduce_here(reduction, job->chunk, job->elements, CLR_HOST_FAILED);
        clr_worker_abandon(worker, job);
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
        switch (find_programs(worker, reduction->operation, (enum clr_element)element)) {
        case CLR_READY:
            break;
        case CLR_STARTING:
            *reason = CLR_HOST_STARTING;
            worker = NULL;
            break;
        default:
            *reason = CLR_HOST_FAILED;
            return NULL;
        }
        if (worker == NULL)
            return NULL;
    }
    if (reduction->in_flight >= settings->chunks_in_flight) {
        *reason = CLR_HOST_BUSY;
        return NULL;
    }
    return worker;
}

/* Counts the filling chunk's values. */
static void close_chunk(struct clr_reduction *reduction, const struct clr_feed *feed)
{
    struct clr_chunk *chunk = reduction->filling->chunk;
    size_t reals = (size_t)(feed->real - chunk->real);
    size_t integers = (size_t)(feed->integer - chunk->integer);

    chunk->count[CLR_REAL] = reals;
    chunk->count[CLR_INTEGER] = integers;
    reduction->state.count += (int64_t)(reals + integers);
    reduction->state.non_integers += (int64_t)reals;
    reduction->pool->stats->values_fed += (int64_t)(reals + integers);
}

/* Sends a full chunk on its way, or reduces it here; then it can be filled again. */
static void dispatch(struct clr_reduction *reduction)
{
    struct clr_job *job = reduction->filling;
    size_t threshold = (size_t)reduction->pool->settings->host_threshold;
    enum clr_host_reason reason = CLR_HOST_BUSY;
    struct clr_worker *worker;
    unsigned large = 0, small = 0;
    int element;

    for (element = 0; element < CLR_ELEMENTS; element++) {
        size_t count = job->chunk->count[element];
        if (count >= threshold)
            large |= 1u << element;
        else if (count > 0)
            small |= 1u << element;
    }
    collect_answered(reduction);
    if (small != 0)
        reduce_here(reduction, job->chunk, small, CLR_HOST_BELOW_THRESHOLD);
    if (large == 0)
        return;
    worker = find_worker(reduction, large, &reason);
    if (worker == NULL) {
        reduce_here(reduction, job->chunk, large, reason);
        return;
    }
    job->elements = large;
    reduction->flight[reduction->in_flight].job = job;
    reduction->flight[reduction->in_flight].worker = worker;
    reduction->in_flight++;
    reduction->filling = NULL;
    clr_worker_submit(worker, job);
}

enum clr_code clr_reduction_make_room(struct clr_reduction *reduction, struct clr_feed *feed)
{
    struct clr_chunk *chunk;

    if (feed->real != NULL) {
        close_chunk(reduction, feed);
        dispatch(reduction);
        memset(feed, 0, sizeof *feed);
    }
    if (reduction->filling != NULL && !fits_settings(reduction->pool, reduction->filling)) {
        clr_job_free(reduction->filling);
        reduction->filling = NULL;
    }
    if (reduction->filling == NULL)
        reduction->filling = take_job(reduction);
    if (reduction->filling == NULL)
        return CLR_NOMEM;
    chunk = reduction->filling->chunk;
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
        chunk = reduction->filling->chunk;
        close_chunk(reduction, feed);
        reduce_here(reduction, chunk, present(chunk), CLR_HOST_REMAINDER);
        memset(feed, 0, sizeof *feed);
    }
    if (reduction->in_flight > 0)
        collect_all(reduction);
}

bool clr_reduction_settle_few(struct clr_reduction *reduction, struct clr_feed *feed, double *sum)
{
    struct clr_stats *stats = reduction->pool->stats;
    const struct clr_chunk *chunk;
    size_t count;

    /* The state counts what has gone to it, or to a device. */
    if (feed->real == NULL || reduction->operation != CLR_SUM || reduction->state.count != 0)
        return false;
    chunk = reduction->filling->chunk;
    count = (size_t)(feed->real - chunk->real);
    if (feed->integer != chunk->integer || count == 0 || !clr_host_sum_few(chunk->real, count, sum))
        return false;
    stats->values_fed += (int64_t)count;
    stats->on_host[CLR_HOST_REMAINDER]++;
    memset(feed, 0, sizeof *feed);
    return true;
}

void clr_reduction_end(struct clr_reduction *reduction)
{
    struct clr_pool *pool = reduction->pool;
    size_t list = clr_operation_width(reduction->operation) - 1;

    if (reduction->in_flight > 0)
        collect_all(reduction);
    if (pool->free_reduction_count[list] == KEPT_REDUCTIONS) {
        free_reduction(reduction);
        return;
    }
    reduction->next = pool->free_reductions[list];
    pool->free_reductions[list] = reduction;
    pool->free_reduction_count[list]++;
}
