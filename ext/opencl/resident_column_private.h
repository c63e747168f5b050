/* A column's buffers, for ext/opencl alone. */
#ifndef CLR_OPENCL_RESIDENT_COLUMN_PRIVATE_H
#define CLR_OPENCL_RESIDENT_COLUMN_PRIVATE_H

#include "opencl/api.h"
#include "opencl/resident_column.h"

struct clr_resident_column {
    uint8_t kind;
    size_t rows;
    size_t copied;       /* bytes, of the values and then of the tags */
    size_t room;         /* rows that the buffer of a column that grows has room for */
    cl_mem values, tags; /* NULL where there is none: no rows, nothing but NULLs, one type */
};

#endif
