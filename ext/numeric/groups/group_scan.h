/* Groups a scan's rows, by threads of a higher floor: of columns that are here, or in portions. */
#ifndef CLR_NUMERIC_GROUP_SCAN_H
#define CLR_NUMERIC_GROUP_SCAN_H

#include "numeric/groups/groups_private.h"

/* As clr_host_group(); the team's threads are at least as many as are worth it. */
enum clr_scan_outcome clr_group_scan(const struct clr_scan *scan, const struct clr_group_team *team,
                                     struct clr_groups **groups);

/*
 * Begins groups of rows that come in portions, `rows` of them at most: with a sample of them, which
 * stays the caller's until the groups end, and in so many parts at most, for a thread each. The
 * rows of a part follow those of the parts before, and all of one portion those of the last.
 * Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE, CLR_SCAN_LIMIT or CLR_SCAN_FAILED; *groups is to be freed
 * in any case, or NULL.
 */
enum clr_scan_outcome clr_groups_begin(const struct clr_scan *sample, size_t rows, int parts,
                                       const struct clr_group_doubts *doubts,
                                       struct clr_groups **groups);

/* Returns how many parts there are: 1 at least. */
int clr_groups_parts(const struct clr_groups *groups);

/* Takes a portion of a part's rows: a scan which is the sample's but for its columns and rows.
   Returns as clr_group_part_run() stores it; from then on nothing more is taken. */
enum clr_scan_outcome clr_groups_take(struct clr_groups *groups, int part,
                                      const struct clr_scan *portion, const atomic_bool *stop);

/*
 * Completes the groups when all portions were taken, or one of the parts would not go on. Returns
 * as clr_group_scan() does, or CLR_SCAN_NOT_NOW if the plan will not do, with doubts to begin again
 * with.
 */
enum clr_scan_outcome clr_groups_end(struct clr_groups *groups, const struct clr_group_team *team,
                                     struct clr_group_doubts *doubts);

/* Doubts everything: groups that are begun with that are not to be begun again. */
void clr_group_doubt_all(struct clr_group_doubts *doubts);

#endif
