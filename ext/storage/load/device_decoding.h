/* Who has a device decode the columns of a load. */
#ifndef CLR_STORAGE_DEVICE_DECODING_H
#define CLR_STORAGE_DEVICE_DECODING_H

#include "engine/feed/leaf_feed.h"
#include "numeric/values/column.h"

#include <stdbool.h>

/*
 * Who has a device decode the columns, and keep them. begin() is called when it is known that a
 * device can decode them; it returns a feed, or NULL to have the host decode. It can decode what is
 * all in the leaf pages, not the bytes of TEXT or BLOBs; and only where there are several threads.
 */
struct clr_device_decoding {
    struct clr_leaf_feed *(*begin)(void *context, const struct clr_feed_setup *setup);
    void *context;
    /* Whether the device has decoded the load's columns. Then residents are where they are, READY,
       with one reference each; the columns that clr_load() stores are away
       (clr_column_new_away()). */
    bool is_done;
    struct clr_resident *residents[CLR_MOST_COLUMNS];
    struct clr_device_work work; /* increased */
    /* Set when so many pages would have been left to the host that it was better to let it decode
       them all. */
    bool is_unsuited;
};

#endif
