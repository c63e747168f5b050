/* A histogram's counters as SQL values. Both texts and BLOBs are to be freed with sqlite3_free().
 */
#ifndef CLR_SQLITE_COUNTERS_H
#define CLR_SQLITE_COUNTERS_H

#include "numeric/bins/bins.h"

/*
 * Returns the bins->count + 2 counters as a JSON array, not terminated by zero, and its size in
 * bytes. NULL without memory.
 */
char *clr_counters_to_json(const struct clr_bins *bins, const uint64_t *counters, size_t *size);

/* Returns the state of the counters (numeric/states/state_bins.h), and its size in bytes. NULL
   without memory. */
unsigned char *clr_counters_to_state(const struct clr_bins *bins, const uint64_t *counters,
                                     size_t *size);

#endif
