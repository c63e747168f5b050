/* The examination of a device's decoder of cells before it is trusted. For ext/opencl alone. */
#ifndef CLR_OPENCL_CELL_DECODER_TEST_H
#define CLR_OPENCL_CELL_DECODER_TEST_H

#include "opencl/core/device.h"

/*
 * Decodes pages with values of every serial type, short records, payloads that do not end in the
 * page, and odd pages of each sort, in all stages at once, and compares the columns with what was
 * put into the pages. Returns CLR_OK, CLR_NOMEM, or CLR_DEVICE with a message.
 */
enum clr_code clr_cell_decoder_test(struct clr_device *device, struct clr_status *status);

#endif
