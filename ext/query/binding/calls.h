/* The aggregates that a query calls: the tallies that a scan makes for them, and the questions that
   they ask of all values together. */
#ifndef CLR_QUERY_CALLS_H
#define CLR_QUERY_CALLS_H

#include "query/binding/emit.h"

/* Adds the call of an aggregate, a node of that kind, to the binder's query, with what it needs.
   Returns false once it has failed. */
bool clr_call_bind(struct clr_binder *binder, struct clr_node *node);

#endif
