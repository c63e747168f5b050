/*
 * Columns in a device's memory that are decoded there (opencl/cells/cell_decoder.h): made by
 * clr_resident_column_new() with no rows and any kind, given room, filled, and concluded. All that
 * concerns them happens in the decoder's queue, in order, and the decoder is open.
 */
#ifndef CLR_OPENCL_DECODED_COLUMN_H
#define CLR_OPENCL_DECODED_COLUMN_H

#include "opencl/memory/resident_column.h"

/*
 * Has room for so many rows, values and tags; what was there stays. Grows by half at least, so that
 * rows may come in any number of steps. Returns CLR_OK, CLR_NOMEM (as before) or CLR_DEVICE.
 */
enum clr_code clr_decoded_column_reserve(struct clr_device *device,
                                         struct clr_resident_column *column, size_t rows,
                                         struct clr_status *status);

/* Writes rows that the host has decoded, with their tags. They have been read when it returns. */
enum clr_code clr_decoded_column_write(struct clr_device *device,
                                       struct clr_resident_column *column, size_t first,
                                       const int64_t *values, const uint8_t *tags, size_t count,
                                       struct clr_status *status);

/*
 * All rows are there: sets the column's rows and kind (the tag of all, or CLR_TAG_MIXED), gives
 * back the memory that it does not need, and stores in *tags the set of its tags, bits 1 << tag.
 */
enum clr_code clr_decoded_column_conclude(struct clr_device *device,
                                          struct clr_resident_column *column, size_t rows,
                                          unsigned *tags, struct clr_status *status);

#endif
