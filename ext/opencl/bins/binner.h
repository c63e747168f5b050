/* A device's counting of the values of columns by bins, see kernels/columns/histogram.cl. */
#ifndef CLR_OPENCL_BINNER_H
#define CLR_OPENCL_BINNER_H

#include "base/status.h"
#include "numeric/bins/bins.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Stores how many values of a column, which is complete and of the bounds' kind, each slot has, 0
 * to bounds->count. *outcome: DONE; or NOT_NOW while there is no program, or where it can't be.
 * *requested: whether there is one to build. Returns CLR_OK, CLR_NOMEM, or CLR_DEVICE.
 */
enum clr_code clr_binner_run(struct clr_device *device, const struct clr_resident_column *column,
                             const struct clr_bin_bounds *bounds, uint64_t *counts,
                             enum clr_scan_outcome *outcome, bool *requested,
                             struct clr_device_work *work, struct clr_status *status);

#endif
