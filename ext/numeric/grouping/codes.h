/* Groups by the codes of a column: where each code of its dictionary is a group of its own, rows
   need no look at what the codes stand for. */
#ifndef CLR_NUMERIC_GROUP_CODES_H
#define CLR_NUMERIC_GROUP_CODES_H

#include "numeric/scan/scan.h"

/* Whether a scan's only key is a lookup whose results are ranks, or NULL, and all different.
   Nothing else may use it. Without memory to find that out it is said not to be. */
bool clr_group_codes_will_do(const struct clr_scan *scan);

/* Returns the lookup that the only key of a scan is. */
static inline const struct clr_lookup *clr_group_codes_lookup(const struct clr_scan *scan)
{
    return &scan->lookups[scan->instructions[scan->grouping->keys[0]].b];
}

/* No code. */
#define CLR_NO_CODE UINT32_MAX

/* Stores the rank of each code plus 1, or 0 for NULL; and the codes in the order of the groups,
   ranked_count + 1 of them, where some may be CLR_NO_CODE. */
void clr_group_codes_order(const struct clr_scan *scan, uint32_t *ranks, uint32_t *codes);

#endif
