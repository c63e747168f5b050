/* Derived columns: expressions of a row that SQLite evaluates once, row by row. */
#ifndef CLR_QUERY_DERIVE_H
#define CLR_QUERY_DERIVE_H

#include "query/binding/emit.h"

/*
 * Has an expression be a derived column if it could not be lowered otherwise, with its ranks or as
 * values; before: the query's size until then; value: what came of it. Returns the instruction, or
 * -1 with what it was refused for.
 */
int clr_derive_instead(struct clr_binder *binder, const struct clr_node *node,
                       const struct clr_query_size *before, int value, bool is_ranked);

/* Has a part of an expression be a derived column with codes, likewise, and the expression a lookup
   over it: for what has parameters, or the present time, beside the row's columns. */
int clr_derive_part(struct clr_binder *binder, struct clr_node *node,
                    const struct clr_query_size *before, int value, bool is_ranked);

/* Whether an expression has no other results than numbers and NULL, whatever it reads. */
bool clr_derive_gives_numbers(const struct clr_node *node);

/* Whether its results are TEXT or BLOBs, or NULL. */
bool clr_derive_gives_text(const struct clr_node *node);

#endif
