/* How the rows of a table lie in the columns that were loaded from it. */
#ifndef CLR_STORAGE_LAYOUT_H
#define CLR_STORAGE_LAYOUT_H

#include "storage/load/leaf.h"

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

#endif
