/*
 * A device's program for counting the values of columns by bins, see kernels/histogram.cl. As for
 * all of a device, one thread at a time calls these. Errors of OpenCL are final, as in
 * opencl/core/device.h.
 */
#ifndef CLR_OPENCL_BINNER_H
#define CLR_OPENCL_BINNER_H

#include "base/status.h"
#include "numeric/bins/bin_bounds.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"

#include <stdint.h>

/* The program, its kernels, the queue that they run in, and the memory that they need. */
struct clr_binner;

/* Returns what clr_binner_open() returned that is final: CLR_OK, or CLR_DEVICE with the reason; or
   CLR_NOMEM if it has to be called yet. */
enum clr_code clr_binner_state(const struct clr_device *device, struct clr_status *status);

/*
 * Stores how many values of a column, which is complete and of the bounds' kind, each slot has, 0
 * to bounds->count. clr_binner_open() has succeeded. work is increased. Returns CLR_OK; CLR_NOMEM:
 * no room on the device, which stays usable; CLR_DEVICE.
 */
enum clr_code clr_binner_count(struct clr_device *device, const struct clr_resident_column *column,
                               const struct clr_bin_bounds *bounds, uint64_t *counts,
                               struct clr_device_work *work, struct clr_status *status);

#endif
