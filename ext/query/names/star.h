/* Joins of a fact table with dimensions: see struct clr_dimension. */
#ifndef CLR_QUERY_STAR_H
#define CLR_QUERY_STAR_H

#include "query/names/names.h"

/*
 * Writes down which table is scanned, which ones are dimensions of it, by which keys, and the
 * conditions of rows. Of several tables that could be scanned it is the one with the most rows.
 * Refuses a join of which no table can. Returns false once it has failed.
 */
bool clr_star_find(struct clr_binder *binder);

/* Returns the number, from 0, that an expression has among the parts of a dimension's key, or -1.
 */
int clr_star_part(const struct clr_dimension *dimension, const struct clr_node *node);

/* Whether a term says that a dimension's key is equal to one of its parts. */
bool clr_star_has_part(const struct clr_dimension *dimension, const struct clr_node *term);

#endif
