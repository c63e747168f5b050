/*
 * Leaf pages on their way to a device, which decodes them into columns of its own. Threads take
 * stages, buffers that the device reads from, fill them with pages and hand them over; the device's
 * worker sends them and has them decoded. When all have been handed over, it is known which pages
 * the device leaves to the host, and the rows of these are given. Any thread may call these
 * functions.
 */
#ifndef CLR_ENGINE_LEAF_FEED_H
#define CLR_ENGINE_LEAF_FEED_H

#include "engine/columns/resident.h"
#include "engine/worker/team.h"
#include "numeric/scan/scan.h"
#include "opencl/cells/cell_decoder.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_leaf_feed;

/* What is to be fed. */
struct clr_feed_setup {
    const struct clr_field *fields; /* in the order of records, without bytes; copied */
    int count;                      /* of them, 1 to CLR_MOST_COLUMNS */
    uint32_t usable_size;           /* of a page, in bytes */
    size_t leaves;                  /* that will come */
    size_t rows;                    /* so many, or some number near that */
    const uint8_t *kinds;           /* of the fields' columns on the device, as some pages tell */
    size_t most_skipped;            /* pages that may be left to the host */
};

/* A stage in the hands of the thread that has taken it, empty at first. */
struct clr_feed_stage {
    unsigned char *pages; /* CLR_STAGE_BYTES; bytes of them are filled */
    size_t bytes;
    struct clr_leaf_place *places; /* room for `room` of them; count are set */
    size_t room, count;
    size_t end; /* the row after the last one of the places */
};

/*
 * Begins a feed. Returns CLR_SCAN_DONE with it; CLR_SCAN_NOT_NOW if the device is not ready, which
 * it then gets in the background, or has something to build, or decodes for somebody else;
 * CLR_SCAN_STOPPED; CLR_SCAN_FAILED with the status if it cannot decode, or there is no memory.
 * timeout_ms: as in clr_worker_await(), here and for all that concerns the feed. watch may be NULL.
 */
enum clr_scan_outcome clr_leaf_feed_begin(struct clr_worker *worker,
                                          const struct clr_feed_setup *setup, int64_t timeout_ms,
                                          const struct clr_watch *watch,
                                          struct clr_leaf_feed **feed, struct clr_status *status);

/* Returns how many threads are worth feeding it: each can fill a stage while another is under
   way. */
int clr_leaf_feed_threads(const struct clr_leaf_feed *feed);

/* Takes a stage, waiting for one until *stop becomes true. Returns NULL if it has, or if the feed
   is at an end: the device has failed, has no room, or leaves too much to the host. */
struct clr_feed_stage *clr_leaf_feed_take(struct clr_leaf_feed *feed, const atomic_bool *stop);

/* Hands a stage over: its pages are sent, unless it has no places. */
void clr_leaf_feed_hand_over(struct clr_leaf_feed *feed, struct clr_feed_stage *stage);

/*
 * Waits until all that was handed over has been decoded, and stores where it says for each leaf
 * whether its page is left to the host: (*skipped)[i] is not 0 then; that is the feed's. Returns
 * CLR_SCAN_DONE; CLR_SCAN_STOPPED; or CLR_SCAN_FAILED with the status, also if those are too many.
 */
enum clr_scan_outcome clr_leaf_feed_settle(struct clr_leaf_feed *feed, const uint8_t **skipped,
                                           const struct clr_watch *watch,
                                           struct clr_status *status);

/*
 * When it is settled: gives rows that the host has decoded, of the column of that number: the
 * values and the tags are copied. Returns false without memory.
 */
bool clr_leaf_feed_add_rows(struct clr_leaf_feed *feed, int column, size_t first,
                            const int64_t *values, const uint8_t *tags, size_t count);

/* Whether the feed has ended since too many pages were left to the host. */
bool clr_leaf_feed_is_unsuited(struct clr_leaf_feed *feed);

/* A column that has been fed: on the device, with one reference, the caller's. */
struct clr_fed_column {
    struct clr_resident *resident; /* READY */
    uint8_t kind;                  /* as of clr_column_device_kind() */
    unsigned tags;                 /* the set of its rows' tags, bits 1 << tag */
};

/*
 * Ends a feed that is settled, and whose rows have all been given, `rows` of them, and stores its
 * columns. Returns CLR_SCAN_DONE, CLR_SCAN_STOPPED, or CLR_SCAN_FAILED with the status; columns are
 * stored after CLR_SCAN_DONE only. work is increased by what was done.
 */
enum clr_scan_outcome clr_leaf_feed_finish(struct clr_leaf_feed *feed, size_t rows,
                                           struct clr_fed_column *columns,
                                           const struct clr_watch *watch,
                                           struct clr_device_work *work, struct clr_status *status);

/* Gives a feed back, wherever it is: the worker lets go of it when nothing is under way any more.
   No thread may have a stage. NULL is fine. */
void clr_leaf_feed_free(struct clr_leaf_feed *feed);

#endif
