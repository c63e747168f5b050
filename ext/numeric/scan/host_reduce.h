/* The reduction of a chunk on the host: the same answer as a device's, to the bit. */
#ifndef CLR_NUMERIC_HOST_REDUCE_H
#define CLR_NUMERIC_HOST_REDUCE_H

#include "numeric/exact/operation.h"
#include "numeric/states/state.h"

/*
 * Adds count values, of CLR_DOT pairs of x and y, to state's sum or ranges. The arrays are doubles
 * or int64_t, as element says, and y is not looked at for other operations. state's counts of rows
 * stay as they are, since a row may have several pairs.
 */
void clr_host_reduce_arrays(enum clr_operation operation, enum clr_element element, const void *x,
                            const void *y, size_t count, struct clr_state *state);

/*
 * Adds chunk's values of one element type to state's sum or ranges, as chunk->operation says,
 * likewise. Operations of several terms add to the state's further sums as well.
 */
void clr_host_reduce(const struct clr_chunk *chunk, enum clr_element element,
                     struct clr_state *state);

#endif
