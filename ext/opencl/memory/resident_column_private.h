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

#endif
