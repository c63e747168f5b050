/* What a lookup may hold: expressions that mean the same wherever SQLite evaluates them. */
#ifndef CLR_QUERY_HELD_H
#define CLR_QUERY_HELD_H

#include "query/binding/emit.h"

/*
 * Refuses an expression whose value may be another one where SQLite evaluates it for an entry of a
 * dictionary. Sets *is_timed, which is the caller's to begin, if it has functions of times. Returns
 * false once it has failed.
 */
bool clr_held_check(struct clr_binder *binder, const struct clr_node *node, bool *is_timed);

#endif
