/* The states of gpu_histogram: its bins and their counters as bytes. state_format.h has the format.
 */
#ifndef CLR_NUMERIC_STATE_BINS_H
#define CLR_NUMERIC_STATE_BINS_H

#include "numeric/bins/bins.h"
#include "numeric/states/state_format.h"

/* A state that was read. The counters are still in its bytes, where they are known to be sound. */
struct clr_stored_bins {
    int64_t count; /* of rows; 0: there is nothing else */
    struct clr_value low, high;
    int64_t bins;
    const unsigned char *counters, *end;
};

/*
 * Writes the state of bins->count + 2 counters, which add up to CLR_STATE_MOST_ROWS at most, into
 * buffer. Returns how many bytes it takes; with buffer NULL it does no more than that.
 */
size_t clr_state_encode_bins(const struct clr_bins *bins, const uint64_t *counters,
                             unsigned char *buffer);

/*
 * Reads a state (bytes is NULL if size is 0), into which stored points from then on. Returns
 * CLR_STATE_SOUND, or another fault and leaves stored as it was.
 */
enum clr_state_fault clr_state_decode_bins(const unsigned char *bytes, size_t size,
                                           struct clr_stored_bins *stored);

/* Adds the state's counters, stored->bins + 2 if it has rows, if weight is 1; takes them away again
   if it is -1. */
void clr_stored_bins_add(const struct clr_stored_bins *stored, int weight, uint64_t *counters);

#endif
