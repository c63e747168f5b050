/* Where a rank very likely is, by a sample (Floyd and Rivest, "Expected time bounds for selection",
   CACM 18, 1975). */
#ifndef CLR_NUMERIC_SELECTION_SAMPLE_H
#define CLR_NUMERIC_SELECTION_SAMPLE_H

#include "numeric/order/selection_passes.h"

/* How many keys a sample has at the most. */
enum { CLR_SAMPLE = 8192 };

/*
 * Gathers in one pass, for each of count ranges of all the numbers, the keys near its rank: in the
 * window of the same number, which has its memory. The first window's keys, and what lies behind
 * them, have room for 2 * CLR_SAMPLE. Returns CLR_OK or CLR_STOPPED.
 */
enum clr_code clr_selection_gather_sampled(struct clr_selection *selection,
                                           const struct clr_key_range *ranges,
                                           struct clr_window *windows, int count, uint64_t total);

/* Whether a range's rank, and the next if that is sought, are among what its window gathered. */
bool clr_window_has_rank(const struct clr_window *window, const struct clr_key_range *range);

#endif
