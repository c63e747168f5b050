#include "opencl/cells/decoded_column.h"

#include "opencl/cells/cell_decoder_parts.h"
#include "opencl/core/device_private.h"
#include "opencl/core/failures.h"
#include "opencl/memory/resident_column_private.h"
#include "opencl/memory/upload.h"

#include <string.h>

/* Rows that a column has room for at first. */
static const size_t first_room = (size_t)1 << 16;

/* Values and tags of so many rows; NULL where there are none. */
struct buffers {
    cl_mem values, tags;
};

static void release(cl_mem *buffer)
{
    if (*buffer != NULL)
        clReleaseMemObject(*buffer);
    *buffer = NULL;
}

/* ---- Room. */

/* Makes a buffer of that size, to which what is used of another one is copied. */
static enum clr_code move(struct clr_device *device, cl_mem from, size_t used, size_t size,
                          cl_mem *to, struct clr_status *status)
{
    cl_int error;

    *to = clCreateBuffer(device->context, CL_MEM_READ_WRITE, size, NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clCreateBuffer", error);
    if (used == 0)
        return CLR_OK;
    error = clEnqueueCopyBuffer(clr_cell_decoder_of(device)->decoding, from, *to, 0, 0, used, 0,
                                NULL, NULL);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueCopyBuffer", error);
}

/*
 * Moves the column's first rows, so many, to buffers with that room, which are made for a column of
 * that kind; without memory it stays as it is. What it had lives until all that uses it, in the
 * queue so far, has been done (OpenCL 1.2, 5.4.1).
 */
static enum clr_code resize(struct clr_device *device, struct clr_resident_column *column,
                            uint8_t kind, size_t rows, size_t room, struct clr_status *status)
{
    struct buffers made = {NULL, NULL};

    if (move(device, column->values, clr_resident_values_size(kind, rows),
             clr_resident_values_size(kind, room), &made.values, status) == CLR_OK &&
        kind == CLR_TAG_MIXED)
        move(device, column->tags, clr_resident_tags_size(kind, rows),
             clr_resident_tags_size(kind, room), &made.tags, status);
    if (status->code != CLR_OK) {
        release(&made.values);
        release(&made.tags);
        return status->code;
    }
    release(&column->values);
    release(&column->tags);
    column->values = made.values;
    column->tags = made.tags;
    column->room = room;
    return CLR_OK;
}

static enum clr_code make_kinds(struct clr_device *device, struct clr_resident_column *column,
                                struct clr_status *status)
{
    const cl_uint none = 0;
    cl_int error;

    if (column->kinds != NULL)
        return CLR_OK;
    column->kinds = clCreateBuffer(device->context, CL_MEM_READ_WRITE, sizeof none, NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clCreateBuffer", error);
    error = clEnqueueFillBuffer(clr_cell_decoder_of(device)->decoding, column->kinds, &none,
                                sizeof none, 0, sizeof none, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        return CLR_OK;
    release(&column->kinds);
    return clr_opencl_buffer_failed(status, "clEnqueueFillBuffer", error);
}

enum clr_code clr_decoded_column_reserve(struct clr_device *device,
                                         struct clr_resident_column *column, size_t rows,
                                         struct clr_status *status)
{
    size_t room = column->room > 0 ? column->room + column->room / 2 : first_room;

    if (make_kinds(device, column, status) != CLR_OK || rows <= column->room)
        return status->code;
    if (room < rows)
        room = rows;
    /* Which of the rows are there is known to the caller alone. */
    return resize(device, column, CLR_TAG_MIXED, column->room, room, status);
}

/* ---- Content. */

/* Sends bytes in pieces, in the queue of decoding. */
static enum clr_code send(struct clr_device *device, cl_mem buffer, size_t offset,
                          const void *source, size_t size, struct clr_status *status)
{
    const char *from = source;
    size_t part;

    while (size > 0) {
        part = size < CLR_UPLOAD_PIECE ? size : CLR_UPLOAD_PIECE;
        if (clr_upload_send(clr_upload_of(device), clr_cell_decoder_of(device)->decoding, buffer,
                            offset, from, part, status) != CLR_OK)
            return status->code;
        from += part;
        offset += part;
        size -= part;
    }
    return CLR_OK;
}

enum clr_code clr_decoded_column_write(struct clr_device *device,
                                       struct clr_resident_column *column, size_t first,
                                       const int64_t *values, const uint8_t *tags, size_t count,
                                       struct clr_status *status)
{
    size_t i;

    if (clr_upload_open(device, status) != CLR_OK ||
        send(device, column->values, first * sizeof *values, values, count * sizeof *values,
             status) != CLR_OK ||
        send(device, column->tags, first, tags, count, status) != CLR_OK)
        return status->code;
    for (i = 0; i < count; i++)
        column->written |= 1U << tags[i];
    return CLR_OK;
}

/* ---- The end. */

/* Stores the set of the column's tags, when all that the queue has to do has been done. */
static enum clr_code read_tags(struct clr_device *device, const struct clr_resident_column *column,
                               unsigned *tags, struct clr_status *status)
{
    cl_uint decoded = 0;
    cl_int error = CL_SUCCESS;

    if (column->kinds != NULL)
        error = clEnqueueReadBuffer(clr_cell_decoder_of(device)->decoding, column->kinds, CL_TRUE,
                                    0, sizeof decoded, &decoded, 0, NULL, NULL);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
    *tags = column->written | decoded;
    return CLR_OK;
}

static uint8_t kind_of(unsigned tags)
{
    uint8_t tag;

    for (tag = CLR_TAG_NULL; tag <= CLR_TAG_OTHER; tag++) {
        if (tags == 1U << tag)
            return tag;
    }
    return tags == 0 ? CLR_TAG_NULL : CLR_TAG_MIXED;
}

/* Gives back room for more than the column's rows, unless that is little, or there is none for two
   of them at a time. */
static enum clr_code trim(struct clr_device *device, struct clr_resident_column *column,
                          struct clr_status *status)
{
    cl_int error;

    if (column->values == NULL || column->room - column->rows <= column->rows / 16)
        return CLR_OK;
    resize(device, column, column->kind, column->rows, column->rows, status);
    if (status->code == CLR_NOMEM)
        clr_status_clear(status);
    if (status->code != CLR_OK)
        return status->code;
    /* Whoever reads the column does so in other queues. */
    error = clFinish(clr_cell_decoder_of(device)->decoding);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clFinish", error);
}

enum clr_code clr_decoded_column_conclude(struct clr_device *device,
                                          struct clr_resident_column *column, size_t rows,
                                          unsigned *tags, struct clr_status *status)
{
    if (read_tags(device, column, tags, status) != CLR_OK)
        return status->code;
    column->kind = kind_of(*tags);
    column->rows = rows;
    column->copied = clr_resident_column_size(column->kind, rows);
    release(&column->kinds);
    if (clr_resident_values_size(column->kind, rows) == 0)
        release(&column->values);
    if (clr_resident_tags_size(column->kind, rows) == 0)
        release(&column->tags);
    return trim(device, column, status);
}
