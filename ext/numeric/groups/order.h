/* The order of groups. */
#ifndef CLR_NUMERIC_GROUP_ORDER_H
#define CLR_NUMERIC_GROUP_ORDER_H

#include "numeric/groups/groups_private.h"

/* Groups that a table has: for each of its numbers the first part that has the group, times 2^32,
   and its number there. NULL: those of the only part. */
struct clr_group_found {
    const struct clr_group_table *table;
    const uint64_t *firsts;
};

/* Put the groups in order, and store finals if they are needed: those of places, and those of so
   many tables, where number n of table t is merged number n * count + t. Return as the others do;
   UNSURE of keys that are equal and two. */
enum clr_scan_outcome clr_group_order_places(struct clr_groups *groups,
                                             const struct clr_group_team *team);
enum clr_scan_outcome clr_group_order_found(struct clr_groups *groups,
                                            const struct clr_group_found *found, int count,
                                            const struct clr_group_team *team);

#endif
