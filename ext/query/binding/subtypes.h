/* Subtypes of values, by which SQLite's JSON functions know JSON from other text. */
#ifndef CLR_QUERY_SUBTYPES_H
#define CLR_QUERY_SUBTYPES_H

#include "query/binding/emit.h"

/*
 * Refuses a function that reads subtypes if one of its arguments may have another one than in
 * SQLite: keys and aggregates of the table of groups have none, and the column of a subquery in
 * FROM, in whose place its expression stands, loses it in SQLite. To be called once it is known
 * which expressions are keys. Returns false once it has failed.
 */
bool clr_subtypes_check(struct clr_binder *binder);

#endif
