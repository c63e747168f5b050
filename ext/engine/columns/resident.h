/*
 * Columns that lie in a device's memory, and scans over them. All functions may be called by any
 * thread; the OpenCL calls are made by the device's worker.
 */
#ifndef CLR_ENGINE_RESIDENT_H
#define CLR_ENGINE_RESIDENT_H

#include "engine/worker/worker.h"
#include "numeric/scan/scan.h"

#include <stddef.h>

/* A copy of a column on a device. */
struct clr_resident;

enum clr_residence { CLR_RESIDENT_COMING, CLR_RESIDENT_READY, CLR_RESIDENT_FAILED };

/*
 * Starts copying a column to the worker's device, in the background: staged through mapped buffers
 * in pieces, between which the worker serves its other jobs. Takes a reference to the column and
 * drops it when the copy is complete or has failed. Returns NULL without memory. The column's
 * values must not change any more.
 */
struct clr_resident *clr_resident_new(struct clr_worker *worker, struct clr_column *column);

/*
 * Returns how far it is. FAILED: no room on the device, or a device that failed. If it may succeed
 * another time, the copy is started again now and then by who asks this, and is COMING then.
 */
enum clr_residence clr_resident_state(struct clr_resident *resident);

/* Returns the bytes of device memory that it takes, with the sorted copy of
   engine/columns/resident_order.h if there is one or one is being made. */
size_t clr_resident_size(const struct clr_resident *resident);

/* Gives the device's memory back, once nothing uses it, and the object. Never waits. NULL is fine.
 */
void clr_resident_free(struct clr_resident *resident);

/*
 * Whether clr_resident_scan() would find all kernels built for columns of those kinds (enum
 * clr_tag); what is missing is then built in the background. The tallies' states are undefined
 * after it. timeout_ms and watch as there. Returns CLR_SCAN_DONE, CLR_SCAN_NOT_NOW,
 * CLR_SCAN_STOPPED, or CLR_SCAN_FAILED with the status.
 */
enum clr_scan_outcome clr_resident_prepare(struct clr_worker *worker, const struct clr_scan *scan,
                                           const uint8_t *kinds, int64_t timeout_ms,
                                           const struct clr_watch *watch,
                                           struct clr_status *status);

/*
 * Computes the scan's tallies on the device; residents has the copy of each of the scan's columns,
 * all READY and of this worker's device. If a kernel that is needed has not been built yet, it is
 * built in the background and the answer is CLR_SCAN_NOT_NOW. timeout_ms as in
 * clr_worker_collect(); after it the device counts as failed. watch may be NULL. work is increased
 * by what was done. Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE, CLR_SCAN_NOT_NOW, CLR_SCAN_STOPPED, or
 * CLR_SCAN_FAILED with the status.
 */
enum clr_scan_outcome clr_resident_scan(struct clr_worker *worker, struct clr_scan *scan,
                                        struct clr_resident *const *residents, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_device_work *work,
                                        struct clr_status *status);

#endif
