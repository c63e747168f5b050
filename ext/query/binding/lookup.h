/* Expressions over one column that SQLite evaluates for each entry of the column's dictionary. */
#ifndef CLR_QUERY_LOOKUP_H
#define CLR_QUERY_LOOKUP_H

#include "query/binding/emit.h"

/*
 * Returns the instruction that looks up the result of an expression, or of a comparison of it with
 * `equal` unless that is NULL, which read one column together; -1 once it has failed. A lookup that
 * is there already is used again.
 */
int clr_lookup_emit(struct clr_binder *binder, struct clr_node *node, struct clr_node *equal);

/* The same for an expression whose results are needed in their order: their ranks. */
int clr_lookup_emit_ranks(struct clr_binder *binder, struct clr_node *node);

#endif
