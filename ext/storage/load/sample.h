/*
 * A sample of a table's leaves, which tells of columns that have far too many different values for
 * a dictionary: before the whole table is decoded for that.
 */
#ifndef CLR_STORAGE_SAMPLE_H
#define CLR_STORAGE_SAMPLE_H

#include "storage/leaves/units.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Looks, in the calling thread, at some leaves of units that have been found. Returns
 * CLR_LOAD_MANY_VALUES, with the position of a field with codes that has too many values
 * (clr_field_has_many_values()); CLR_LOAD_DONE, if none is known to have, as where the table is
 * small; CLR_LOAD_STOPPED, CLR_LOAD_MALFORMED or CLR_LOAD_FAILED. The units have taken note of it.
 * seed: any number that who chooses the values does not know. memory: bytes that the sample may
 * take at most. watch may be NULL.
 */
enum clr_load_outcome clr_sample_many_values(struct clr_units *units, uint64_t seed, size_t memory,
                                             const struct clr_watch *watch, int *position);

#endif
