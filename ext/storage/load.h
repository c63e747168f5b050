/*
 * Loads columns of a rowid table: walks its b-tree, reads its leaf pages in large runs and decodes
 * the cells, in several threads. Every offset is checked against the page before it is followed.
 * File format, sections 1.6 and 2.
 */
#ifndef CLR_STORAGE_LOAD_H
#define CLR_STORAGE_LOAD_H

#include "base/status.h"
#include "engine/leaf_feed.h"
#include "engine/team.h"
#include "numeric/column.h"
#include "storage/field.h"
#include "storage/leaf.h"
#include "storage/outcome.h"
#include "storage/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rows that one unit of work, a run of leaf pages, has put into the columns. */
struct clr_extent {
    size_t first, rows;
};

/*
 * How the rows of an image are laid out, so that columns loaded later match. Zeros: none yet. Units
 * are in the order of the table's keys; within a unit rows ascend by rowid, but the units lie in
 * the columns in any order.
 */
struct clr_layout {
    bool known;
    bool may_guess; /* CLR_LOAD_TOO_LARGE as soon as that is likely */
    size_t rows, units;
    size_t most_rows; /* more end the load with CLR_LOAD_TOO_LARGE; 0: no limit */
    /* So does what a load's rows, of row_bytes each, and the bytes of TEXT and BLOBs take together,
       if it is more than this; 0: no limit. */
    size_t most_bytes, row_bytes;
    struct clr_extent *extents; /* of each unit; free with clr_layout_free() */
    /*
     * Whether clr_load() shall describe the leaves, for clr_refresh(): all that were loaded, in the
     * order of their rows in the columns. Once a refresh has moved rows there are no units, and
     * clr_load() can't add columns.
     */
    bool keeps_leaves;
    struct clr_leaf *leaves; /* free with clr_layout_free() */
    size_t leaf_count;
    uint32_t *chains; /* the set of overflow pages that were read; free likewise */
    size_t chain_words;
};

/* Returns the memory that the layout takes, in bytes. */
size_t clr_layout_size(const struct clr_layout *layout);

/* Whether clr_load() can load further columns that match. */
static inline bool clr_layout_is_open(const struct clr_layout *layout)
{
    return !layout->known || layout->units > 0;
}

/* Frees the extents and leaves the layout unknown. */
void clr_layout_free(struct clr_layout *layout);

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

/*
 * Loads count columns of the table whose root page is root: stores columns with one reference each
 * in columns[0 .. count-1], all NULL unless the outcome is CLR_LOAD_DONE. count may be 0, to find
 * the layout. An unknown layout is filled in, when the load is done; with a known one the columns'
 * rows follow it (the snapshot must be the same: if it does not fit, CLR_LOAD_MALFORMED). Rowids
 * must ascend over the whole table, all leaves be equally deep, each page be met once, and depths
 * over 20 are refused, so that no damage makes the walk endless.
 *
 * feeder may be NULL. Whatever a device does, the outcome and the columns are as the host has them.
 *
 * watch may be NULL. It is asked in the calling thread, which also makes all reads where the source
 * is not parallel.
 */
enum clr_load_outcome clr_load(const struct clr_source *source, uint32_t root,
                               const struct clr_field *fields, int count, struct clr_layout *layout,
                               struct clr_feeder *feeder, struct clr_column **columns,
                               const struct clr_watch *watch, struct clr_load_report *report,
                               struct clr_status *status);

#endif
