/*
 * A device's program for sorting columns, see kernels/sort.cl. As for all of a device, one thread
 * at a time calls these.
 */
#ifndef CLR_OPENCL_SORTER_H
#define CLR_OPENCL_SORTER_H

#include "base/status.h"
#include "opencl/core/device.h"

/* The program, its kernels and the queue that they run in. */
struct clr_sorter;

/* Returns what clr_sorter_open() returned that is final: CLR_OK, or CLR_DEVICE with the reason; or
   CLR_NOMEM if it has to be called yet. */
enum clr_code clr_sorter_state(const struct clr_device *device, struct clr_status *status);

#endif
