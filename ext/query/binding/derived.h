/* Derived columns: expressions of a row, which SQLite evaluates for each row, once. */
#ifndef CLR_QUERY_DERIVED_H
#define CLR_QUERY_DERIVED_H

#include "query/binding/emit.h"

/*
 * Makes an expression a derived column, as its values or with their ranks, if it could not be
 * lowered otherwise. before: the query's size before that was tried; value: the instruction that
 * came of it, or -1. Returns value if there is no need or no way to derive it; else the column's
 * instruction, or -1 without memory or room.
 */
int clr_derive_instead(struct clr_binder *binder, const struct clr_node *node,
                       const struct clr_query_size *before, int value, bool is_ranked);

/* Likewise makes a part of an expression a derived column with codes, and the expression a lookup
   over it: for one that has parameters, or the present time, beside the row's columns. */
int clr_derive_part(struct clr_binder *binder, struct clr_node *node,
                    const struct clr_query_size *before, int value, bool is_ranked);

/* Writes the texts of derived columns that lead to dimensions whose keys have parts. Returns false
   once it has failed. */
bool clr_derive_keys(struct clr_binder *binder);

/* The ranks of several keys of a group together, which are derived: values of one rank are equal in
   each key, to the bit. Returns their instruction; -1: they can't be, or it has failed. */
int clr_derive_group(struct clr_binder *binder, struct clr_node *const *keys, int count);

/* Whether an expression has no other results than numbers and NULL, whatever it reads. */
bool clr_derive_gives_numbers(const struct clr_node *node);

#endif
