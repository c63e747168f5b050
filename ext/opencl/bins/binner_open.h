/* Makes what a device needs for histograms, and tests it before it serves. */
#ifndef CLR_OPENCL_BINNER_OPEN_H
#define CLR_OPENCL_BINNER_OPEN_H

#include "base/status.h"
#include "opencl/core/device.h"

/*
 * Builds the program and tries it against the host, unless that has been done. Returns CLR_OK;
 * CLR_NOMEM, on the host or the device, when it may be tried again; or CLR_DEVICE with the reason,
 * now and ever after. All that concerns histograms alone. *log as in clr_program_build().
 */
enum clr_code clr_binner_open(struct clr_device *device, char **log, struct clr_status *status);

#endif
