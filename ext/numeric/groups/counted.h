/* How often each group has each value, where these are INTEGERs in a small range: all that
   positions need to be found, without putting the values of each group together. */
#ifndef CLR_NUMERIC_GROUP_COUNTED_H
#define CLR_NUMERIC_GROUP_COUNTED_H

#include "numeric/groups/groups_private.h"

/* Zeros: nothing is counted. */
struct clr_counted {
    int64_t first;        /* the least value */
    size_t range;         /* how many values there may be from it on; 0: nothing is counted */
    size_t stride;        /* counts of a part: range for each group */
    int parts;            /* that have counts of their own */
    struct clr_room room; /* uint32_t: of the parts, one after the other */
};

/*
 * Counts the values that a tally has listed, for itself and others, and frees the lists; or does
 * nothing where they are no INTEGERs, too far apart, or asked for more than positions. Returns as
 * the others do; clr_counted_free() is due after failures too.
 */
enum clr_scan_outcome clr_counted_make(struct clr_counted *counted, struct clr_groups *groups,
                                       int lister, const struct clr_group_team *team);
void clr_counted_free(struct clr_counted *counted, struct clr_group_memory *memory);

/* Returns how many values a group has. */
size_t clr_counted_total(const struct clr_counted *counted, size_t group);

/* Stores the value at a rank, from 0 on, of a group, and the one that follows, or itself again at
   the end. The rank is less than the total. */
void clr_counted_select(const struct clr_counted *counted, size_t group, size_t rank,
                        struct clr_value pair[2]);

#endif
