/* The aggregates that a query calls, and the tallies that a scan makes for them. */
#ifndef CLR_QUERY_CALLS_H
#define CLR_QUERY_CALLS_H

#include "query/binding/emit.h"
#include "query/syntax/syntax.h"

/* Adds the call of an aggregate to the binder's query, with the tallies that it needs. Returns
   CLR_OK; else the binder has the reason, and the code is CLR_INVALID or CLR_NOMEM. */
enum clr_code clr_call_bind(struct clr_binder *binder, const struct clr_node *node);

#endif
