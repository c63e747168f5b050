/* Scans with keys on the host, by all of its threads. */
#ifndef CLR_ENGINE_HOST_GROUPS_H
#define CLR_ENGINE_HOST_GROUPS_H

#include "engine/worker/team.h"
#include "numeric/groups/groups.h"

/*
 * Runs a scan that has a grouping and no tally that merges. Returns CLR_SCAN_DONE with *groups, the
 * caller's to free; CLR_SCAN_UNSURE; CLR_SCAN_LIMIT if they, and what is kept for questions, take
 * more than scan->values_memory; CLR_SCAN_STOPPED as the watch asked, which may be NULL; or
 * CLR_SCAN_FAILED without memory.
 */
enum clr_scan_outcome clr_host_group(const struct clr_scan *scan, const struct clr_watch *watch,
                                     struct clr_groups **groups);

#endif
