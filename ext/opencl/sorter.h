/*
 * A device's program for sorting columns, see kernels/sort.cl. As for all of a device, one thread
 * at a time calls these.
 */
#ifndef CLR_OPENCL_SORTER_H
#define CLR_OPENCL_SORTER_H

#include "base/status.h"
#include "opencl/device.h"

/* The program, its kernels and the queue that they run in. */
struct clr_sorter;

/*
 * Builds the program and tries it against the host, unless that has been done:
 * clr_sorted_column_step() needs it. Returns CLR_OK; CLR_NOMEM, on the host or the device, when it
 * may be tried again; or CLR_DEVICE with the reason, now and ever after. All that concerns sorting
 * alone. *log as in clr_program_build().
 */
enum clr_code clr_sorter_open(struct clr_device *device, char **log, struct clr_status *status);

/* Returns what clr_sorter_open() returned that is final: CLR_OK, or CLR_DEVICE with the reason; or
   CLR_NOMEM if it has to be called yet. */
enum clr_code clr_sorter_state(const struct clr_device *device, struct clr_status *status);

/* Releases everything. Nothing may be under way. */
void clr_sorter_close(struct clr_device *device);

#endif
