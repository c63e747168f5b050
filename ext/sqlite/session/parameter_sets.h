/*
 * Numbers for the sets of parameters that a view is read with, of which rowids are made. By its
 * rowid SQLite knows a row that two terms of an OR have in common: rows of one set must have the
 * same rowids each time, and rows of two sets never. Zeros at first.
 */
#ifndef CLR_SQLITE_PARAMETER_SETS_H
#define CLR_SQLITE_PARAMETER_SETS_H

#include "sqlite/api.h"

struct clr_parameter_sets {
    struct clr_parameter_set **slots; /* by hash */
    sqlite3_uint64 slot_count, count;
    sqlite3_uint64 seed; /* of the hash; drawn for the first set */
};

/*
 * Stores in *first what the rowids of a set's rows follow: row 0 has *first + 1. A NULL pointer
 * among the values is NULL. Sets are known by all their bytes. So that memory stays bounded, that
 * is true of the first 65,536; from then on a new one is known by 62 bits of a hash alone, and its
 * rowids are in the upper half of all. Returns SQLITE_OK or SQLITE_NOMEM.
 */
int clr_parameter_set_find(struct clr_parameter_sets *sets, sqlite3_value *const *values, int count,
                           sqlite3_uint64 *first);

/* Forgets all sets; no rowid of theirs may be compared with later ones. */
void clr_parameter_sets_clear(struct clr_parameter_sets *sets);

#endif
