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

#endif
