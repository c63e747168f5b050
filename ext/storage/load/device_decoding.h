/* Who has devices decode the columns of a load. */
#ifndef CLR_STORAGE_DEVICE_DECODING_H
#define CLR_STORAGE_DEVICE_DECODING_H

#include "engine/columns/sharded.h"
#include "engine/feed/leaf_feed.h"
#include "numeric/values/column.h"

#include <stdbool.h>

/*
 * Who has devices decode the columns, and keep them: each has the pages of its own shard. They can
 * decode what is all in the leaf pages, not the bytes of TEXT or BLOBs; and only where there are
 * several threads.
 */
struct clr_device_decoding {
    /* Chooses the devices for about so many rows. Returns whether there are any: the host decodes
       otherwise. */
    bool (*choose)(void *context, uint64_t rows, struct clr_devices *devices);
    /*
     * Begins the feeds of these devices, one for each shard of the division. What the shards are is
     * known if the table's layout is, else it is a guess. Returns false to have the host decode:
     * what has been begun is freed by the load, and the others are NULL, as all are at first.
     */
    bool (*begin)(void *context, const struct clr_division *division,
                  const struct clr_feed_setup *setups, struct clr_leaf_feed **feeds);
    void *context;
    /* Whether devices have decoded the load's columns. Then copies are where they are, READY, with
       one reference each; the columns that clr_load() stores are away (clr_column_new_away()). */
    bool is_done;
    struct clr_sharded *copies[CLR_MOST_COLUMNS];
    struct clr_device_work work; /* increased */
    /* Set when so many pages would have been left to the host that it was better to let it decode
       them all. */
    bool is_unsuited;
};

#endif
