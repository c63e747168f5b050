/* The rows of a scan that its filter lets pass, block by block. Few of a block are put together
   with those of others. */
#ifndef CLR_NUMERIC_TAKING_H
#define CLR_NUMERIC_TAKING_H

#include "numeric/scan/block.h"

#include <stdatomic.h>

/* What takes the rows that the scan's filter lets pass. */
struct clr_taking {
    /* Takes the selected rows of the block, count of them, at least one. The block has run for
       tallies. Returns CLR_SCAN_DONE, or why no more are to be taken. */
    enum clr_scan_outcome (*take)(void *taker, struct clr_block *block, const uint64_t *selected,
                                  size_t count);
    /* Takes rows of a block, which has not run and all of which pass, by what zones tell of it.
       Stores how many it has left, and if there are any, which. Returns false if it takes none. May
       be NULL. */
    bool (*take_zones)(void *taker, const struct clr_block *block, uint64_t *left, size_t *count);
    /* Is called before each block; may be NULL. */
    void (*begin)(void *taker, struct clr_block *block);
    void *taker;
    size_t *seen; /* grows by the rows of each block, after it; or NULL */
    /*
     * Few rows of a block are put together, up to a block of their own: what tallies and keys need
     * is then computed for them alone. in_order: they are taken before a block with more. in_place:
     * none are, so that those of the block follow those seen.
     */
    bool in_order, in_place;
    /* Of each instruction, whether the values of a narrow column are left out until what takes rows
       asks for them by clr_block_widen(): nobody else may need them. NULL: of none. */
    const bool *is_lazy;
};

/* Takes rows [first, last) of the scan. Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE, CLR_SCAN_STOPPED,
   CLR_SCAN_FAILED or the outcome of what takes them. */
enum clr_scan_outcome clr_blocks_take(const struct clr_scan *scan, size_t first, size_t last,
                                      const struct clr_taking *taking, const atomic_bool *stop);

#endif
