/* What is added to a query: instructions, and the constants and columns that they refer to. */
#ifndef CLR_QUERY_EMIT_H
#define CLR_QUERY_EMIT_H

#include "query/query.h"
#include "query/syntax/syntax.h"

#include <stdbool.h>

/* What is bound, to what, and why it fails. */
struct clr_binder {
    struct clr_query *query;
    const struct clr_environment *environment;
    enum clr_code code;        /* CLR_OK, until something fails */
    struct clr_reason *reason; /* of CLR_INVALID */
};

/* All set the code, and the reason, and return -1. */
int clr_bind_refuse(struct clr_binder *binder, enum clr_reason_code why);
int clr_bind_refuse_name(struct clr_binder *binder, enum clr_reason_code why, const char *name,
                         size_t length);
int clr_bind_no_memory(struct clr_binder *binder);

/* Sets a literal's value; returns false once it has failed. */
bool clr_bind_literal(struct clr_binder *binder, struct clr_node *node);

/* These return the number of an instruction, one that is there already if it does the same, or -1
   once they have failed. */
int clr_emit(struct clr_binder *binder, enum clr_opcode opcode, int a, int b, int c);

/* A literal's value, or NULL and the number of a parameter. */
int clr_emit_constant(struct clr_binder *binder, struct clr_scalar value, int parameter);

/* Refuses more of something than a query has room for. */
int clr_bind_refuse_more(struct clr_binder *binder, const char *what);

/* Looks up a column of the table, for the node; returns false once it has failed. */
bool clr_bind_column(struct clr_binder *binder, struct clr_node *node);

/* A column of the table, which may be one of TEXT only if may_be_text. */
int clr_emit_column(struct clr_binder *binder, const struct clr_node *node, bool may_be_text);

/* A column of the table that is needed with the bytes of TEXT and BLOBs. */
int clr_emit_column_with_bytes(struct clr_binder *binder, const struct clr_node *node);

/* Returns the place among the scan's columns of a column of the table, by the environment's
   number, with codes or with values; -1 once it has failed. */
int clr_place_column(struct clr_binder *binder, int number, bool with_codes);

#endif
