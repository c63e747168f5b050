#include "opencl/resident_column.h"

#include "base/memory.h"
#include "numeric/column.h"
#include "opencl/device_private.h"
#include "opencl/resident_column_private.h"

#include <string.h>

/* Large enough for a bus's full speed, and short enough for whoever waits behind it. */
static const size_t piece_size = (size_t)8 << 20;

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

static size_t values_size(uint8_t kind, size_t rows)
{
    /* The kind alone says all about NULLs and what is no number. */
    bool needed = kind == CLR_TAG_INTEGER || kind == CLR_TAG_REAL || kind == CLR_TAG_MIXED;
    return needed ? rows * sizeof(int64_t) : 0;
}

static size_t tags_size(uint8_t kind, size_t rows)
{
    return kind == CLR_TAG_MIXED ? rows : 0;
}

size_t clr_resident_column_size(uint8_t kind, size_t rows)
{
    return values_size(kind, rows) + tags_size(kind, rows);
}

/*
 * Staging buffers stay mapped, and are sources of writes: pinned memory where the driver has it
 * (OpenCL 1.2, 5.2.1, CL_MEM_ALLOC_HOST_PTR), from which a write runs at the bus's full speed.
 */
static enum clr_code open_upload(struct clr_device *device, struct clr_status *status)
{
    struct clr_upload *upload = &device->upload;
    cl_int error;
    int i;

    if (upload->queue != NULL)
        return CLR_OK;
    upload->queue = clCreateCommandQueue(device->context, device->info.id, 0, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateCommandQueue", error);
    for (i = 0; i < CLR_UPLOAD_STAGES; i++) {
        upload->staging[i] = clCreateBuffer(
            device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, piece_size, NULL, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clCreateBuffer", error);
        upload->mapped[i] =
            clEnqueueMapBuffer(upload->queue, upload->staging[i], CL_TRUE,
                               CL_MAP_READ | CL_MAP_WRITE, 0, piece_size, 0, NULL, NULL, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clEnqueueMapBuffer", error);
    }
    return CLR_OK;
}

void clr_upload_close(struct clr_device *device)
{
    struct clr_upload *upload = &device->upload;
    int i;

    for (i = 0; i < CLR_UPLOAD_STAGES; i++) {
        if (upload->written[i] != NULL)
            clReleaseEvent(upload->written[i]);
        if (upload->mapped[i] != NULL)
            clEnqueueUnmapMemObject(upload->queue, upload->staging[i], upload->mapped[i], 0, NULL,
                                    NULL);
        if (upload->staging[i] != NULL)
            clReleaseMemObject(upload->staging[i]);
    }
    if (upload->queue != NULL)
        clReleaseCommandQueue(upload->queue);
    memset(upload, 0, sizeof *upload);
}

static enum clr_code create_buffer(struct clr_device *device, cl_mem *buffer, size_t size,
                                   struct clr_status *status)
{
    cl_int error = CL_SUCCESS;

    if (*buffer == NULL && size > 0)
        *buffer = clCreateBuffer(device->context, CL_MEM_READ_ONLY, size, NULL, &error);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_buffer_failed(status, "clCreateBuffer", error);
}

static enum clr_code wait_for_stage(struct clr_upload *upload, int stage, struct clr_status *status)
{
    cl_int error;

    if (upload->written[stage] == NULL)
        return CLR_OK;
    error = clWaitForEvents(1, &upload->written[stage]);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clWaitForEvents", error);
    clReleaseEvent(upload->written[stage]);
    upload->written[stage] = NULL;
    return CLR_OK;
}

/* Sends size bytes to the buffer, at that offset. */
static enum clr_code send(struct clr_upload *upload, cl_mem buffer, size_t offset,
                          const void *source, size_t size, struct clr_status *status)
{
    int stage = upload->next;
    cl_int error;

    if (wait_for_stage(upload, stage, status) != CLR_OK)
        return status->code;
    memcpy(upload->mapped[stage], source, size);
    error = clEnqueueWriteBuffer(upload->queue, buffer, CL_FALSE, offset, size,
                                 upload->mapped[stage], 0, NULL, &upload->written[stage]);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
    error = clFlush(upload->queue);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clFlush", error);
    upload->next = (stage + 1) % CLR_UPLOAD_STAGES;
    return CLR_OK;
}

enum clr_code clr_resident_column_fill(struct clr_device *device,
                                       struct clr_resident_column *column, const int64_t *values,
                                       const uint8_t *tags, bool *complete,
                                       struct clr_status *status)
{
    size_t first = values_size(column->kind, column->rows);
    size_t second = tags_size(column->kind, column->rows), offset = column->copied, size;
    bool in_tags = offset >= first;

    *complete = false;
    if (open_upload(device, status) != CLR_OK ||
        create_buffer(device, &column->values, first, status) != CLR_OK ||
        create_buffer(device, &column->tags, second, status) != CLR_OK)
        return status->code;
    if (in_tags)
        offset -= first;
    size = (in_tags ? second : first) - offset;
    if (size > piece_size)
        size = piece_size;
    if (size > 0 && send(&device->upload, in_tags ? column->tags : column->values, offset,
                         (in_tags ? (const char *)tags : (const char *)values) + offset, size,
                         status) != CLR_OK)
        return status->code;
    column->copied += size;
    if (column->copied < first + second)
        return CLR_OK;
    *complete = clr_resident_column_settle(device, status) == CLR_OK;
    return status->code;
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
        error = clEnqueueCopyBuffer(device->upload.queue, column->values, larger, 0, 0,
                                    column->rows * sizeof(int64_t), 0, NULL, NULL);
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
    const size_t piece = piece_size / sizeof *values;

    if (open_upload(device, status) != CLR_OK)
        return status->code;
    if (column->rows + count > column->room &&
        grow(device, column, column->rows + count, status) != CLR_OK)
        return status->code;
    while (count > 0) {
        size_t part = count < piece ? count : piece;
        if (send(&device->upload, column->values, column->rows * sizeof *values, values,
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
    int i;

    for (i = 0; i < CLR_UPLOAD_STAGES; i++) {
        if (wait_for_stage(&device->upload, i, status) != CLR_OK)
            return status->code;
    }
    return CLR_OK;
}

size_t clr_resident_column_rows(const struct clr_resident_column *column)
{
    return column->rows;
}

void clr_resident_column_free(struct clr_device *device, struct clr_resident_column *column)
{
    if (column == NULL)
        return;
    if (device != NULL && column->values != NULL)
        clReleaseMemObject(column->values);
    if (device != NULL && column->tags != NULL)
        clReleaseMemObject(column->tags);
    clr_memory_free(column);
}
