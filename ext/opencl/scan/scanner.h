/*
 * Scans over columns in a device's memory. As for all of a device, one thread at a time calls
 * these. Errors of OpenCL are final, as in opencl/core/device.h.
 */
#ifndef CLR_OPENCL_SCANNER_H
#define CLR_OPENCL_SCANNER_H

#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"
#include "opencl/reduction/scan_plan.h"

#include <stdbool.h>

/* A device's programs and buffers for scans; kept from one to the next. */
struct clr_scanner;

/*
 * So many scans may be under way at once. They run one after the other, but the device has the next
 * one's kernels while the host still takes the last one's results and begins another: what a short
 * scan takes is mostly that.
 */
enum { CLR_SCAN_SLOTS = 4 };

/* A scan under way. */
struct clr_scan_slot;

/*
 * Begins to compute the tallies of a plan's scan from the device's copies of its columns, which are
 * not looked at themselves. The programs of the operations and element types of its steps are
 * built, and fewer than CLR_SCAN_SLOTS scans are under way. *slot: the scan, for which
 * clr_scanner_end() is due; or NULL with *outcome NOT_NOW, if programs of its own are yet to be
 * built, or can't be. *requested: whether there is something to build. Returns CLR_OK; or CLR_NOMEM
 * or CLR_DEVICE, with *slot NULL.
 */
enum clr_code clr_scanner_begin(struct clr_device *device, const struct clr_scan_plan *plan,
                                struct clr_resident_column *const *columns,
                                struct clr_scan_slot **slot, enum clr_scan_outcome *outcome,
                                bool *requested, struct clr_device_work *work,
                                struct clr_status *status);

/*
 * Ends a scan that was begun with that plan and those columns, the oldest one under way first.
 * *outcome: DONE; UNSURE; NOT_NOW if the device cannot tell. Returns CLR_OK, CLR_NOMEM, or
 * CLR_DEVICE.
 */
enum clr_code clr_scanner_end(struct clr_device *device, struct clr_scan_slot *slot,
                              const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns,
                              enum clr_scan_outcome *outcome, struct clr_device_work *work,
                              struct clr_status *status);

#endif
