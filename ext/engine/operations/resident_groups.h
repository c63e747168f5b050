/* Groups of rows whose columns lie in a device's memory. Any thread may call this. */
#ifndef CLR_ENGINE_RESIDENT_GROUPS_H
#define CLR_ENGINE_RESIDENT_GROUPS_H

#include "engine/columns/resident.h"
#include "numeric/grouping/part.h"

/*
 * Groups all rows of the part's plan on the device, which is described by info, into the part,
 * which it opens. residents has the copy of each of the scan's columns, all READY and of this
 * worker's device. If the program has not been built yet, it is built in the background. timeout_ms
 * and watch as for clr_resident_scan(); work is increased by what was done. Returns as struct
 * clr_group_team has it, or CLR_SCAN_FAILED with the status, when the part is of no use.
 */
enum clr_scan_outcome clr_resident_group(struct clr_worker *worker,
                                         const struct clr_device_info *info,
                                         struct clr_resident *const *residents,
                                         struct clr_group_part *part, int64_t timeout_ms,
                                         const struct clr_watch *watch,
                                         struct clr_device_work *work, struct clr_status *status);

#endif
