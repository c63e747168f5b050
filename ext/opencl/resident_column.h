/*
 * Columns in a device's memory. As for all of a device, one thread at a time calls these, except
 * for clr_resident_column_size(). Errors of OpenCL are final, as in opencl/device.h.
 */
#ifndef CLR_OPENCL_RESIDENT_COLUMN_H
#define CLR_OPENCL_RESIDENT_COLUMN_H

#include "base/status.h"
#include "opencl/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_resident_column;

/* Returns a column of that kind (enum clr_tag), without memory on the device yet, or NULL. */
struct clr_resident_column *clr_resident_column_new(uint8_t kind, size_t rows);

/*
 * Copies the next piece of the values, and of the tags where the kind is CLR_TAG_MIXED, to the
 * device, through two mapped buffers: one is filled while the other is on its way. *complete
 * becomes true with the last piece, which is waited for. CLR_NOMEM: there is no room on the
 * device, which stays usable.
 */
enum clr_code clr_resident_column_fill(struct clr_device *device,
                                       struct clr_resident_column *column, const int64_t *values,
                                       const uint8_t *tags, bool *complete,
                                       struct clr_status *status);

/*
 * For a column of one type that began without rows: appends count values, which have been read when
 * it returns; clr_resident_column_settle() has to follow the last ones. The device's memory grows
 * as they come, to twice what it was. Returns as clr_resident_column_fill().
 */
enum clr_code clr_resident_column_append(struct clr_device *device,
                                         struct clr_resident_column *column, const int64_t *values,
                                         size_t count, struct clr_status *status);

/* Waits until all values that were appended are on the device. Returns CLR_OK or CLR_DEVICE. */
enum clr_code clr_resident_column_settle(struct clr_device *device, struct clr_status *status);

/* Returns how many rows it has so far. */
size_t clr_resident_column_rows(const struct clr_resident_column *column);

/* Returns the bytes on the device that the whole column takes. */
size_t clr_resident_column_size(uint8_t kind, size_t rows);

/*
 * Gives back the device's memory and the column. device is NULL for one that has failed: what lies
 * there is left to the end of the process. No column is fine.
 */
void clr_resident_column_free(struct clr_device *device, struct clr_resident_column *column);

/* Releases what the transfers used. Nothing may be under way. */
void clr_upload_close(struct clr_device *device);

#endif
