/* What is in an expression: which columns it reads, and what of it only SQLite computes. */
#ifndef CLR_QUERY_CONTENT_H
#define CLR_QUERY_CONTENT_H

#include "query/binding/emit.h"

/*
 * Looks up the columns of an expression, and sets what is known of each node once it is bound.
 * Refuses columns that there are not, and functions that are not deterministic. Aggregates are left
 * alone. Returns false once it has failed.
 */
bool clr_content_find(struct clr_binder *binder, struct clr_node *node);

/* Refuses a function that is not deterministic, or may be an aggregate; returns false once it has
   failed. */
bool clr_content_check_function(struct clr_binder *binder, const struct clr_node *node);

/* Refuses the name of a subquery's column that may be a column of the table as well; returns false
   once it has failed. */
bool clr_content_check_name(struct clr_binder *binder, const struct clr_node *node);

/* What two expressions read together. */
int clr_content_together(int reads, int other);

/* Whether an expression is a column, plus signs aside. */
bool clr_content_is_column(const struct clr_node *node);

/* Whether an expression has TEXT affinity: that of a column or a CAST, which COLLATE keeps. */
bool clr_content_is_text(const struct clr_node *node);

/* Whether SQLite compares the expression's values by BINARY, whatever is within it: it is no column
   that has another collating sequence, signs, casts and hints aside, and names none. */
bool clr_content_compares_binary(const struct clr_node *node);

/* Whether an expression has a collating sequence of its own, which goes before the one that its
   other operand in a comparison has: a column's, or that of a subquery's column. */
bool clr_content_has_sequence(const struct clr_node *node);

/* Whether a function of SQLite that calculates with times has that name, in small letters. */
bool clr_content_is_timed(const char *name);

/* Returns the name of a function or an operator, in small letters and without quotes, to be freed
   with clr_memory_free(); NULL once it has failed. */
char *clr_content_name(struct clr_binder *binder, const struct clr_node *node);

#endif
