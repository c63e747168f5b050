/* The examination of a device's program before its answers are trusted. */
#ifndef CLR_OPENCL_SELF_TEST_H
#define CLR_OPENCL_SELF_TEST_H

#include "opencl/core/device.h"
#include "opencl/reduction/reducer.h"

/*
 * Reduces hard values (wide exponents, subnormals, cancellation, infinities, a length that is no
 * multiple of anything) on the device, which has the program built, and compares the result with
 * the host's to the bit. Returns CLR_OK, CLR_NOMEM, or CLR_DEVICE with a message: a driver that
 * rounds or contracts on its own terms must not serve.
 */
enum clr_code clr_self_test(struct clr_device *device, enum clr_operation operation,
                            enum clr_element element, struct clr_status *status);

#endif
