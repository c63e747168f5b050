/* What a SELECT with GROUP BY, or DISTINCT, groups rows by, and which of its expressions that is.
 */
#ifndef CLR_QUERY_GROUPING_H
#define CLR_QUERY_GROUPING_H

#include "query/binding/emit.h"

#include <stdbool.h>

/*
 * Of a SELECT that has rows it looks up what names mean. Else it finds out what the keys are, and
 * what names mean in the select list, HAVING and ORDER BY. Marks the expressions there that are a
 * key's. What else they have is in aggregates or no column of the table. Returns false once it has
 * failed.
 */
bool clr_grouping_find(struct clr_binder *binder);

/* Writes down the rowid as the key, of a SELECT that has rows, and stores its name, a constant.
   Returns false once it has failed. */
bool clr_grouping_bind_rowid(struct clr_binder *binder, const char **name);

/* Writes down the keys as instructions, and the groups' order. Returns false once it has failed. */
bool clr_grouping_bind(struct clr_binder *binder);

#endif
