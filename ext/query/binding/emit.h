/* What is added to a query: instructions, and the constants and columns that they refer to. */
#ifndef CLR_QUERY_EMIT_H
#define CLR_QUERY_EMIT_H

#include "query/names/names.h"

/* How much of everything a query has. */
struct clr_query_size {
    int instructions, constants, columns, lookups;
};

struct clr_query_size clr_query_size_of(const struct clr_query *query);

/* Takes away what was added since the query had that size. */
void clr_query_shrink(struct clr_query *query, const struct clr_query_size *size);

/* All of clr_emit...() return the number of an instruction, one that is there already if it does
   the same. Once something has failed they return -1 and add nothing, so that it may be looked for
   in the end. */

/* An operation. */
int clr_emit(struct clr_binder *binder, enum clr_opcode opcode, int a, int b, int c);

/* A literal's value, or NULL and the number of a parameter or an operand, of which a bound is made
   unless that is NULL. */
int clr_emit_constant(struct clr_binder *binder, struct clr_scalar value, int parameter,
                      const struct clr_bound *bound);

/* The same of NULL, or a parameter or an operand as it is. */
int clr_emit_null(struct clr_binder *binder, int parameter);

/* A column of the table, by the environment's number, perhaps with the bytes of TEXT and BLOBs. */
int clr_emit_column(struct clr_binder *binder, int number, bool with_bytes);

/* The rowid of the table that is scanned; it is refused where that has none. */
int clr_emit_rowid(struct clr_binder *binder);

/* The times of a column, which clr_times_has_counts(). */
int clr_emit_times(struct clr_binder *binder, const struct clr_node *column);

/* The same column in any form, where no more is asked than whether it is NULL. */
int clr_emit_any(struct clr_binder *binder, const struct clr_node *column);

/* Returns the place among the scan's columns of a column, which is added unless it is there; -1
   once it has failed. The text of a derived one is taken. */
int clr_place_column(struct clr_binder *binder, const struct clr_query_column *column);

/* Returns the number of an expression without columns as an operand, or as the parameter that it
   is; -1 once it has failed. */
int clr_place_operand(struct clr_binder *binder, struct clr_node *node);

#endif
