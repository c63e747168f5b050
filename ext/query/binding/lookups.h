/* Lookups: expressions over one column, which SQLite evaluates for each of the column's entries. */
#ifndef CLR_QUERY_LOOKUPS_H
#define CLR_QUERY_LOOKUPS_H

#include "query/binding/emit.h"

/*
 * Returns the instruction that looks up the result of an expression, or of several with an operator
 * between them, which read one column together; -1 once it has failed. A lookup that is there
 * already is used again. is_ranked: see clr_lower_ranks().
 */
int clr_lookup_emit(struct clr_binder *binder, struct clr_node *const *nodes, int count,
                    const char *operator, bool is_ranked);

/* The same of an expression over a column that is derived, by its place among the scan's: its
   entries are what another expression gives, which has all columns of the first one. */
int clr_lookup_emit_over(struct clr_binder *binder, struct clr_node *node,
                         const struct clr_node *entry, int column, bool is_ranked);

/* Returns the instruction of the ranks of a derived column's values; -1 once it has failed. */
int clr_lookup_emit_ranks(struct clr_binder *binder, int column);

#endif
