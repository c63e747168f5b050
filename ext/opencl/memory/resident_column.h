/* Columns in a device's memory. Any thread may call clr_resident_column_size(). */
#ifndef CLR_OPENCL_RESIDENT_COLUMN_H
#define CLR_OPENCL_RESIDENT_COLUMN_H

#include "base/status.h"
#include "numeric/scan/scan.h"
#include "numeric/values/column.h"
#include "numeric/values/narrow.h"
#include "opencl/core/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_resident_column;

/* Returns a column of that kind, as of clr_column_device_kind(), without memory on the device yet,
   or NULL. */
struct clr_resident_column *clr_resident_column_new(uint8_t kind, size_t rows);

/* Sets, before it is filled, the frame of the values, if the column's kind is narrow. */
void clr_resident_column_set_frame(struct clr_resident_column *column,
                                   const struct clr_frame *frame);

/* Copies as memcpy() does: by threads, which are the business of a higher floor. */
typedef void clr_copying(void *target, const void *source, size_t size);

/*
 * Copies the next piece of the values, in as many bytes as the kind has for each, or of the codes,
 * and of the tags where the kind is CLR_TAG_MIXED, wide or narrow, to the device, as
 * clr_upload_send() does. *complete becomes true with the last piece, which is waited for. copying:
 * NULL for memcpy(). CLR_NOMEM: there is no room on the device, or it is short of something else
 * for now; it stays usable, and the next call begins anew.
 */
enum clr_code clr_resident_column_fill(struct clr_device *device,
                                       struct clr_resident_column *column, const void *values,
                                       const uint8_t *tags, clr_copying *copying, bool *complete,
                                       struct clr_status *status);

/*
 * Fills a column that was never filled with the rows of another, complete one of the same kind and
 * frame, which are copied on the device, and with those of the ranges, whose values and tags are at
 * their places in the host's arrays. All rows beyond the other one's are among them. may_take:
 * nobody needs the other one any more, which may lose its buffers. It is waited for. Returns as
 * clr_resident_column_fill().
 */
enum clr_code clr_resident_column_change(struct clr_device *device,
                                         struct clr_resident_column *column,
                                         struct clr_resident_column *other, bool may_take,
                                         const void *values, const uint8_t *tags,
                                         const struct clr_row_ranges *ranges,
                                         struct clr_status *status);

/*
 * Has a column that was never filled use the host's arrays where they lie, if the device's memory
 * is the host's and they are aligned for it (shared_alignment of its description). They have to
 * stay as they are until the column is freed, and their memory up to a multiple of 64 bytes;
 * whoever likes may read them. Returns false, with the column as it was, if it has to be filled
 * instead: the driver's reason does not matter.
 */
bool clr_resident_column_share(const struct clr_device *device, struct clr_resident_column *column,
                               const void *values, const uint8_t *tags);

/* Returns the bytes on the device that the whole column takes. */
size_t clr_resident_column_size(uint8_t kind, size_t rows);

/*
 * Gives back the device's memory and the column. device is NULL for one that has failed: what lies
 * there is left to the end of the process, and arrays that are shared have to be as well. No column
 * is fine.
 */
void clr_resident_column_free(struct clr_device *device, struct clr_resident_column *column);

/* ---- What a column is made of, for ext/opencl alone. */

struct clr_resident_column {
    uint8_t kind;
    struct clr_frame frame; /* of a narrow one */
    /* Of decimals, or 0: the frame's power, and 2^(63 + its bits) over it, cut off, by which
       kernels divide: kernels/columns/loads.cl. */
    int64_t power;
    uint64_t reciprocal;
    size_t rows;
    size_t copied;  /* bytes, of the values and then of the tags */
    bool is_shared; /* the buffers are the host's arrays */
    /* NULL where there is none: no rows, nothing but NULLs, one type. Codes are in `values`. */
    struct _cl_mem *values, *tags; /* each a cl_mem */
};

/* Return the bytes of a column's values, or codes, and tags: its kind alone says all about NULLs
   and what is no number, and about the tags of all but CLR_TAG_MIXED, wide or narrow. */
static inline size_t clr_resident_values_size(uint8_t kind, size_t rows)
{
    return rows * clr_kind_value_bytes(kind);
}

static inline size_t clr_resident_tags_size(uint8_t kind, size_t rows)
{
    return clr_kind_wide(kind) == CLR_TAG_MIXED ? rows : 0;
}

/*
 * ---- The way of bytes to a device's memory, and back, through staging buffers that stay mapped:
 * made when the first ones come. A device whose memory is the host's needs none. For ext/opencl
 * alone.
 */

struct clr_upload;
struct _cl_command_queue;

/* Large enough for a bus's full speed, and short enough for whoever waits behind it. */
enum { CLR_UPLOAD_PIECE = 16 << 20 };

/* Returns the device's, whose queue and staging buffers are made if there are none; or NULL with
   CLR_NOMEM or CLR_DEVICE in status, and nothing is there. */
struct clr_upload *clr_upload_open(struct clr_device *device, struct clr_status *status);

/* Returns the device's, or NULL while it has none. */
struct clr_upload *clr_upload_of(const struct clr_device *device);

/*
 * Sends size bytes to the buffer, at that offset, in pieces, by commands of that queue, which is
 * flushed. They have been read when it returns. The upload is open. Returns CLR_OK,
 * CLR_NOMEM, if there is no room for the buffer, or another failure passes: then nothing is under
 * way; or CLR_DEVICE.
 */
enum clr_code clr_upload_send(struct clr_upload *upload, struct _cl_command_queue *queue,
                              struct _cl_mem *buffer, size_t offset, const void *source,
                              size_t size, struct clr_status *status);

/* Copies the first size bytes of a buffer to target. Returns as clr_upload_send(). */
enum clr_code clr_upload_take(struct clr_upload *upload, struct _cl_mem *buffer, char *target,
                              size_t size, struct clr_status *status);

#endif
