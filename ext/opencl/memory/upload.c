#include "opencl/memory/upload.h"

#include "opencl/core/calls.h"
#include "opencl/core/device.h"

#include <stdbool.h>
#include <string.h>

/* Parts of a piece on its way back: one is copied while the next one comes. */
enum { FETCHED_PART = CLR_UPLOAD_PIECE / 4 };

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
    if (upload->queue != NULL)
        clReleaseCommandQueue(upload->queue);
}

static const struct clr_device_part_kind upload_kind = {sizeof(struct clr_upload), "copies",
                                                        release};

struct clr_upload *clr_upload_of(const struct clr_device *device)
{
    return clr_device_find(device, &upload_kind);
}

cl_command_queue clr_upload_queue(const struct clr_upload *upload)
{
    return upload->queue;
}

static enum clr_code make(const struct clr_device *device, struct clr_upload *upload,
                          struct clr_status *status)
{
    cl_int error;
    int i;

    upload->queue = clCreateCommandQueue(device->context, device->info.id, 0, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateCommandQueue", error);
    upload->is_direct = device->info.shared_alignment > 0;
    for (i = 0; i < STAGES && !upload->is_direct && status->code == CLR_OK; i++)
        clr_pinned_make(device->context, upload->queue, CLR_UPLOAD_PIECE, &upload->staging[i],
                        status);
    return status->code;
}

enum clr_code clr_upload_open(struct clr_device *device, struct clr_status *status)
{
    struct clr_upload *upload;

    if (clr_upload_of(device) != NULL)
        return CLR_OK;
    upload = clr_device_attach(device, &upload_kind, status);
    if (upload != NULL && make(device, upload, status) != CLR_OK)
        clr_device_detach(device, &upload->attachment); /* all of it, or nothing */
    return status->code;
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
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, call, error);
    error = clFlush(queue);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clFlush", error);
    upload->next = (upload->next + 1) % STAGES;
    return CLR_OK;
}

static enum clr_code send(struct clr_upload *upload, cl_command_queue queue, cl_mem buffer,
                          size_t offset, const void *source, size_t size, struct clr_status *status)
{
    int stage = upload->next;
    cl_int error;

    if (upload->is_direct) {
        error = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, size, source, 0, NULL, NULL);
        return error == CL_SUCCESS
                   ? CLR_OK
                   : clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
    }
    if (wait_for_stage(upload, stage, status) != CLR_OK)
        return status->code;
    memcpy(upload->staging[stage].mapped, source, size);
    error = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, size,
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
        send(upload, queue, buffer, offset + sent, (const char *)source + sent, part, status);
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
    error = clEnqueueReadBuffer(upload->queue, buffer, CL_FALSE, offset, size,
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
        error = clEnqueueReadBuffer(upload->queue, buffer, CL_TRUE, 0, size, target, 0, NULL, NULL);
        if (error != CL_SUCCESS)
            clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
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

enum clr_code clr_upload_settle(struct clr_upload *upload, struct clr_status *status)
{
    int i;

    for (i = 0; i < STAGES; i++) {
        if (wait_for_stage(upload, i, status) != CLR_OK)
            return recover(upload, status);
    }
    return CLR_OK;
}
