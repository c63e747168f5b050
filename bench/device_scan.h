/* Scans of columns that a device holds, without a worker. Whatever fails ends the program with the
   call's name. */
#ifndef CLR_BENCH_DEVICE_SCAN_H
#define CLR_BENCH_DEVICE_SCAN_H

#include "numeric/scan/scan.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"

#include <stdint.h>

/* Ends the program if the status is an error. */
void bench_die_on(const struct clr_status *status, const char *call);

/* Builds all that scans and groups have asked for. */
void bench_build(struct clr_device *device);

/* Sends the values or codes of all rows of a column, which has no tags. */
void bench_fill_column(struct clr_device *device, struct clr_resident_column *column,
                       const void *rows);

/* Runs a scan of columns of those kinds, whose tallies have the result. Returns the nanoseconds
   that its kernels took. */
int64_t bench_scan(struct clr_device *device, const struct clr_scan *scan, const uint8_t *kinds,
                   struct clr_resident_column *const *columns);

#endif
