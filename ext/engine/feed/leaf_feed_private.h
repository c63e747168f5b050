/* What the threads that feed and the worker that serves them share: ext/engine alone. */
#ifndef CLR_ENGINE_LEAF_FEED_PRIVATE_H
#define CLR_ENGINE_LEAF_FEED_PRIVATE_H

#include "engine/feed/leaf_feed.h"

#include <pthread.h>

/* What a feed is worth at most: with so many threads the bus of a large machine is busy, and each
   has a stage to fill while another is under way. */
enum { CLR_FEED_THREADS = 12, CLR_FEED_STAGES_PER_THREAD = 2 };

_Static_assert((int)CLR_MOST_STAGES >= CLR_FEED_THREADS * CLR_FEED_STAGES_PER_THREAD,
               "a decoder has them all");

enum clr_feed_phase {
    CLR_FEED_BEGINNING, /* until the worker has looked at the device */
    CLR_FEED_REFUSED,   /* by the device, for now or for good: status */
    CLR_FEED_OPEN,
    CLR_FEED_SETTLING, /* no stages will come any more */
    CLR_FEED_SETTLED,
    CLR_FEED_FINISHING, /* nor rows */
    CLR_FEED_FINISHED,
    CLR_FEED_GIVEN_UP, /* by its owner, or since something failed: status */
};

/* Stages that wait for the same, first in, first out. */
struct clr_feed_line {
    int first, count;
    int numbers[CLR_MOST_STAGES];
};

/* Rows from the host. */
struct clr_host_rows {
    struct clr_host_rows *next;
    int column;
    size_t first, count;
    uint8_t *tags;
    int64_t values[];
};

struct clr_leaf_feed {
    struct clr_task task;
    struct clr_worker *worker;
    int64_t timeout_ms;
    struct clr_feed_setup setup;
    struct clr_field fields[CLR_MOST_COLUMNS]; /* the setup's */
    struct clr_cell_want wants[CLR_MOST_COLUMNS];
    struct clr_resident *residents[CLR_MOST_COLUMNS];
    int stage_count;
    struct clr_leaf_place *places; /* of all stages */
    uint8_t *skipped;              /* of all leaves */

    pthread_mutex_t lock;
    pthread_cond_t idled;   /* a stage is idle, or the phase is another */
    pthread_cond_t turned;  /* the phase is another */
    pthread_cond_t arrived; /* there is something for the worker */
    enum clr_feed_phase phase;
    struct clr_feed_line idle, full;
    int taken; /* stages that threads have: their memory is theirs until they hand them over */
    struct clr_host_rows *host_rows;
    size_t rows; /* of the whole, from CLR_FEED_FINISHING on */
    unsigned tags[CLR_MOST_COLUMNS];
    bool is_final;    /* what it was CLR_FEED_REFUSED for */
    bool is_unsuited; /* why it was CLR_FEED_GIVEN_UP */
    struct clr_status status;

    /* The worker's own. */
    struct clr_feed_line under_way;
    int concluded;             /* columns */
    bool has_decoder;          /* it is claimed */
    struct clr_status failure; /* what the task ends with */
    struct clr_device_work work;
    struct clr_feed_stage stages[CLR_MOST_STAGES];
};

/* Adds a stage to a line. */
static inline void clr_feed_push(struct clr_feed_line *line, int number)
{
    line->numbers[(line->first + line->count++) % CLR_MOST_STAGES] = number;
}

/* Takes the first one; there is one, at least. */
static inline int clr_feed_pop(struct clr_feed_line *line)
{
    int number = line->numbers[line->first];

    line->first = (line->first + 1) % CLR_MOST_STAGES;
    line->count--;
    return number;
}

/* Has the feed turn to another phase, unless it has been given up; the first one needs its lock.
   status may be NULL: it is left as it is. */
void clr_leaf_feed_locked_turn(struct clr_leaf_feed *feed, enum clr_feed_phase phase);
void clr_leaf_feed_turn(struct clr_leaf_feed *feed, enum clr_feed_phase phase,
                        const struct clr_status *status);

/* Returns how many stages a decoder is to have. */
int clr_leaf_feed_stages(void);

/* The worker's side: the step of a feed's task. */
bool clr_leaf_feed_step(struct clr_task *task, struct clr_device *device,
                        struct clr_status *status);

#endif
