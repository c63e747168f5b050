/* Which expressions in the select list, HAVING and ORDER BY are what a key of the groups is. */
#ifndef CLR_QUERY_KEY_USES_H
#define CLR_QUERY_KEY_USES_H

#include "query/binding/emit.h"

#include <stdbool.h>

/* The keys' expressions: those of GROUP BY, or else the whole select list. */
struct clr_node *clr_key_uses_first(const struct clr_syntax *syntax);

/* Finds them, once it is known what names mean: each node gets its key's number. Refuses a column
   elsewhere. Returns false once it has failed. */
bool clr_key_uses_find(struct clr_binder *binder);

/* Lets the first token of each of them tell. Done when all are found and the keys are written down:
   both go by the tokens. */
void clr_key_uses_mark(struct clr_binder *binder);

#endif
