#include "opencl/cells/decoded_column.h"

#include "opencl/cells/cell_decoder_private.h"
#include "opencl/core/failures.h"
#include "opencl/memory/resident_column_private.h"
#include "opencl/memory/upload.h"

#include <string.h>

/* Rows that a column has room for at first. */
static const size_t first_room = (size_t)1 << 16;

static cl_command_queue queue_of(const struct clr_device *device)
{
    return clr_cell_decoder_of(device)->module.queues[CLR_CELL_DECODING];
}

/* ---- Room. */

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
    error = clEnqueueFillBuffer(queue_of(device), column->kinds, &none, sizeof none, 0, sizeof none,
                                0, NULL, NULL);
    if (error == CL_SUCCESS)
        return CLR_OK;
    clr_buffer_release(&column->kinds);
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
    return clr_resident_column_resize(device, queue_of(device), column, CLR_TAG_MIXED, column->room,
                                      room, status);
}

/* ---- Content. */

enum clr_code clr_decoded_column_write(struct clr_device *device,
                                       struct clr_resident_column *column, size_t first,
                                       const int64_t *values, const uint8_t *tags, size_t count,
                                       struct clr_status *status)
{
    size_t i;

    if (clr_upload_open(device, status) != CLR_OK ||
        clr_upload_send(clr_upload_of(device), queue_of(device), column->values,
                        first * sizeof *values, values, count * sizeof *values, status) != CLR_OK ||
        clr_upload_send(clr_upload_of(device), queue_of(device), column->tags, first, tags, count,
                        status) != CLR_OK)
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
        error = clEnqueueReadBuffer(queue_of(device), column->kinds, CL_TRUE, 0, sizeof decoded,
                                    &decoded, 0, NULL, NULL);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
    *tags = column->written | decoded;
    return CLR_OK;
}

static uint8_t kind_of(unsigned tags)
{
    uint8_t tag;

    for (tag = CLR_TAG_NULL; tag <= CLR_TAG_BYTES; tag++) {
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
    clr_resident_column_resize(device, queue_of(device), column, column->kind, column->rows,
                               column->rows, status);
    if (status->code == CLR_NOMEM)
        clr_status_clear(status);
    if (status->code != CLR_OK)
        return status->code;
    /* Whoever reads the column does so in other queues. */
    error = clFinish(queue_of(device));
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
    clr_buffer_release(&column->kinds);
    if (clr_resident_values_size(column->kind, rows) == 0)
        clr_buffer_release(&column->values);
    if (clr_resident_tags_size(column->kind, rows) == 0)
        clr_buffer_release(&column->tags);
    return trim(device, column, status);
}
