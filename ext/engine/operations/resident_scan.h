/* Scans over columns that lie in a device's memory. All functions may be called by any thread. */
#ifndef CLR_ENGINE_RESIDENT_SCAN_H
#define CLR_ENGINE_RESIDENT_SCAN_H

#include "engine/columns/sharded.h"
#include "numeric/scan/scan.h"

/*
 * Computes the scan's tallies on the devices of a division, all at the same time; copies has that
 * of each of the scan's columns, all of this division and READY. What the scan's lookups have is
 * copied there as well, unless it is there from an earlier scan. If a kernel that is needed has not
 * been built yet, it is built in the background and the answer is CLR_SCAN_NOT_NOW. timeout_ms as
 * in clr_worker_collect(); after it a device counts as failed. watch may be NULL. work is increased
 * by what was done. Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE, CLR_SCAN_NOT_NOW, CLR_SCAN_STOPPED, or
 * CLR_SCAN_FAILED with the status.
 */
enum clr_scan_outcome clr_resident_scan(const struct clr_division *division, struct clr_scan *scan,
                                        struct clr_sharded *const *copies, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_device_work *work,
                                        struct clr_status *status);

#endif
