/* The copies of columns on devices, of one or several, in shards. Any thread may call this. */
#ifndef CLR_ENGINE_SHARDED_H
#define CLR_ENGINE_SHARDED_H

#include "engine/columns/division.h"
#include "engine/columns/resident.h"
#include "numeric/scan/scan.h"

/* The copy of a column: for each shard of its division a resident. It never changes. */
struct clr_sharded;

/* Starts copying a column's shards, each as clr_resident_new() does. Returns a copy with one
   reference, or NULL without memory. */
struct clr_sharded *clr_sharded_new(const struct clr_division *division, struct clr_column *column);

/*
 * Starts making the copy of a column from that of another one, which has the same rows where they
 * were, but for those of the ranges, and may have fewer or more at the end: on the device, to which
 * these rows alone are sent. Returns a copy with one reference; or NULL if it can't be made so: if
 * they are too many, or the other one is not READY, has another form, or is the host's column
 * itself, or if one of both takes several shards; or without memory.
 */
struct clr_sharded *clr_sharded_change(const struct clr_sharded *before, struct clr_column *column,
                                       const struct clr_row_ranges *ranges);

/* Take and drop references; the last one frees the residents. NULL is fine. */
struct clr_sharded *clr_sharded_retain(struct clr_sharded *sharded);
void clr_sharded_release(struct clr_sharded *sharded);

const struct clr_division *clr_sharded_division(const struct clr_sharded *sharded);

/* Returns the resident that has a shard, which the copy owns. */
struct clr_resident *clr_sharded_resident(const struct clr_sharded *sharded, int shard);

/* Returns how far it is: READY if all shards are, FAILED if one has. See clr_resident_state(). */
enum clr_residence clr_sharded_state(const struct clr_sharded *sharded);

/* Returns whether a shard has FAILED; it is not tried again for that. */
bool clr_sharded_has_failed(const struct clr_sharded *sharded);

/* Returns whether a device that has a shard is out of use. */
bool clr_sharded_is_lost(const struct clr_sharded *sharded);

/* Returns whether all shards are the column's own rows, or are to be: see
   clr_resident_is_shared(). */
bool clr_sharded_is_shared(const struct clr_sharded *sharded);

/* For the only owner: whether the column is in one shard that lends it. See
   clr_resident_lends(). */
bool clr_sharded_lends(const struct clr_sharded *sharded);

/* Returns the bytes that its shards take on the worker's device; NULL: on all devices. */
size_t clr_sharded_size(const struct clr_sharded *sharded, const struct clr_worker *worker);

/* Returns the bytes that the shards of a column's copy would take on the worker's device: see
   clr_resident_cost(). */
size_t clr_sharded_cost(const struct clr_division *division, const struct clr_column *column,
                        const struct clr_worker *worker);

#endif
