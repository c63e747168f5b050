/*
 * Columns that a device has decoded, kept in as few bytes as those that the host sends: see
 * numeric/values/narrow.h and kernels/columns/narrowing.cl. As for decoded_column.h, the decoder is
 * open, and all happens in its queue.
 */
#ifndef CLR_OPENCL_NARROWED_COLUMN_H
#define CLR_OPENCL_NARROWED_COLUMN_H

#include "opencl/memory/resident_column.h"

/*
 * Narrows a column that has been concluded, if its values lie close together or are REALs of few
 * decimals: its kind and frame are then as the host would have chosen them, and the memory is 1, 2
 * or 4 bytes a row. While that is done there are both. Where there is no room for that, the column
 * stays as it is. It is waited for. Returns CLR_OK or CLR_DEVICE.
 */
enum clr_code clr_decoded_column_narrow(struct clr_device *device,
                                        struct clr_resident_column *column,
                                        struct clr_status *status);

#endif
