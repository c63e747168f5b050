/*
 * Which arithmetic sums REALs quicker on a device that has both. Many GPUs compute with doubles at
 * 1/32 to 1/64 of the rate of integers: there the sums by integers that devices without doubles
 * compute (kernels/arithmetic/window.cl) are the quicker ones. The bits are the same.
 */
#ifndef CLR_OPENCL_ARITHMETIC_H
#define CLR_OPENCL_ARITHMETIC_H

#include "base/status.h"
#include "opencl/core/device.h"

#include <stdbool.h>
#include <stdint.h>

/* The times of a sum of the same values, in nanoseconds on the device; 0: it could not be
   computed, or was wrong. */
struct clr_arithmetic_times {
    int64_t doubles, integers;
};

/* Whether integers are clearly quicker: by more than what two equal times differ by. */
static inline bool clr_arithmetic_prefers_integers(const struct clr_arithmetic_times *times)
{
    return times->doubles > 0 && times->integers > 0 &&
           times->integers < times->doubles - times->doubles / 8;
}

/*
 * Measures both on an opened device: builds the program of the sum of REALs in each arithmetic, and
 * runs both over the same values, by turns. A time that cannot be had is 0. Takes 16 MiB on the
 * device meanwhile. Returns CLR_OK; or CLR_DEVICE with the reason, after a failure that leaves the
 * device unknown.
 */
enum clr_code clr_arithmetic_measure(struct clr_device *device, struct clr_arithmetic_times *times,
                                     struct clr_status *status);

/*
 * Decides for a device that has just been opened: where device_arithmetic leaves the choice, and
 * the device is no CPU (whose doubles are as quick as its integers), it measures. Sums,
 * scans and groups whose programs are built from then on are computed so. Returns as
 * clr_arithmetic_measure().
 */
enum clr_code clr_arithmetic_choose(struct clr_device *device, struct clr_status *status);

#endif
