#include "opencl/memory/resident_column.h"

#include "base/memory.h"
#include "numeric/values/int192.h"
#include "opencl/core/calls.h"

#include <string.h>

/* ---- The way there and back. */

/* Parts of a piece on its way back: one is copied while the next one comes. */
enum { FETCHED_PART = CLR_UPLOAD_PIECE / 8 };

enum { STAGES = 2 };

struct clr_upload {
    struct clr_device_part attachment;
    cl_command_queue queue;
    bool is_direct; /* without staging: the device's memory is the host's */
    struct clr_pinned staging[STAGES];
    cl_event moved[STAGES]; /* NULL: nothing is under way */
    int next;
};

static void release(struct clr_device_part *attachment)
{
    struct clr_upload *upload = (struct clr_upload *)(void *)attachment;
    int i;

    for (i = 0; i < STAGES; i++) {
        clr_event_release(&upload->moved[i]);
        clr_pinned_release(upload->queue, &upload->staging[i]);
    }
    clr_queue_release(upload->queue);
}

static const struct clr_device_part_kind upload_kind = {sizeof(struct clr_upload), "copies",
                                                        release, NULL};

struct clr_upload *clr_upload_of(const struct clr_device *device)
{
    return clr_device_find(device, &upload_kind);
}

static enum clr_code make(const struct clr_device *device, struct clr_upload *upload,
                          struct clr_status *status)
{
    int i;

    clr_queue_make(device->context, device->info.id, 0, &upload->queue, status);
    upload->is_direct = device->info.shared_alignment > 0;
    for (i = 0; i < STAGES && !upload->is_direct && status->code == CLR_OK; i++)
        clr_pinned_make(device->context, upload->queue, CLR_UPLOAD_PIECE, &upload->staging[i],
                        status);
    return status->code;
}

struct clr_upload *clr_upload_open(struct clr_device *device, struct clr_status *status)
{
    struct clr_upload *upload = clr_upload_of(device);

    if (upload != NULL)
        return upload;
    upload = clr_device_attach(device, &upload_kind, status);
    if (upload == NULL || make(device, upload, status) == CLR_OK)
        return upload;
    clr_device_detach(device, &upload->attachment); /* all of it, or nothing */
    return NULL;
}

static enum clr_code wait_for_stage(struct clr_upload *upload, int stage, struct clr_status *status)
{
    if (upload->moved[stage] == NULL)
        return CLR_OK;
    if (clr_event_wait(upload->moved[stage], status) != CLR_OK)
        return status->code;
    clr_event_release(&upload->moved[stage]);
    return CLR_OK;
}

/* After a failure that passes, waits until nothing is under way in any stage. */
static enum clr_code recover(struct clr_upload *upload, struct clr_status *status)
{
    int i;

    if (status->code != CLR_NOMEM)
        return status->code;
    clr_queue_drain(upload->queue, status);
    for (i = 0; i < STAGES; i++)
        clr_event_drain(&upload->moved[i], status);
    return status->code;
}

/* A command of the next stage has been enqueued, unless there is an error: has it begin. */
static enum clr_code begin(struct clr_upload *upload, cl_command_queue queue, const char *call,
                           cl_int error, struct clr_status *status)
{
    if (clr_opencl_check_buffer(status, call, error) != CLR_OK ||
        clr_opencl_check(status, "clFlush", clr_cl.Flush(queue)) != CLR_OK)
        return status->code;
    upload->next = (upload->next + 1) % STAGES;
    return CLR_OK;
}

static enum clr_code send(struct clr_upload *upload, cl_command_queue queue, cl_mem buffer,
                          size_t offset, const void *source, size_t size, clr_copying *copying,
                          struct clr_status *status)
{
    int stage = upload->next;
    cl_int error;

    if (upload->is_direct) {
        error =
            clr_cl.EnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, size, source, 0, NULL, NULL);
        return clr_opencl_check_buffer(status, "clEnqueueWriteBuffer", error);
    }
    if (wait_for_stage(upload, stage, status) != CLR_OK)
        return status->code;
    if (copying == NULL)
        memcpy(upload->staging[stage].mapped, source, size);
    else
        copying(upload->staging[stage].mapped, source, size);
    error =
        clr_cl.EnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, size,
                                  upload->staging[stage].mapped, 0, NULL, &upload->moved[stage]);
    return begin(upload, queue, "clEnqueueWriteBuffer", error, status);
}

enum clr_code clr_upload_send(struct clr_upload *upload, cl_command_queue queue, cl_mem buffer,
                              size_t offset, const void *source, size_t size,
                              struct clr_status *status)
{
    size_t sent = 0, part;

    for (; sent < size && status->code == CLR_OK; sent += part) {
        part = size - sent < CLR_UPLOAD_PIECE ? size - sent : CLR_UPLOAD_PIECE;
        send(upload, queue, buffer, offset + sent, (const char *)source + sent, part, NULL, status);
    }
    return recover(upload, status);
}

/* Asks for size bytes of the buffer, from that offset on; the stages take turns. */
static enum clr_code ask(struct clr_upload *upload, cl_mem buffer, size_t offset, size_t size,
                         struct clr_status *status)
{
    int stage = upload->next;
    cl_int error;

    if (wait_for_stage(upload, stage, status) != CLR_OK)
        return status->code;
    error = clr_cl.EnqueueReadBuffer(upload->queue, buffer, CL_FALSE, offset, size,
                                     upload->staging[stage].mapped, 0, NULL, &upload->moved[stage]);
    return begin(upload, upload->queue, "clEnqueueReadBuffer", error, status);
}

enum clr_code clr_upload_take(struct clr_upload *upload, cl_mem buffer, char *target, size_t size,
                              struct clr_status *status)
{
    size_t asked = 0, taken = 0, part;
    int stage = upload->next;
    cl_int error;

    if (upload->is_direct) {
        error = clr_cl.EnqueueReadBuffer(upload->queue, buffer, CL_TRUE, 0, size, target, 0, NULL,
                                         NULL);
        clr_opencl_check_buffer(status, "clEnqueueReadBuffer", error);
        return recover(upload, status);
    }
    while (taken < size) {
        while (asked < size && asked - taken < (size_t)STAGES * FETCHED_PART) {
            part = size - asked < FETCHED_PART ? size - asked : FETCHED_PART;
            if (ask(upload, buffer, asked, part, status) != CLR_OK)
                return recover(upload, status);
            asked += part;
        }
        if (wait_for_stage(upload, stage, status) != CLR_OK)
            return recover(upload, status);
        part = size - taken < FETCHED_PART ? size - taken : FETCHED_PART;
        memcpy(target + taken, upload->staging[stage].mapped, part);
        taken += part;
        stage = (stage + 1) % STAGES;
    }
    return CLR_OK;
}

/* Waits until nothing is under way. Returns as clr_upload_send(). */
static enum clr_code settle(struct clr_upload *upload, struct clr_status *status)
{
    int i;

    for (i = 0; i < STAGES; i++) {
        if (wait_for_stage(upload, i, status) != CLR_OK)
            return recover(upload, status);
    }
    return CLR_OK;
}

/* ---- Columns. */

/* Bytes of a cache line. */
enum { SHARED_UNIT = 64 };

struct clr_resident_column *clr_resident_column_new(uint8_t kind, size_t rows)
{
    struct clr_resident_column *column = clr_memory_alloc_zero(sizeof *column);

    if (column == NULL)
        return NULL;
    column->kind = kind;
    column->rows = rows;
    column->frame.known_least = INT64_MIN;
    column->frame.known_greatest = INT64_MAX;
    return column;
}

void clr_resident_column_set_frame(struct clr_resident_column *column,
                                   const struct clr_frame *frame)
{
    int bits = 0;

    if (clr_kind_narrow_bytes(column->kind) == 0)
        return;
    column->frame = *frame;
    column->power = (int64_t)frame->power;
    if (column->power == 0)
        return;
    while (column->power >> bits > 0)
        bits++;
    column->reciprocal = (uint64_t)((((clr_u128)1 << (63 + bits)) - 1) / (clr_u128)column->power);
}

size_t clr_resident_column_size(uint8_t kind, size_t rows)
{
    return clr_resident_values_size(kind, rows) + clr_resident_tags_size(kind, rows);
}

static enum clr_code make_buffers(const struct clr_device *device,
                                  struct clr_resident_column *column, struct clr_status *status)
{
    const struct clr_wanted_buffer wanted[] = {
        {&column->values, CL_MEM_READ_ONLY, clr_resident_values_size(column->kind, column->rows)},
        {&column->tags, CL_MEM_READ_ONLY, clr_resident_tags_size(column->kind, column->rows)},
    };
    int i;

    for (i = 0; i < 2 && status->code == CLR_OK; i++) {
        if (*wanted[i].buffer == NULL && wanted[i].size > 0)
            clr_buffers_make(device->context, &wanted[i], 1, status);
    }
    return status->code;
}

static enum clr_code fill(struct clr_device *device, struct clr_resident_column *column,
                          const void *values, const uint8_t *tags, clr_copying *copying,
                          bool *complete, struct clr_status *status)
{
    size_t first = clr_resident_values_size(column->kind, column->rows);
    size_t second = clr_resident_tags_size(column->kind, column->rows), offset = column->copied,
           size;
    bool in_tags = offset >= first;
    struct clr_upload *upload = clr_upload_open(device, status);

    *complete = false;
    if (upload == NULL || make_buffers(device, column, status) != CLR_OK)
        return status->code;
    if (in_tags)
        offset -= first;
    size = (in_tags ? second : first) - offset;
    if (size > CLR_UPLOAD_PIECE)
        size = CLR_UPLOAD_PIECE;
    if (size > 0 && send(upload, upload->queue, in_tags ? column->tags : column->values, offset,
                         (in_tags ? (const char *)tags : (const char *)values) + offset, size,
                         copying, status) != CLR_OK)
        return recover(upload, status);
    column->copied += size;
    if (column->copied < first + second)
        return CLR_OK;
    *complete = settle(upload, status) == CLR_OK;
    return status->code;
}

enum clr_code clr_resident_column_fill(struct clr_device *device,
                                       struct clr_resident_column *column, const void *values,
                                       const uint8_t *tags, clr_copying *copying, bool *complete,
                                       struct clr_status *status)
{
    if (fill(device, column, values, tags, copying, complete, status) == CLR_NOMEM) {
        /* Others may need the room, until it is tried again, from the beginning. */
        clr_buffer_release(&column->values);
        clr_buffer_release(&column->tags);
        column->copied = 0;
    }
    return status->code;
}

/*
 * Makes a buffer of an array of the host's, unless it has no bytes. No kernel writes to it, and
 * neither does the host as long as kernels may read it: so there is nothing to be mapped, and
 * nothing that a driver which keeps a copy all the same could have to write back
 * (OpenCL 1.2, 5.2.1, CL_MEM_USE_HOST_PTR). Intel's driver copies unless the size is one of whole
 * cache lines.
 */
static bool share(const struct clr_device *device, const void *array, size_t size, cl_mem *buffer)
{
    const size_t lines = (size + SHARED_UNIT - 1) & ~((size_t)SHARED_UNIT - 1);
    cl_int error;

    if (size == 0)
        return true;
    if ((uintptr_t)array % device->info.shared_alignment != 0)
        return false;
    *buffer = clr_cl.CreateBuffer(device->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, lines,
                                  (void *)(uintptr_t)array, &error);
    return error == CL_SUCCESS;
}

bool clr_resident_column_share(const struct clr_device *device, struct clr_resident_column *column,
                               const void *values, const uint8_t *tags)
{
    const size_t first = clr_resident_values_size(column->kind, column->rows);
    const size_t second = clr_resident_tags_size(column->kind, column->rows);

    column->is_shared = device->info.shared_alignment > 0 &&
                        share(device, values, first, &column->values) &&
                        share(device, tags, second, &column->tags);
    if (column->is_shared) {
        column->copied = first + second;
        return true;
    }
    clr_buffer_release(&column->values);
    clr_buffer_release(&column->tags);
    return false;
}

/* Takes the buffers of a column of as many rows. Returns false if that has others. */
static bool take(struct clr_resident_column *column, struct clr_resident_column *other)
{
    if (other->rows != column->rows)
        return false;
    column->values = other->values;
    column->tags = other->tags;
    other->values = other->tags = NULL;
    return true;
}

/* Makes a buffer of that size, unless it is 0, to which what is used of another one is copied. */
static enum clr_code move(struct clr_device *device, cl_command_queue queue, cl_mem from,
                          size_t used, size_t size, cl_mem *to, struct clr_status *status)
{
    const struct clr_wanted_buffer wanted[] = {{to, CL_MEM_READ_WRITE, size}};
    cl_int error;

    if (size == 0 || CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK || used == 0)
        return status->code;
    error = clr_cl.EnqueueCopyBuffer(queue, from, *to, 0, 0, used, 0, NULL, NULL);
    return clr_opencl_check_buffer(status, "clEnqueueCopyBuffer", error);
}

/* Sends the rows of a range to a buffer of so many bytes a row. */
static enum clr_code send_range(struct clr_upload *upload, cl_mem buffer, const void *rows,
                                const struct clr_row_range *range, size_t row_bytes,
                                struct clr_status *status)
{
    const size_t offset = range->first * row_bytes, size = range->rows * row_bytes;

    return size == 0 ? CLR_OK
                     : clr_upload_send(upload, upload->queue, buffer, offset,
                                       (const char *)rows + offset, size, status);
}

static enum clr_code change(struct clr_device *device, struct clr_resident_column *column,
                            struct clr_resident_column *other, bool may_take, const void *values,
                            const uint8_t *tags, const struct clr_row_ranges *ranges,
                            struct clr_status *status)
{
    const uint8_t kind = column->kind;
    const size_t kept = other->rows < column->rows ? other->rows : column->rows;
    const size_t value_bytes = clr_resident_values_size(kind, 1);
    const size_t tag_bytes = clr_resident_tags_size(kind, 1);
    struct clr_upload *upload = clr_upload_open(device, status);
    cl_command_queue queue;
    int i;

    if (upload == NULL)
        return status->code;
    queue = upload->queue;
    if (!(may_take && take(column, other)) &&
        (move(device, queue, other->values, kept * value_bytes, column->rows * value_bytes,
              &column->values, status) != CLR_OK ||
         move(device, queue, other->tags, kept * tag_bytes, column->rows * tag_bytes, &column->tags,
              status) != CLR_OK))
        return status->code;
    for (i = 0; i < ranges->count; i++) {
        if (send_range(upload, column->values, values, &ranges->ranges[i], value_bytes, status) !=
                CLR_OK ||
            send_range(upload, column->tags, tags, &ranges->ranges[i], tag_bytes, status) != CLR_OK)
            return status->code;
    }
    if (settle(upload, status) != CLR_OK)
        return status->code;
    /* What is sent comes behind the copies, but perhaps nothing is. */
    return clr_opencl_check_buffer(status, "clFinish", clr_cl.Finish(queue));
}

enum clr_code clr_resident_column_change(struct clr_device *device,
                                         struct clr_resident_column *column,
                                         struct clr_resident_column *other, bool may_take,
                                         const void *values, const uint8_t *tags,
                                         const struct clr_row_ranges *ranges,
                                         struct clr_status *status)
{
    if (change(device, column, other, may_take, values, tags, ranges, status) == CLR_OK) {
        column->copied = clr_resident_column_size(column->kind, column->rows);
    } else if (status->code == CLR_NOMEM) {
        clr_buffer_release(&column->values);
        clr_buffer_release(&column->tags);
    }
    return status->code;
}

void clr_resident_column_free(struct clr_device *device, struct clr_resident_column *column)
{
    if (column == NULL)
        return;
    if (device != NULL) {
        clr_buffer_release(&column->values);
        clr_buffer_release(&column->tags);
    }
    clr_memory_free(column);
}
