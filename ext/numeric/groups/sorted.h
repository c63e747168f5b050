/* Groups that are numbered by place, brought together by sorting. */
#ifndef CLR_NUMERIC_GROUP_SORTED_H
#define CLR_NUMERIC_GROUP_SORTED_H

#include "numeric/groups/groups_private.h"

/*
 * Brings the parts' groups together, in the order of their places, and makes entries. A part may
 * have a place several times. First all threads scatter the places to buckets by their upper bits,
 * then each sorts buckets that fit in its cache (Satish et al., "Fast sort on CPUs and GPUs",
 * 2010). Returns as clr_groups_merge().
 */
enum clr_scan_outcome clr_groups_merge_sorted(struct clr_groups *groups,
                                              const struct clr_group_team *team);

#endif
