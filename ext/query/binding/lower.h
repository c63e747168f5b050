/* Expressions as a scan's instructions, and what else is added to a query. */
#ifndef CLR_QUERY_LOWER_H
#define CLR_QUERY_LOWER_H

#include "query/binding/names.h"

/* All return the number of an instruction, one that is there already if it does the same. Once
   something has failed they return -1 and add nothing, so that it may be looked for in the end. */

/* How much of everything a query has. */
struct clr_query_size {
    int instructions, constants, columns, lookups;
};

struct clr_query_size clr_query_size_of(const struct clr_query *query);

/* Takes away what was added since the query had that size. */
void clr_query_shrink(struct clr_query *query, const struct clr_query_size *size);

/* The instruction that leaves the expression's value. */
int clr_lower(struct clr_binder *binder, struct clr_node *node);

/* The ranks of an expression's results among all of them, where these are needed in their order:
   of an expression that reads one column, for each of whose entries SQLite evaluates it, or of one
   that may be derived. */
int clr_lower_ranks(struct clr_binder *binder, struct clr_node *node);

/* An operation. */
int clr_emit(struct clr_binder *binder, enum clr_opcode opcode, int a, int b, int c);

/* A column of the table, by the environment's number, perhaps with the bytes of TEXT and BLOBs. */
int clr_emit_column(struct clr_binder *binder, int number, bool with_bytes);

/* The same column in any form, where no more is asked than whether it is NULL. */
int clr_emit_any(struct clr_binder *binder, const struct clr_node *column);

#endif
