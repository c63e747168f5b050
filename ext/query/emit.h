/* What is added to a query: instructions, and the constants and columns that they refer to. */
#ifndef CLR_QUERY_EMIT_H
#define CLR_QUERY_EMIT_H

#include "query/query.h"
#include "query/syntax.h"

#include <stdbool.h>

/* What is bound, to what, and where failures are written. */
struct clr_binder {
    struct clr_query *query;
    const struct clr_environment *environment;
    struct clr_status *status;
};

/* Both set the status and return -1. */
int clr_bind_refuse(struct clr_binder *binder, const char *reason);
int clr_bind_no_memory(struct clr_binder *binder);

/* Sets a literal's value; returns false with a status. */
bool clr_bind_literal(struct clr_binder *binder, struct clr_node *node);

/* These return the number of an instruction, one that is there already if it does the same, or -1
   with a status. */
int clr_emit(struct clr_binder *binder, enum clr_opcode opcode, int a, int b, int c);

/* A literal's value, or NULL and the number of a parameter. */
int clr_emit_constant(struct clr_binder *binder, struct clr_scalar value, int parameter);

/* A column of the table, which may be one of TEXT only if text_too. */
int clr_emit_column(struct clr_binder *binder, const struct clr_node *node, bool text_too);

/* A column of the table that is needed with the bytes of TEXT and BLOBs. */
int clr_emit_column_with_bytes(struct clr_binder *binder, const struct clr_node *node);

#endif
