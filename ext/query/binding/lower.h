/* Expressions of the syntax as instructions of a scan. */
#ifndef CLR_QUERY_LOWER_H
#define CLR_QUERY_LOWER_H

#include "query/binding/emit.h"

/* Returns the instruction that leaves the expression's value, or -1 once it has failed.
   Instructions that are there already are used again. */
int clr_lower(struct clr_binder *binder, struct clr_node *node);

/* The same where no more is asked than whether the value is NULL: any column will do. */
int clr_lower_presence(struct clr_binder *binder, struct clr_node *node);

#endif
