/* Groups of rows whose columns lie in devices' memory. Any thread may call this. */
#ifndef CLR_ENGINE_RESIDENT_GROUPS_H
#define CLR_ENGINE_RESIDENT_GROUPS_H

#include "engine/columns/sharded.h"
#include "numeric/grouping/part.h"

/*
 * Groups all rows of the parts' plan on the devices of a division, at the same time: those of each
 * shard into a part, which it opens, and which begins with the shard's first row. copies has that
 * of each of the scan's columns, all of this division and READY. If the program has not been built
 * yet, it is built in the background. timeout_ms and watch as for clr_resident_scan(); work is
 * increased by what was done. Returns as struct clr_group_team has it, or CLR_SCAN_FAILED with the
 * status, when the parts are of no use.
 */
enum clr_scan_outcome clr_resident_group(const struct clr_division *division,
                                         struct clr_sharded *const *copies,
                                         struct clr_group_part *const *parts, int64_t timeout_ms,
                                         const struct clr_watch *watch,
                                         struct clr_device_work *work, struct clr_status *status);

#endif
