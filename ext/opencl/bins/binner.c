#include "opencl/bins/binner.h"

#include "opencl/bins/binner_private.h"
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/memory/resident_column_private.h"

#include <string.h>

/* Room for so many slots at first. */
enum { FIRST_SLOTS = 4096 };

/* ---- Memory. */

void clr_bin_room_release(cl_command_queue queue, struct clr_bin_room *room)
{
    clr_pinned_release(queue, &room->pinned);
    clr_buffer_release(&room->firsts);
    clr_buffer_release(&room->counts);
    memset(room, 0, sizeof *room);
}

static enum clr_code make_room(struct clr_device *device, struct clr_bin_room *room, size_t slots,
                               struct clr_status *status)
{
    const size_t firsts = slots * sizeof(cl_long), counts = slots * sizeof(cl_uint);
    const struct clr_wanted_buffer wanted[] = {
        {&room->firsts, CL_MEM_READ_ONLY, firsts},
        {&room->counts, CL_MEM_READ_WRITE, counts},
    };

    memset(room, 0, sizeof *room);
    room->slots = slots;
    if (CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK ||
        clr_pinned_make(device->context, clr_binner_of(device)->module.queue, firsts + counts,
                        &room->pinned, status) != CLR_OK)
        return status->code;
    room->sent = room->pinned.mapped;
    room->found = (cl_uint *)(room->sent + slots);
    return CLR_OK;
}

/* Has room for so many slots, at least. */
static enum clr_code grow(struct clr_device *device, size_t slots, struct clr_status *status)
{
    struct clr_binner *binner = clr_binner_of(device);
    struct clr_bin_room room;

    if (slots <= binner->room.slots)
        return CLR_OK;
    if (make_room(device, &room, slots > FIRST_SLOTS ? slots : FIRST_SLOTS, status) != CLR_OK) {
        if (status->code == CLR_NOMEM)
            clr_bin_room_release(binner->module.queue, &room);
        return status->code;
    }
    clr_bin_room_release(binner->module.queue, &binner->room);
    binner->room = room;
    binner->sent = 0;
    binner->clean = false;
    return CLR_OK;
}

/* ---- What is asked of the device. */

/* Sends the first keys, unless they are those of the last question. */
static enum clr_code send_firsts(struct clr_binner *binner, const struct clr_bin_bounds *bounds,
                                 struct clr_status *status)
{
    const size_t size = bounds->count * sizeof *bounds->firsts;
    cl_int error;

    if (binner->sent == bounds->count && memcmp(binner->room.sent, bounds->firsts, size) == 0)
        return CLR_OK;
    binner->sent = 0;
    memcpy(binner->room.sent, bounds->firsts, size);
    error = clEnqueueWriteBuffer(binner->module.queue, binner->room.firsts, CL_FALSE, 0, size,
                                 binner->room.sent, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
}

static cl_int clean(struct clr_binner *binner)
{
    const cl_uint zero = 0;
    cl_int error;

    if (binner->clean)
        return CL_SUCCESS;
    error = clEnqueueFillBuffer(binner->module.queue, binner->room.counts, &zero, sizeof zero, 0,
                                binner->room.slots * sizeof zero, 0, NULL, NULL);
    binner->clean = error == CL_SUCCESS;
    return error;
}

static size_t local_size(size_t count, size_t copies)
{
    return count * sizeof(cl_long) + (count + 1) * copies * sizeof(cl_uint);
}

/* How many copies of the counters fit into a group's memory; 0: not even one. */
static size_t choose_copies(const struct clr_binner *binner, size_t count)
{
    size_t copies = binner->most_copies;

    while (copies > 0 && local_size(count, copies) > binner->local_memory)
        copies /= 2;
    return copies;
}

static size_t choose_groups(const struct clr_binner *binner, uint64_t values)
{
    uint64_t groups = (values - 1) / binner->group_size + 1;

    return groups < binner->most_groups ? (size_t)groups : binner->most_groups;
}

/* Launches the kernel for the values from number begin up to end. */
static enum clr_code launch(const struct clr_device *device,
                            const struct clr_resident_column *column,
                            const struct clr_bin_bounds *bounds, cl_ulong begin, cl_ulong end,
                            cl_event *event, struct clr_status *status)
{
    struct clr_binner *binner = clr_binner_of(device);
    const size_t copies = choose_copies(binner, bounds->count);
    const enum clr_bin_kernel number = copies > 0 ? CLR_BINS_IN_GROUP : CLR_BINS_IN_MEMORY;
    const cl_uint count = bounds->count, real = bounds->kind == CLR_KIND_REAL;
    const cl_uint bytes = (cl_uint)clr_kind_value_bytes(column->kind);
    const cl_uint guesses = bounds->guesses && device->info.doubles, group_copies = (cl_uint)copies;
    const struct clr_argument arguments[] = {
        CLR_VALUE(column->values),
        CLR_VALUE(bytes),
        CLR_VALUE(column->frame.least),
        CLR_VALUE(column->power),
        CLR_VALUE(column->reciprocal),
        CLR_VALUE(begin),
        CLR_VALUE(end),
        CLR_VALUE(binner->room.firsts),
        CLR_VALUE(count),
        CLR_VALUE(real),
        CLR_VALUE(guesses),
        CLR_VALUE(bounds->origin),
        CLR_VALUE(bounds->scale), /* which the kernel takes as bits */
        CLR_VALUE(bounds->offset),
        CLR_VALUE(binner->room.counts),
        /* Of the one in the group's memory alone. */
        CLR_VALUE(group_copies),
        CLR_LOCAL(count * sizeof(cl_long)),
        CLR_LOCAL((count + 1) * copies * sizeof(cl_uint)),
    };
    const cl_uint all = sizeof arguments / sizeof arguments[0];

    binner->clean = false;
    return clr_launch(binner->module.queue, binner->module.kernels[number], arguments,
                      number == CLR_BINS_IN_GROUP ? all : all - 3,
                      choose_groups(binner, end - begin), binner->group_size, event, status);
}

/* Counts the values from number begin up to end, and adds that to the counts. */
static enum clr_code count_part(const struct clr_device *device,
                                const struct clr_resident_column *column,
                                const struct clr_bin_bounds *bounds, uint64_t begin, uint64_t end,
                                uint64_t *counts, struct clr_device_work *work,
                                struct clr_status *status)
{
    struct clr_binner *binner = clr_binner_of(device);
    const size_t slots = (size_t)bounds->count + 1;
    const char *call;
    cl_event launched = NULL, read = NULL;
    cl_int error;
    size_t i;

    error = clean(binner);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueFillBuffer", error);
    if (launch(device, column, bounds, begin, end, &launched, status) != CLR_OK)
        return status->code;
    call = "clEnqueueReadBuffer";
    error = clEnqueueReadBuffer(binner->module.queue, binner->room.counts, CL_FALSE, 0,
                                slots * sizeof(cl_uint), binner->room.found, 0, NULL, &read);
    if (error == CL_SUCCESS) {
        /* For the next ones, while these are on their way. */
        call = "clEnqueueFillBuffer";
        error = clean(binner);
    }
    if (error == CL_SUCCESS) {
        call = "clFlush";
        error = clFlush(binner->module.queue);
    }
    if (error != CL_SUCCESS)
        clr_opencl_failed(status, call, error);
    else
        clr_event_wait(read, status);
    if (status->code != CLR_OK) {
        clr_event_release(&launched);
        clr_event_release(&read);
        return status->code;
    }
    for (i = 0; i < slots; i++)
        counts[i] += binner->room.found[i];
    work->kernels++;
    work->passes++;
    work->kernel_time += clr_event_take_time(&launched);
    work->transfer_time += clr_event_take_time(&read);
    return CLR_OK;
}

/* After a failure that passes, what the device has of the last question is not known. */
static enum clr_code recover(struct clr_binner *binner, struct clr_status *status)
{
    clr_queue_drain(binner->module.queue, status);
    binner->clean = false;
    binner->sent = 0;
    return status->code;
}

enum clr_code clr_binner_count(struct clr_device *device, const struct clr_resident_column *column,
                               const struct clr_bin_bounds *bounds, uint64_t *counts,
                               struct clr_device_work *work, struct clr_status *status)
{
    struct clr_binner *binner = clr_binner_of(device);
    const uint64_t rows = column->rows;
    uint64_t begin, part;

    memset(counts, 0, ((size_t)bounds->count + 1) * sizeof *counts);
    if (bounds->count == 0) {
        counts[0] = rows;
        return CLR_OK;
    }
    if (grow(device, (size_t)bounds->count + 1, status) != CLR_OK ||
        send_firsts(binner, bounds, status) != CLR_OK)
        return recover(binner, status);
    for (begin = 0; begin < rows; begin += part) {
        part = rows - begin < binner->most_values ? rows - begin : binner->most_values;
        if (count_part(device, column, bounds, begin, begin + part, counts, work, status) != CLR_OK)
            return recover(binner, status);
    }
    binner->sent = bounds->count;
    return CLR_OK;
}
