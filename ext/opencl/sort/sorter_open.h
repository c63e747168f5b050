/* Makes what a device needs for sorting, and tests it before it serves. */
#ifndef CLR_OPENCL_SORTER_OPEN_H
#define CLR_OPENCL_SORTER_OPEN_H

#include "base/status.h"
#include "opencl/core/device.h"

/*
 * Builds the program and tries it against the host, unless that has been done:
 * clr_sorted_column_step() needs it. Returns CLR_OK; CLR_NOMEM, on the host or the device, when it
 * may be tried again; or CLR_DEVICE with the reason, now and ever after. All that concerns sorting
 * alone. *log as in clr_program_build().
 */
enum clr_code clr_sorter_open(struct clr_device *device, char **log, struct clr_status *status);

#endif
