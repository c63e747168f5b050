#include "opencl/memory/resident_column.h"

#include "base/memory.h"
#include "numeric/values/column.h"
#include "opencl/core/device_private.h"
#include "opencl/core/failures.h"
#include "opencl/memory/resident_column_private.h"
#include "opencl/memory/upload.h"

#include <string.h>

/* Rows that a column that grows has room for at first. */
static const size_t first_room = (size_t)1 << 16;

struct clr_resident_column *clr_resident_column_new(uint8_t kind, size_t rows)
{
    struct clr_resident_column *column = clr_memory_alloc(sizeof *column);

    if (column == NULL)
        return NULL;
    memset(column, 0, sizeof *column);
    column->kind = kind;
    column->rows = rows;
    return column;
}

size_t clr_resident_column_size(uint8_t kind, size_t rows)
{
    return clr_resident_values_size(kind, rows) + clr_resident_tags_size(kind, rows);
}

static enum clr_code create_buffer(struct clr_device *device, cl_mem *buffer, size_t size,
                                   struct clr_status *status)
{
    cl_int error = CL_SUCCESS;

    if (*buffer == NULL && size > 0)
        *buffer = clCreateBuffer(device->context, CL_MEM_READ_ONLY, size, NULL, &error);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_buffer_failed(status, "clCreateBuffer", error);
}

static enum clr_code fill(struct clr_device *device, struct clr_resident_column *column,
                          const int64_t *values, const uint8_t *tags, bool *complete,
                          struct clr_status *status)
{
    size_t first = clr_resident_values_size(column->kind, column->rows);
    size_t second = clr_resident_tags_size(column->kind, column->rows), offset = column->copied,
           size;
    bool in_tags = offset >= first;

    *complete = false;
    if (clr_upload_open(device, status) != CLR_OK ||
        create_buffer(device, &column->values, first, status) != CLR_OK ||
        create_buffer(device, &column->tags, second, status) != CLR_OK)
        return status->code;
    if (in_tags)
        offset -= first;
    size = (in_tags ? second : first) - offset;
    if (size > CLR_UPLOAD_PIECE)
        size = CLR_UPLOAD_PIECE;
    if (size > 0 && clr_upload_send(clr_upload_of(device), clr_upload_queue(clr_upload_of(device)),
                                    in_tags ? column->tags : column->values, offset,
                                    (in_tags ? (const char *)tags : (const char *)values) + offset,
                                    size, status) != CLR_OK)
        return status->code;
    column->copied += size;
    if (column->copied < first + second)
        return CLR_OK;
    *complete = clr_resident_column_settle(device, status) == CLR_OK;
    return status->code;
}

static void release_buffer(cl_mem *buffer)
{
    if (*buffer != NULL)
        clReleaseMemObject(*buffer);
    *buffer = NULL;
}

enum clr_code clr_resident_column_fill(struct clr_device *device,
                                       struct clr_resident_column *column, const int64_t *values,
                                       const uint8_t *tags, bool *complete,
                                       struct clr_status *status)
{
    if (fill(device, column, values, tags, complete, status) == CLR_NOMEM) {
        /* Others may need the room, until it is tried again, from the beginning. */
        release_buffer(&column->values);
        release_buffer(&column->tags);
        column->copied = 0;
    }
    return status->code;
}

enum clr_code clr_resident_column_fetch(struct clr_device *device,
                                        const struct clr_resident_column *column, int64_t *values,
                                        uint8_t *tags, size_t *done, bool *complete,
                                        struct clr_status *status)
{
    const size_t first = clr_resident_values_size(column->kind, column->rows);
    const size_t all = clr_resident_column_size(column->kind, column->rows);
    const bool in_tags = *done >= first;
    const size_t offset = *done - (in_tags ? first : 0), left = (in_tags ? all : first) - *done;
    const size_t size = left < CLR_UPLOAD_PIECE ? left : CLR_UPLOAD_PIECE;

    *complete = *done == all;
    if (*complete || clr_upload_open(device, status) != CLR_OK ||
        clr_upload_take(clr_upload_of(device), in_tags ? column->tags : column->values, offset,
                        (in_tags ? (char *)tags : (char *)values) + offset, size, status) != CLR_OK)
        return status->code;
    *done += size;
    *complete = *done == all;
    return CLR_OK;
}

/* Makes a buffer of twice the size, to which what is there is copied; the queue is in order. */
static enum clr_code grow(struct clr_device *device, struct clr_resident_column *column,
                          size_t rows, struct clr_status *status)
{
    size_t room = column->room > 0 ? 2 * column->room : first_room;
    cl_mem larger = NULL;
    cl_int error;

    if (room < rows)
        room = rows;
    if (create_buffer(device, &larger, room * sizeof(int64_t), status) != CLR_OK)
        return status->code;
    if (column->rows > 0) {
        error = clEnqueueCopyBuffer(clr_upload_queue(clr_upload_of(device)), column->values, larger,
                                    0, 0, column->rows * sizeof(int64_t), 0, NULL, NULL);
        if (error != CL_SUCCESS) {
            clReleaseMemObject(larger);
            return clr_opencl_buffer_failed(status, "clEnqueueCopyBuffer", error);
        }
    }
    /* It lives until the copy has been made (OpenCL 1.2, 5.4.1). */
    if (column->values != NULL)
        clReleaseMemObject(column->values);
    column->values = larger;
    column->room = room;
    return CLR_OK;
}

enum clr_code clr_resident_column_append(struct clr_device *device,
                                         struct clr_resident_column *column, const int64_t *values,
                                         size_t count, struct clr_status *status)
{
    const size_t piece = CLR_UPLOAD_PIECE / sizeof *values;

    if (clr_upload_open(device, status) != CLR_OK)
        return status->code;
    if (column->rows + count > column->room &&
        grow(device, column, column->rows + count, status) != CLR_OK)
        return status->code;
    while (count > 0) {
        size_t part = count < piece ? count : piece;
        if (clr_upload_send(clr_upload_of(device), clr_upload_queue(clr_upload_of(device)),
                            column->values, column->rows * sizeof *values, values,
                            part * sizeof *values, status) != CLR_OK)
            return status->code;
        column->rows += part;
        values += part;
        count -= part;
    }
    return CLR_OK;
}

enum clr_code clr_resident_column_settle(struct clr_device *device, struct clr_status *status)
{
    struct clr_upload *upload = clr_upload_of(device);

    return upload == NULL ? CLR_OK : clr_upload_settle(upload, status);
}

size_t clr_resident_column_rows(const struct clr_resident_column *column)
{
    return column->rows;
}

uint8_t clr_resident_column_kind(const struct clr_resident_column *column)
{
    return column->kind;
}

void clr_resident_column_free(struct clr_device *device, struct clr_resident_column *column)
{
    if (column == NULL)
        return;
    if (device != NULL) {
        release_buffer(&column->values);
        release_buffer(&column->tags);
        release_buffer(&column->kinds);
    }
    clr_memory_free(column);
}
