/*
 * The copies of a table's columns on devices, and how their rows are divided among these. Any
 * thread may call these functions; the OpenCL calls are made by the devices' workers.
 */
#ifndef CLR_ENGINE_COPIES_H
#define CLR_ENGINE_COPIES_H

#include "engine/worker/runtime.h"
#include "numeric/scan/scan.h"
#include "numeric/values/column.h"
#include "opencl/memory/resident_column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- The division of rows. */

enum { CLR_MOST_SHARDS = 64 };

/* A run of rows that a device has, of all columns. */
struct clr_shard {
    struct clr_chosen_device device;
    size_t first, rows;
};

/* Shards in the order of the rows, without gaps: 1 at least, even of no rows. */
struct clr_division {
    int count;
    struct clr_shard shards[CLR_MOST_SHARDS];
};

/*
 * Divides so many rows evenly among the devices, of which there is one at least. A device's run is
 * cut into several shards if a column's values, 8 bytes each, would take more than a buffer may
 * have (CL_DEVICE_MAX_MEM_ALLOC_SIZE: OpenCL 1.2, table 4.3). Returns false if these would be more
 * than CLR_MOST_SHARDS.
 */
bool clr_division_make(const struct clr_devices *devices, size_t rows,
                       struct clr_division *division);

bool clr_division_is_same(const struct clr_division *a, const struct clr_division *b);

/* Whether a shard is the first one of its device. */
bool clr_division_begins_device(const struct clr_division *division, int shard);

/* Returns how many of the devices have a shard. */
int clr_division_devices(const struct clr_division *division);

/* ---- Copies. */

/*
 * The copy of a column: a resident for each shard of the division, which is a copy of these rows on
 * the shard's device, or these rows themselves, which a device shares whose memory is the host's.
 * The list never changes.
 */
struct clr_sharded;

/* What operations need of a resident, for the engine alone: a reference to its task keeps it. */
struct clr_resident {
    struct clr_task task;
    struct clr_resident_column *copy;
    uint8_t kind; /* as of clr_column_device_kind() */
};

/* FAILED: no room on the device, or a device that failed. */
enum clr_residence { CLR_RESIDENT_COMING, CLR_RESIDENT_READY, CLR_RESIDENT_FAILED };

/*
 * Starts copying a column's shards, their values or their codes, in the background: staged through
 * mapped buffers in pieces, between which the workers serve their other requests. Takes a reference
 * to the column and drops it when the copy is complete or has failed. A device whose memory is the
 * host's gets no copy, unless it needs the column in another form, the rows are not aligned for it,
 * or its driver refuses to: then the reference is kept as long as the resident, and if the device
 * fails to the end of the process. Returns a copy with one reference, or NULL without memory. The
 * column's values must not change any more.
 */
struct clr_sharded *clr_sharded_new(const struct clr_division *division, struct clr_column *column);

/*
 * Starts making the copy of a column from that of another one, which has the same rows where they
 * were, but for those of the ranges, and may have fewer or more at the end: on the device, to which
 * these rows alone are sent. Returns a copy with one reference; or NULL if it can't be made so: if
 * they are too many, or the other one is not READY, has another form, or is the host's column
 * itself, or if its shards would begin at other rows; or without memory.
 */
struct clr_sharded *clr_sharded_change(const struct clr_sharded *before, struct clr_column *column,
                                       const struct clr_row_ranges *ranges);

/* Take and drop references; the last one frees the residents. NULL is fine. */
struct clr_sharded *clr_sharded_retain(struct clr_sharded *sharded);
void clr_sharded_release(struct clr_sharded *sharded);

const struct clr_division *clr_sharded_division(const struct clr_sharded *sharded);

/* Returns the resident that has a shard, which the copy owns. */
struct clr_resident *clr_sharded_resident(const struct clr_sharded *sharded, int shard);

/* Returns how far it is: READY if all shards are, FAILED if one has. What may succeed another time
   is started again now and then by who asks this, and is COMING then. */
enum clr_residence clr_sharded_state(const struct clr_sharded *sharded);

/* Waits for a copy that is being made of another one, until a time of clr_clock_ns() at most.
   Returns whether the copy is READY. */
bool clr_sharded_await_change(const struct clr_sharded *sharded, int64_t end);

/* Returns whether a shard has FAILED; it is not tried again for that. */
bool clr_sharded_has_failed(const struct clr_sharded *sharded);

/* Returns whether a device that has a shard is out of use. */
bool clr_sharded_is_lost(const struct clr_sharded *sharded);

/* Returns whether all shards are the column's own rows, or are to be. */
bool clr_sharded_is_shared(const struct clr_sharded *sharded);

/* For the only owner: whether the column is in one shard that shares it, and nothing is under way
   that reads it or could begin to. Then it may be changed, if the copy is not used any more. */
bool clr_sharded_lends(const struct clr_sharded *sharded);

/* Returns the bytes that its shards take on the worker's device; NULL: on all devices. Rows that
   are shared, or have FAILED, take none. */
size_t clr_sharded_size(const struct clr_sharded *sharded, const struct clr_worker *worker);

/* Returns the bytes that the shards of a column's copy would take on the worker's device. */
size_t clr_sharded_cost(const struct clr_division *division, const struct clr_column *column,
                        const struct clr_worker *worker);

/* Returns the bytes of columns of tables that this process has copied to devices. */
int64_t clr_copies_sent(void);

#endif
