/* A column's buffers, for ext/opencl alone. */
#ifndef CLR_OPENCL_RESIDENT_COLUMN_PRIVATE_H
#define CLR_OPENCL_RESIDENT_COLUMN_PRIVATE_H

#include "numeric/values/column.h"
#include "opencl/core/api.h"
#include "opencl/memory/resident_column.h"

struct clr_resident_column {
    uint8_t kind;
    struct clr_frame frame; /* of a narrow one */
    /* Of decimals, or 0: the frame's power, and 2^(63 + its bits) over it, cut off, by which
       kernels divide: kernels/columns/loads.cl. */
    cl_long power;
    cl_ulong reciprocal;
    size_t rows;
    size_t copied;  /* bytes, of the values and then of the tags */
    size_t room;    /* rows that the buffers of a column that grows have room for */
    bool is_shared; /* the buffers are the host's arrays */
    /* NULL where there is none: no rows, nothing but NULLs, one type. Codes are in `values`. */
    cl_mem values, tags;
    /* Of one that is being decoded, bits 1 << tag: of the rows that the device has decoded, a
       cl_uint there, and of those that the host has written. */
    cl_mem kinds;
    unsigned written;
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
 * Moves the column's first rows, so many, to buffers with that room, which are made for a column of
 * that kind, by commands of that queue. What it had lives until all that uses it in the queue has
 * been done (OpenCL 1.2, 5.4.1). Returns CLR_OK; or CLR_NOMEM or CLR_DEVICE, with the column as it
 * was.
 */
enum clr_code clr_resident_column_resize(struct clr_device *device, cl_command_queue queue,
                                         struct clr_resident_column *column, uint8_t kind,
                                         size_t rows, size_t room, struct clr_status *status);

#endif
