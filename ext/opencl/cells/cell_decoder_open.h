/* Makes what a device needs for the decoding of leaf pages, and tests it before it serves. */
#ifndef CLR_OPENCL_CELL_DECODER_OPEN_H
#define CLR_OPENCL_CELL_DECODER_OPEN_H

#include "base/status.h"
#include "opencl/core/device.h"

/*
 * Builds the program, makes `stages` stages, 1 to CLR_MOST_STAGES, and tries all that against known
 * pages, unless that has been done. Returns CLR_OK; CLR_NOMEM, on the host or the device, when it
 * may be tried again; or CLR_DEVICE with the reason, now and ever after: the device has no doubles,
 * the program can't be built, the test fails. *log as in clr_program_build().
 */
enum clr_code clr_cell_decoder_open(struct clr_device *device, int stages, char **log,
                                    struct clr_status *status);

#endif
