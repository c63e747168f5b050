/* The reduction of a chunk on the host: the same answer as a device's, to the bit. */
#ifndef CLR_NUMERIC_HOST_REDUCE_H
#define CLR_NUMERIC_HOST_REDUCE_H

#include "numeric/chunk.h"
#include "numeric/state.h"

/*
 * Adds chunk's values of one element type to state's sum or ranges, as chunk->operation says;
 * state's counts of rows stay as they are, since a row may have put several pairs into a chunk.
 */
void clr_host_reduce(const struct clr_chunk *chunk, enum clr_element element,
                     struct clr_state *state);

#endif
