/* What all functions that merge states do with an argument that is none. */
#ifndef CLR_SQLITE_MERGE_H
#define CLR_SQLITE_MERGE_H

#include "numeric/states/state_format.h"
#include "sqlite/api.h"

#include <stdbool.h>

/*
 * Returns whether the argument of the context's function is a state that could be merged: it is a
 * BLOB, and decoding it found no fault. Else sets the error, which names the function and says what
 * the argument is instead.
 */
bool clr_merge_argument(sqlite3_context *context, sqlite3_value *argument,
                        enum clr_state_fault fault);

#endif
