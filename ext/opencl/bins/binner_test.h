/* The examination of a device's histograms before they are trusted. For ext/opencl alone. */
#ifndef CLR_OPENCL_BINNER_TEST_H
#define CLR_OPENCL_BINNER_TEST_H

#include "opencl/core/device.h"

/*
 * Counts INTEGERs and hard REALs by few bins and by more than a group's memory has room for, with
 * and without a guess, in several launches, and compares the counts with the host's. Returns
 * CLR_OK, CLR_NOMEM, or CLR_DEVICE with a message.
 */
enum clr_code clr_binner_test(struct clr_device *device, struct clr_status *status);

#endif
