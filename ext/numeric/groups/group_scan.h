/* Groups a scan's rows, by threads of a higher floor. */
#ifndef CLR_NUMERIC_GROUP_SCAN_H
#define CLR_NUMERIC_GROUP_SCAN_H

#include "numeric/groups/groups_private.h"

/* As clr_host_group(); the team's threads are at least as many as are worth it. */
enum clr_scan_outcome clr_group_scan(const struct clr_scan *scan, const struct clr_group_team *team,
                                     struct clr_groups **groups);

#endif
