/*
 * A reduction: one aggregate's way from values to a state. Values are appended to a chunk; full
 * chunks go to a device where one is ready, and are reduced by the calling thread where none is.
 */
#ifndef CLR_ENGINE_REDUCTION_H
#define CLR_ENGINE_REDUCTION_H

#include "base/settings.h"
#include "base/stats.h"
#include "base/status.h"
#include "engine/operations/request.h"
#include "numeric/exact/operation.h"
#include "numeric/order/kept.h"
#include "numeric/states/state.h"

/*
 * A chunk's reduction on a device. The chunk is lent: its owner gets it back when the task has
 * ended, or is taken back; in the meantime both may read it, and nobody writes to it.
 */
struct clr_job {
    struct clr_request request;
    struct clr_chunk *chunk; /* NULL: its owner has it back */
    unsigned elements;       /* the element types to reduce: bits 1 << element */
    bool is_begun;
    struct clr_state state;                  /* the result, when DONE */
    struct clr_sum more[CLR_MOST_TERMS - 1]; /* the state's further sums */
};

/* Returns a job for a worker, with one reference, or NULL without memory. It frees a chunk that it
   still has with the last reference. */
struct clr_job *clr_job_new(struct clr_worker *worker, struct clr_chunk *chunk, unsigned elements);

/* What a pool keeps at the most: enough for a query with several aggregates. */
enum { CLR_KEPT_REDUCTIONS = 16, CLR_KEPT_CHUNKS = 8 };

/*
 * The reductions of one connection, and the memory they hand on to each other, so that a query of
 * many small groups does not allocate for each. Used by one thread at a time.
 */
struct clr_pool {
    const struct clr_settings *settings; /* the connection's, which outlives the pool */
    struct clr_stats *stats;
    struct clr_reduction *free; /* with the chunk that each was filling */
    int free_count;
    struct clr_chunk *free_chunks[CLR_KEPT_CHUNKS];
    int free_chunk_count;
};

struct clr_reduction {
    struct clr_reduction *next; /* in the pool's list */
    struct clr_pool *pool;
    enum clr_operation operation;
    struct clr_chunk *filling; /* which the feed points into, or NULL */
    size_t pitch;              /* its capacity: from a pair's first operand to its second */
    int in_flight;
    struct clr_job *flight[CLR_CHUNKS_IN_FLIGHT_LIMIT];
    /* Complete after clr_reduction_settle(); counts and sums may be corrected at any time. */
    struct clr_state state;
    struct clr_sum more[CLR_MOST_TERMS - 1]; /* the state's further sums */
};

/* Frees what the pool keeps. No reduction may be in use. */
void clr_pool_free(struct clr_pool *pool);

/* Returns a reduction of no values, or NULL without memory. */
struct clr_reduction *clr_reduction_begin(struct clr_pool *pool, enum clr_operation operation);

/*
 * Makes room for at least one value of each element type: takes a first chunk, or hands on the
 * one that is filled. The values handed on are counted in state: each as a row, the reals as
 * non_integers. Returns CLR_OK, or CLR_NOMEM with the feed emptied.
 */
enum clr_code clr_reduction_make_room(struct clr_reduction *reduction, struct clr_feed *feed);

/*
 * Brings all values into state: reduces the last chunk here, and waits for those in flight, or
 * does their work if the device has not begun with it. Launches nothing. The feed is emptied.
 */
void clr_reduction_settle(struct clr_reduction *reduction, struct clr_feed *feed);

/*
 * Ends the reduction, with or without having settled it. Waits only for a chunk that a device is
 * working on.
 */
void clr_reduction_end(struct clr_reduction *reduction);

#endif
