#include "opencl/memory/upload.h"

#include "base/memory.h"
#include "opencl/core/device_private.h"
#include "opencl/core/failures.h"

#include <string.h>

/* Parts of a piece on its way back: one is copied while the next one comes. */
enum { FETCHED_PART = CLR_UPLOAD_PIECE / 4 };

enum { STAGES = 2 };

struct clr_upload {
    struct clr_attachment attachment;
    cl_command_queue queue;
    cl_mem staging[STAGES];
    char *mapped[STAGES];
    cl_event moved[STAGES]; /* NULL: nothing is under way */
    int next;
};

static void close_upload(struct clr_device *device);

static const struct clr_attachment_kind upload_kind = {close_upload};

struct clr_upload *clr_upload_of(const struct clr_device *device)
{
    return clr_device_find(device, &upload_kind);
}

cl_command_queue clr_upload_queue(const struct clr_upload *upload)
{
    return upload->queue;
}

static void close_upload(struct clr_device *device)
{
    struct clr_upload *upload = clr_upload_of(device);
    int i;

    clr_device_detach(device, &upload->attachment);
    for (i = 0; i < STAGES; i++) {
        if (upload->moved[i] != NULL)
            clReleaseEvent(upload->moved[i]);
        if (upload->mapped[i] != NULL)
            clEnqueueUnmapMemObject(upload->queue, upload->staging[i], upload->mapped[i], 0, NULL,
                                    NULL);
        if (upload->staging[i] != NULL)
            clReleaseMemObject(upload->staging[i]);
    }
    if (upload->queue != NULL)
        clReleaseCommandQueue(upload->queue);
    clr_memory_free(upload);
}

/*
 * Staging buffers stay mapped, and are sources of writes: pinned memory where the driver has it
 * (OpenCL 1.2, 5.2.1, CL_MEM_ALLOC_HOST_PTR), from which a write runs at the bus's full speed.
 */
static enum clr_code make(const struct clr_device *device, struct clr_upload *upload,
                          struct clr_status *status)
{
    cl_int error;
    int i;

    upload->queue = clCreateCommandQueue(device->context, device->info.id, 0, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateCommandQueue", error);
    for (i = 0; i < STAGES; i++) {
        upload->staging[i] =
            clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                           CLR_UPLOAD_PIECE, NULL, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_buffer_failed(status, "clCreateBuffer", error);
        upload->mapped[i] = clEnqueueMapBuffer(upload->queue, upload->staging[i], CL_TRUE,
                                               CL_MAP_READ | CL_MAP_WRITE, 0, CLR_UPLOAD_PIECE, 0,
                                               NULL, NULL, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_buffer_failed(status, "clEnqueueMapBuffer", error);
    }
    return CLR_OK;
}

enum clr_code clr_upload_open(struct clr_device *device, struct clr_status *status)
{
    struct clr_upload *upload;

    if (clr_upload_of(device) != NULL)
        return CLR_OK;
    upload = clr_memory_alloc(sizeof *upload);
    if (upload == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for copies");
    memset(upload, 0, sizeof *upload);
    clr_device_attach(device, &upload_kind, &upload->attachment);
    if (make(device, upload, status) != CLR_OK)
        close_upload(device); /* all of it, or nothing */
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

static enum clr_code send(struct clr_upload *upload, cl_command_queue queue, cl_mem buffer,
                          size_t offset, const void *source, size_t size, struct clr_status *status)
{
    int stage = upload->next;
    cl_int error;

    if (wait_for_stage(upload, stage, status) != CLR_OK)
        return status->code;
    memcpy(upload->mapped[stage], source, size);
    error = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, size, upload->mapped[stage], 0,
                                 NULL, &upload->moved[stage]);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
    error = clFlush(queue);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clFlush", error);
    upload->next = (stage + 1) % STAGES;
    return CLR_OK;
}

enum clr_code clr_upload_send(struct clr_upload *upload, cl_command_queue queue, cl_mem buffer,
                              size_t offset, const void *source, size_t size,
                              struct clr_status *status)
{
    send(upload, queue, buffer, offset, source, size, status);
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
                                upload->mapped[stage], 0, NULL, &upload->moved[stage]);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
    error = clFlush(upload->queue);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clFlush", error);
    upload->next = (stage + 1) % STAGES;
    return CLR_OK;
}

enum clr_code clr_upload_take(struct clr_upload *upload, cl_mem buffer, size_t offset, char *target,
                              size_t size, struct clr_status *status)
{
    size_t asked = 0, taken = 0, part;
    int stage = upload->next;

    while (taken < size) {
        while (asked < size && asked - taken < (size_t)STAGES * FETCHED_PART) {
            part = size - asked < FETCHED_PART ? size - asked : FETCHED_PART;
            if (ask(upload, buffer, offset + asked, part, status) != CLR_OK)
                return recover(upload, status);
            asked += part;
        }
        if (wait_for_stage(upload, stage, status) != CLR_OK)
            return recover(upload, status);
        part = size - taken < FETCHED_PART ? size - taken : FETCHED_PART;
        memcpy(target + taken, upload->mapped[stage], part);
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
