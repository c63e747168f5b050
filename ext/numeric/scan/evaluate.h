/*
 * Runs a scan over some of its rows, on one thread of the host: block by block, each instruction
 * over a whole block, in loops for blocks of one type and value by value (kernels/scan/values.cl)
 * else.
 */
#ifndef CLR_NUMERIC_EVALUATE_H
#define CLR_NUMERIC_EVALUATE_H

#include "numeric/exact/operation.h"
#include "numeric/order/selection.h"
#include "numeric/scan/block.h"
#include "numeric/scan/scan.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * The values of a tally with CLR_KEEP from some of the scan's rows: two runs, the second one the
 * next of the first. They are the column's own where they can be; else copies, of INTEGERs from the
 * room's start and of REALs from its end.
 */
struct clr_share {
    struct clr_run runs[2];
    int64_t *room, *room_end;  /* for a value of each row */
    atomic_int_fast64_t *left; /* bytes that copies may still take, in all shares together */
    const int64_t *others;     /* with CLR_BYTES: the addresses of TEXT and BLOBs */
    size_t other_count;
    int64_t *other_room; /* for one of each row, with CLR_BYTES */
};

/*
 * Computes the tallies over the rows first .. last - 1. states has a state for each of the scan's
 * tallies and is overwritten. shares has a share for each, or is NULL if no tally has CLR_KEEP;
 * those of such tallies get their runs, valid as long as room and columns are. The scan is only
 * read, so that several threads may run parts of it. Questions are not answered. Returns
 * CLR_SCAN_DONE, CLR_SCAN_UNSURE, CLR_SCAN_LIMIT, CLR_SCAN_FAILED without memory, or
 * CLR_SCAN_STOPPED soon after *stop has become true.
 */
enum clr_scan_outcome clr_evaluate(const struct clr_scan *scan, size_t first, size_t last,
                                   struct clr_state *states, struct clr_share *shares,
                                   const atomic_bool *stop);

/* Whether a tally's argument is a column, all of numbers, whose values are kept in a way that tells
   the sum of rows beside each other without a look at each value. The block need not have run; the
   tally has an argument, whose sums and extremes are all that it needs. */
bool clr_block_keeps_sums(const struct clr_block *block, const struct clr_tally *tally);

/* Stores the exact sum of count rows of such a column from row `first` on, CLR_BLOCK at most, as
   struct clr_zone_sum has it. */
void clr_column_sum_rows(const struct clr_column *column, size_t first, size_t count,
                         int64_t parts[2]);

/* Finds the zones of count blocks of a column that is on the host, from block `first` on. Returns
   false without memory. Threads may do different blocks of one column at the same time. */
bool clr_column_find_zones(struct clr_column *column, size_t first, size_t count,
                           struct clr_zones *zones);

#endif
