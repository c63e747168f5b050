/* Who has a device decode the columns of a load. */
#ifndef CLR_STORAGE_FEEDER_H
#define CLR_STORAGE_FEEDER_H

#include "engine/feed/leaf_feed.h"
#include "numeric/values/column.h"

#include <stdbool.h>

/*
 * Who has a device decode the columns, and keep them. begin() is called when it is known that a
 * load can be fed; it returns a feed, or NULL to have the host decode. Only what is all in the leaf
 * pages can be fed: no bytes of TEXT or BLOBs; and only in several threads.
 */
struct clr_feeder {
    struct clr_leaf_feed *(*begin)(void *context, const struct clr_leaf_diet *diet);
    void *context;
    /* Of a load that was fed: the columns where they are, READY, with one reference each; the
       columns that clr_load() stores are away then (clr_column_new_away()). */
    bool has_fed;
    struct clr_resident *residents[CLR_MOST_COLUMNS];
    struct clr_device_work work; /* increased */
    /* Set when so many pages would have been left to the host that it was better to let it decode
       them all. */
    bool is_unsuited;
};

#endif
