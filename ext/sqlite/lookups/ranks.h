/* Ranks, which stand for values that scans know nothing of. */
#ifndef CLR_SQLITE_RANKS_H
#define CLR_SQLITE_RANKS_H

#include "base/status.h"
#include "numeric/values/value.h"

#include <stddef.h>

/*
 * Replaces count values, of BYTES by their addresses, by their ranks: each by its place among the
 * different ones. What finds the least, the greatest or the most frequent of numbers finds it of
 * values by that. NULL and UNSURE stay as they are. Numbers that are equal and yet two, 1 and 1.0
 * or 0.0 and -0.0, become UNSURE. Stores the value of each rank, to be freed with
 * clr_memory_free(): bytes stay where they are. Returns CLR_OK or CLR_NOMEM.
 */
enum clr_code clr_ranks_make(struct clr_scalar *values, size_t count, struct clr_value **ranked,
                             size_t *ranked_count);

#endif
