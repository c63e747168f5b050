#include "opencl/sort/sorted_column.h"

#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/sort/sorted_column_private.h"
#include "opencl/sort/sorter_private.h"

#include <string.h>

const struct clr_device_work *clr_sorted_column_work(const struct clr_sorted_column *sorted)
{
    return &sorted->work;
}

const struct clr_runs *clr_sorted_column_runs(const struct clr_sorted_column *sorted)
{
    return &sorted->runs;
}

enum clr_code clr_sorted_column_read(struct clr_device *device,
                                     const struct clr_sorted_column *sorted, uint64_t first,
                                     size_t count, int64_t *keys, struct clr_device_work *work,
                                     struct clr_status *status)
{
    cl_event event;
    cl_int error;

    if (count == 0)
        return CLR_OK;
    error = clEnqueueReadBuffer(
        clr_sorter_of(device)->module.queues[0], sorted->keys[sorted->current], CL_TRUE,
        (size_t)first * sizeof *keys, count * sizeof *keys, keys, 0, NULL, &event);
    if (error != CL_SUCCESS) {
        clr_opencl_failed(status, "clEnqueueReadBuffer", error);
        clr_queue_drain(clr_sorter_of(device)->module.queues[0], status);
        return status->code;
    }
    work->transfer_time += clr_event_take_time(&event);
    return CLR_OK;
}

/* Has the kernel take the keys of `count` ranks, which lie in the sorter's list, to its found. */
static enum clr_code start_find(const struct clr_sorter *sorter,
                                const struct clr_sorted_column *sorted, cl_uint count,
                                cl_event *launched, cl_event *read, struct clr_status *status)
{
    const struct clr_argument arguments[] = {
        CLR_VALUE(sorted->keys[sorted->current]),
        CLR_VALUE(sorter->ranks),
        CLR_VALUE(count),
        CLR_VALUE(sorter->found),
    };
    cl_int error;

    error = clEnqueueWriteBuffer(sorter->module.queues[0], sorter->ranks, CL_FALSE, 0,
                                 count * sizeof(cl_ulong), sorter->list.mapped, 0, NULL, NULL);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueWriteBuffer", error);
    if (clr_launch(sorter->module.queues[0], sorter->module.kernels[CLR_SORT_FIND],
                   CLR_ARGUMENTS(arguments), 1, sorter->group_size, launched, status) != CLR_OK)
        return status->code;
    error = clEnqueueReadBuffer(sorter->module.queues[0], sorter->found, CL_FALSE, 0,
                                count * sizeof(cl_long), sorter->list.mapped, 0, NULL, read);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clEnqueueReadBuffer", error);
    error = clFlush(sorter->module.queues[0]);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clFlush", error);
}

enum clr_code clr_sorted_column_find(struct clr_device *device,
                                     const struct clr_sorted_column *sorted, const uint64_t *ranks,
                                     int count, int64_t *keys, struct clr_device_work *work,
                                     struct clr_status *status)
{
    struct clr_sorter *sorter = clr_sorter_of(device);
    cl_event launched = NULL, read = NULL;

    if (count == 0)
        return CLR_OK;
    /* The same memory for both: the queue is in order. */
    memcpy(sorter->list.mapped, ranks, (size_t)count * sizeof *ranks);
    if (start_find(sorter, sorted, (cl_uint)count, &launched, &read, status) != CLR_OK ||
        clr_event_wait(read, status) != CLR_OK) {
        clr_queue_drain(sorter->module.queues[0], status);
        clr_event_release(&launched);
        clr_event_release(&read);
        return status->code;
    }
    memcpy(keys, sorter->list.mapped, (size_t)count * sizeof *keys);
    work->kernels++;
    work->passes++;
    work->kernel_time += clr_event_take_time(&launched);
    work->transfer_time += clr_event_take_time(&read);
    return CLR_OK;
}
