/*
 * Values of any type as INTEGERs in the same order: each is its place among the different ones.
 * What finds the least, the greatest or the most frequent of numbers finds it of values by that.
 */
#ifndef CLR_NUMERIC_RANKS_H
#define CLR_NUMERIC_RANKS_H

#include "base/status.h"
#include "numeric/values/scalar.h"
#include "numeric/values/value.h"

#include <stddef.h>

/*
 * Replaces count values, of BYTES by their addresses, by their ranks. NULL and UNSURE stay as they
 * are. Numbers that are equal and yet two, 1 and 1.0 or 0.0 and -0.0, become UNSURE. Stores the
 * value of each rank, to be freed with clr_memory_free(): bytes stay where they are. Returns CLR_OK
 * or CLR_NOMEM.
 */
enum clr_code clr_ranks_replace(struct clr_scalar *values, size_t count, struct clr_value **ranked,
                                size_t *ranked_count);

#endif
