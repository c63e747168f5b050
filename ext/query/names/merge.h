/*
 * Subqueries in FROM, CTEs and ordinary views that are projections of one table's rows: names of
 * their columns become what these are, and so the SELECT is one from tables.
 */
#ifndef CLR_QUERY_MERGE_H
#define CLR_QUERY_MERGE_H

#include "query/names/tables.h"

/* To be called once, before all else that is about names. Their conditions are left where they are.
   Names that mean no column are marked; they are hidden, and refused where they are looked up.
   Returns false once it has failed. */
bool clr_merge_all(struct clr_binder *binder);

/* Has a name mean a column of one table of FROM, by its place from 0. Returns false, with nothing
   changed, if that is not known to have one, or once it has failed. */
bool clr_merge_column(struct clr_binder *binder, struct clr_node *node, int source);

#endif
