/* What a SELECT with GROUP BY, or DISTINCT, groups rows by, and which of its expressions that is.
 */
#ifndef CLR_QUERY_GROUPING_H
#define CLR_QUERY_GROUPING_H

#include "query/emit.h"

#include <stdbool.h>

/*
 * Finds out what the keys are, and what names mean in the select list, HAVING and ORDER BY. Marks
 * the expressions there that are a key's. What else they have is in aggregates or no column of the
 * table. Returns false once it has failed.
 */
bool clr_grouping_find(struct clr_binder *binder);

/* Writes down the keys as instructions, and the groups' order. Returns false once it has failed. */
bool clr_grouping_bind(struct clr_binder *binder);

#endif
