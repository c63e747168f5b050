/*
 * A load's units, divided among the devices that decode them: each has a run of leaf pages, and
 * with them the rows of its shard.
 */
#ifndef CLR_STORAGE_DEVICE_PARTS_H
#define CLR_STORAGE_DEVICE_PARTS_H

#include "engine/columns/division.h"
#include "engine/feed/leaf_feed.h"
#include "storage/leaves/units.h"
#include "storage/load/device_decoding.h"
#include "storage/load/placement.h"

/* What one of the devices decodes: units that follow one another. */
struct clr_device_part {
    size_t first, end;   /* of the units */
    size_t leaf, leaves; /* of the units' leaves: the first one, and how many */
    size_t row;          /* of a layout that is known: its first one, else 0 */
    struct clr_placed placed;
    atomic_size_t next;                              /* unit to take */
    struct clr_leaf_feed *feed;                      /* or NULL */
    struct clr_fed_column columns[CLR_MOST_COLUMNS]; /* when it is finished: with references */
};

struct clr_device_parts {
    int count;
    struct clr_device_part list[CLR_DEVICES_LIMIT];
    atomic_uint turn; /* whose it is */
};

/*
 * Divides units that have been found, of 64 leaves at least, into parts, one for each device, and
 * has their feeds begun, as the setup of them all says but for its leaves and most_skipped. The
 * borders are those of leaf pages: how many rows these have is known only when they are read, so
 * parts have as many leaves each, give or take a unit. Of a table whose layout is known and in
 * order the borders are always the same ones. Returns false if the host is to decode.
 */
bool clr_device_parts_begin(struct clr_device_parts *parts, const struct clr_units *units,
                            bool is_layout_known, const struct clr_devices *devices,
                            const struct clr_device_decoding *decoding,
                            const struct clr_feed_setup *whole);

/* Frees the feeds of all parts, and what these have of columns. */
void clr_device_parts_free(struct clr_device_parts *parts);

/* Returns a part that has units to take, or NULL if there is none, or a thread has failed: all in
   turn, so that the devices get on alike. Any thread may call it. */
struct clr_device_part *clr_device_parts_choose(struct clr_device_parts *parts,
                                                const struct clr_units *units);

/* As clr_units_take(), of a part. */
bool clr_device_part_take(struct clr_device_part *part, struct clr_units *units, size_t *i);

/* Returns how many rows a part has, as far as its units are known. */
size_t clr_device_part_rows(const struct clr_device_part *part, const struct clr_units *units);

#endif
