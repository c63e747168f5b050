/*
 * A device's counting of the values of columns by bins, see kernels/columns/histogram.cl. As for
 * all of a device, one thread at a time calls these. Errors of OpenCL are final, as in
 * opencl/core/device.h.
 */
#ifndef CLR_OPENCL_BINNER_H
#define CLR_OPENCL_BINNER_H

#include "base/status.h"
#include "numeric/bins/bins.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Builds the kernels, makes what they need and compares their counts with the host's, as far as
 * that has not been done. Status: CLR_OK; CLR_NOMEM, on the host or the device, when it may be
 * tried again; or CLR_DEVICE with the reason, now and ever after: no histogram is counted there.
 * *log as in clr_program_build(). Returns false: there is no more to build.
 */
bool clr_binner_build(struct clr_device *device, char **log, struct clr_status *status);

/* Returns what is final: CLR_OK, or CLR_DEVICE with the reason; or CLR_NOMEM if the kernels have to
   be built yet. */
enum clr_code clr_binner_state(const struct clr_device *device, struct clr_status *status);

/*
 * Stores how many values of a column, which is complete and of the bounds' kind, each slot has, 0
 * to bounds->count. The state is CLR_OK. work is increased. Returns CLR_OK; CLR_NOMEM: no room on
 * the device, which stays usable; CLR_DEVICE.
 */
enum clr_code clr_binner_count(struct clr_device *device, const struct clr_resident_column *column,
                               const struct clr_bin_bounds *bounds, uint64_t *counts,
                               struct clr_device_work *work, struct clr_status *status);

#endif
