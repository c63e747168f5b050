/* What columns have in a device's memory, and the way of bytes there and back. For ext/opencl
   alone. */
#ifndef CLR_OPENCL_UPLOAD_H
#define CLR_OPENCL_UPLOAD_H

#include "numeric/values/column.h"
#include "opencl/core/api.h"
#include "opencl/memory/resident_column.h"

#include <stddef.h>

struct clr_resident_column {
    uint8_t kind;
    struct clr_frame frame; /* of a narrow one */
    /* Of decimals, or 0: the frame's power, and 2^(63 + its bits) over it, cut off, by which
       kernels divide: kernels/columns/loads.cl. */
    cl_long power;
    cl_ulong reciprocal;
    size_t rows;
    size_t copied;  /* bytes, of the values and then of the tags */
    bool is_shared; /* the buffers are the host's arrays */
    /* NULL where there is none: no rows, nothing but NULLs, one type. Codes are in `values`. */
    cl_mem values, tags;
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

/* Staging buffers that stay mapped, made when the first bytes come. A device whose memory is the
   host's needs none. */
struct clr_upload;

/* Large enough for a bus's full speed, and short enough for whoever waits behind it. */
enum { CLR_UPLOAD_PIECE = 8 << 20 };

/* Makes the queue and the staging buffers, if there are none: all of them, or, if it does not
   return CLR_OK but CLR_NOMEM or CLR_DEVICE, nothing. */
enum clr_code clr_upload_open(struct clr_device *device, struct clr_status *status);

/* Returns the device's, or NULL while it has none. */
struct clr_upload *clr_upload_of(const struct clr_device *device);

/* Returns its queue, which is in order. */
cl_command_queue clr_upload_queue(const struct clr_upload *upload);

/*
 * Sends size bytes to the buffer, at that offset, in pieces, by commands of that queue, which is
 * flushed. They have been read when it returns. The upload is open. Returns CLR_OK,
 * CLR_NOMEM, if there is no room for the buffer, or another failure passes: then nothing is under
 * way; or CLR_DEVICE.
 */
enum clr_code clr_upload_send(struct clr_upload *upload, cl_command_queue queue, cl_mem buffer,
                              size_t offset, const void *source, size_t size,
                              struct clr_status *status);

/* Copies size bytes of a buffer, from that offset on, to target. Returns as clr_upload_send(). */
enum clr_code clr_upload_take(struct clr_upload *upload, cl_mem buffer, size_t offset, char *target,
                              size_t size, struct clr_status *status);

/* Waits until nothing is under way. Returns as clr_upload_send(). */
enum clr_code clr_upload_settle(struct clr_upload *upload, struct clr_status *status);

#endif
