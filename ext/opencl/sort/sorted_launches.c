#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/sort/sorted_column_private.h"

#include <string.h>

/* What a step is to take on the device: others may have to wait for two of them. */
static const int64_t step_ns = 4000000;

/* Has the next steps launch more or less, by what one has taken. */
static void adjust_step(struct clr_sorted_column *sorted, int64_t taken, size_t most)
{
    if (taken > 2 * step_ns && sorted->step_keys > 1)
        sorted->step_keys /= 2;
    else if (taken < step_ns / 2 && sorted->step_keys <= most / 2)
        sorted->step_keys *= 2;
}

enum clr_code clr_sort_finish(struct clr_device *device, struct clr_sorted_column *sorted,
                              struct clr_sort_launches *launches, struct clr_status *status)
{
    cl_event last = launches->last != NULL ? launches->last : launches->first;
    int64_t taken;

    if (last == NULL)
        return status->code;
    if (clr_event_wait(last, status) == CLR_OK) {
        taken = clr_event_take_span(&launches->first, &launches->last);
        adjust_step(sorted, taken, clr_sorter_of(device)->step_keys);
        sorted->work.kernel_time += taken;
    }
    clr_event_release(&launches->first);
    clr_event_release(&launches->last);
    return status->code;
}

enum clr_code clr_sort_launch(struct clr_device *device, struct clr_sorted_column *sorted,
                              enum clr_sort_kernel number, const struct clr_argument *arguments,
                              cl_uint count, size_t groups, size_t keys, bool is_read,
                              struct clr_status *status)
{
    const struct clr_sorter *sorter = clr_sorter_of(device);
    const bool is_last = is_read || keys >= sorted->left;
    cl_event *event = is_last ? &sorted->now.last : NULL;

    if (sorted->now.first == NULL)
        event = &sorted->now.first;
    if (clr_launch(sorter->module.queues[0], sorter->module.kernels[number], arguments, count,
                   groups, sorter->group_size, event, status) != CLR_OK)
        return status->code;
    sorted->left -= keys < sorted->left ? keys : sorted->left;
    sorted->work.kernels++;
    sorted->work.passes++;
    return CLR_OK;
}

/* Sends this step's launches to the device, and waits for those of the step before, so that the
   device has something to do meanwhile. */
static enum clr_code pass_on(struct clr_device *device, struct clr_sorted_column *sorted,
                             struct clr_status *status)
{
    cl_int error = clFlush(clr_sorter_of(device)->module.queues[0]);

    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clFlush", error);
    clr_sort_finish(device, sorted, &sorted->before, status);
    sorted->before = sorted->now;
    memset(&sorted->now, 0, sizeof sorted->now);
    return status->code;
}

enum clr_code clr_sort_end_step(struct clr_device *device, struct clr_sorted_column *sorted,
                                struct clr_status *status)
{
    if (status->code == CLR_OK && pass_on(device, sorted, status) == CLR_OK)
        return CLR_OK;
    clr_queue_drain(clr_sorter_of(device)->module.queues[0], status);
    clr_event_release(&sorted->before.first);
    clr_event_release(&sorted->before.last);
    clr_event_release(&sorted->now.first);
    clr_event_release(&sorted->now.last);
    return status->code;
}
