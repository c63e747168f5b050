/*
 * A device's counting of the values of columns by bins, see kernels/columns/histogram.cl. As for
 * all of a device, one thread at a time calls these. Errors of OpenCL are final, as in
 * opencl/core/device.h.
 */
#ifndef CLR_OPENCL_BINNER_H
#define CLR_OPENCL_BINNER_H

#include "base/status.h"
#include "numeric/bins/bin_bounds.h"
#include "opencl/core/module.h"
#include "opencl/memory/resident_column.h"

#include <stdint.h>

/* Module: see opencl/core/module.h. */
extern const struct clr_module_kind clr_binner_kind;

/*
 * Stores how many values of a column, which is complete and of the bounds' kind, each slot has, 0
 * to bounds->count. The module is open. work is increased. Returns CLR_OK; CLR_NOMEM:
 * no room on the device, which stays usable; CLR_DEVICE.
 */
enum clr_code clr_binner_count(struct clr_device *device, const struct clr_resident_column *column,
                               const struct clr_bin_bounds *bounds, uint64_t *counts,
                               struct clr_device_work *work, struct clr_status *status);

#endif
