/* Expressions as a scan's instructions. */
#ifndef CLR_QUERY_LOWER_H
#define CLR_QUERY_LOWER_H

#include "query/names/names.h"

/* Both return the number of an instruction, as clr_emit() does. */

/* The instruction that leaves the expression's value. */
int clr_lower(struct clr_binder *binder, struct clr_node *node);

/* The ranks of an expression's results among all of them, where these are needed in their order:
   of an expression that reads one column, for each of whose entries SQLite evaluates it, or of one
   that may be derived. */
int clr_lower_ranks(struct clr_binder *binder, struct clr_node *node);

#endif
