/* Expressions, and the aggregates that a query calls, as what a scan computes. */
#ifndef CLR_QUERY_LOWER_H
#define CLR_QUERY_LOWER_H

#include "query/names/names.h"

/* The first two return the number of an instruction, as clr_emit() does. */

/* The instruction that leaves the expression's value. */
int clr_lower(struct clr_binder *binder, struct clr_node *node);

/* The ranks of an expression's results among all of them, where these are needed in their order:
   of an expression that reads one column, for each of whose entries SQLite evaluates it, or of one
   that may be derived. */
int clr_lower_ranks(struct clr_binder *binder, struct clr_node *node);

/* Adds the call of an aggregate, a node of that kind, to the binder's query, with what it needs:
   the tallies that a scan makes for it, or a question that it asks of all values together. Returns
   false once it has failed. */
bool clr_call_bind(struct clr_binder *binder, struct clr_node *node);

#endif
