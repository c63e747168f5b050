/* Scans with keys on the host, by all of its threads, or by devices that it asks. */
#ifndef CLR_ENGINE_HOST_GROUPS_H
#define CLR_ENGINE_HOST_GROUPS_H

#include "engine/operations/resident.h"
#include "engine/worker/team.h"
#include "numeric/groups/group_scan.h"

/*
 * Runs a scan that has a grouping. device: devices that may group the rows; its outcome is
 * CLR_SCAN_NOT_NOW where threads have done it, or none; NULL: there are none. Returns CLR_SCAN_DONE
 * with *groups, the caller's to free; CLR_SCAN_UNSURE; CLR_SCAN_LIMIT if they, and what is kept for
 * questions, take more than scan->values_memory; CLR_SCAN_STOPPED as the watch asked, which may be
 * NULL; or CLR_SCAN_FAILED without memory.
 */
enum clr_scan_outcome clr_host_group(const struct clr_scan *scan, const struct clr_watch *watch,
                                     struct clr_device_scan *device, struct clr_groups **groups);

/* The same by these threads, which are at least as many as are worth it. */
enum clr_scan_outcome clr_group_scan(const struct clr_scan *scan,
                                     const struct clr_group_team *threads,
                                     struct clr_device_scan *device, struct clr_groups **groups);

/* ---- In portions. */

/*
 * Begins groups of rows that come in portions, `rows` of them at most: with a sample of them, which
 * stays the caller's until the groups end, and in so many parts at most, for a thread each. The
 * rows of a part follow those of the parts before, and all of one portion those of the last:
 * clr_group_part_take() takes a portion, a scan that is the sample's but for its columns and rows.
 * Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE, CLR_SCAN_LIMIT or CLR_SCAN_FAILED; *groups is to be freed
 * in any case, or NULL.
 */
enum clr_scan_outcome clr_groups_begin(const struct clr_scan *sample, size_t rows, int parts,
                                       const struct clr_group_doubts *doubts,
                                       struct clr_groups **groups);

/*
 * Ends groups whose rows, so many in all, came in portions, by as many threads as they have parts,
 * when all portions were taken, or one of the parts would not go on. Returns as clr_host_group()
 * does, or CLR_SCAN_NOT_NOW if the plan will not do, with doubts to begin again with.
 */
enum clr_scan_outcome clr_host_groups_end(struct clr_groups *groups, size_t rows,
                                          const struct clr_watch *watch,
                                          struct clr_group_doubts *doubts);

#endif
