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
 * Computes the tallies of a plan's scan from the device's copies of its columns, which are not
 * looked at themselves. The programs of the operations and element types of its steps are built.
 * *outcome: DONE; UNSURE; NOT_NOW if programs of its own are yet to be built, or can't be,
 * or the device cannot tell. *requested: whether there is something to build. Returns CLR_OK,
 * CLR_NOMEM, or CLR_DEVICE.
 */
enum clr_code clr_scanner_run(struct clr_device *device, const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns,
                              enum clr_scan_outcome *outcome, bool *requested,
                              struct clr_device_work *work, struct clr_status *status);

/*
 * Asks for the programs of a plan, and stores whether all are built; otherwise as
 * clr_scanner_run(), but for the states of the tallies, which are of no use.
 */
enum clr_code clr_scanner_prepare(struct clr_device *device, const struct clr_scan_plan *plan,
                                  bool *ready, bool *requested, struct clr_status *status);

/*
 * Builds one of the programs that were asked for; a failure concerns it alone. *log as in
 * clr_program_build(). Returns whether there are more.
 */
bool clr_scanner_build(struct clr_device *device, char **log, struct clr_status *status);

#endif
