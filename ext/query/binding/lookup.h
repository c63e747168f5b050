/* Lookups: expressions over one column that SQLite evaluates for each of the column's entries. */
#ifndef CLR_QUERY_LOOKUP_H
#define CLR_QUERY_LOOKUP_H

#include "query/names/names.h"

/*
 * Returns the instruction that looks up the result of an expression, or of several with an operator
 * between them, which read one column together; -1 once it has failed. A lookup that is there
 * already is used again. is_ranked: see clr_lower_ranks().
 */
int clr_lookup_emit(struct clr_binder *binder, struct clr_node *const *nodes, int count,
                    const char *operator, bool is_ranked);

/* The same of an expression over a column that is derived: its entries are what another expression
   gives, which has all columns of the first one. */
int clr_lookup_emit_over(struct clr_binder *binder, struct clr_node *node,
                         const struct clr_node *entry, int column, bool is_ranked);

/* Returns the number of the lookup of a column with codes, which takes the texts; -1 once it has
   failed, without them. */
int clr_lookup_place(struct clr_binder *binder, struct clr_lookup_plan *plan);

#endif
