/* The examination of a device's sorting before it is trusted. For ext/opencl alone. */
#ifndef CLR_OPENCL_SORTER_TEST_H
#define CLR_OPENCL_SORTER_TEST_H

#include "opencl/core/device.h"

/*
 * Sorts INTEGERs of all sizes and hard REALs (both zeros, infinities, subnormals, many that are
 * equal) with the device's sorter, and compares the order and what is said of their runs with the
 * host's. Returns CLR_OK, CLR_NOMEM, or CLR_DEVICE with a message.
 */
enum clr_code clr_sorter_test(struct clr_device *device, struct clr_status *status);

#endif
