#include "opencl/core/build.h"
#include "opencl/core/kernels.h"
#include "opencl/sort/sorted_column.h"
#include "opencl/sort/sorter_private.h"

#include <stdio.h>

/*
 * On a GPU, groups as large as in reductions, and some more than are resident at a time, so that
 * none ends long after the others; a launch takes some milliseconds at most. On a CPU
 * device, a few groups a unit, and enough keys for each that its counts cost little.
 */
enum {
    GPU_GROUP_SIZE = 256,
    GPU_GROUPS_PER_UNIT = 16,
    GPU_STEP_KEYS = 1 << 25,
    CPU_GROUPS_PER_UNIT = 4,
    CPU_STEP_KEYS = 1 << 20,
    CPU_LEAST_SPAN = 8192
};

static const char *const kernel_names[CLR_SORT_KERNELS] = {
    [CLR_SORT_BEGIN] = "sort_begin", [CLR_SORT_COUNT] = "sort_count",
    [CLR_SORT_SCAN] = "sort_scan",   [CLR_SORT_SCATTER] = "sort_scatter",
    [CLR_SORT_RUNS] = "sort_runs",   [CLR_SORT_FIND] = "sort_find",
};

/* Local memory that a scatter's group takes at most: for each work-item, and besides. The latter
   are the counters of the smallest groups, see clr_sorter_room(), and two numbers for each digit;
   those twice, for what the driver itself puts there. */
enum {
    ROW_COUNTERS = 2 * CLR_SORT_DIGITS * sizeof(cl_uint),
    LOCAL_PER_ITEM = CLR_SORT_KEYS_PER_ITEM * sizeof(cl_long) + 2 * sizeof(cl_uint),
    LOCAL_OF_GROUP = 2 * ROW_COUNTERS + 2 * 2 * CLR_SORT_DIGITS * sizeof(cl_uint)
};

static cl_int choose_sizes(struct clr_module *module, const struct clr_device_info *device)
{
    const bool cpu = device->type == CLR_DEVICE_CPU;
    const size_t units = device->compute_units > 0 ? device->compute_units : 1;
    const struct clr_group_limit limit = {GPU_GROUP_SIZE, LOCAL_PER_ITEM, LOCAL_OF_GROUP};
    struct clr_sorter *sorter = (struct clr_sorter *)module;

    sorter->most_groups = units * (cpu ? CPU_GROUPS_PER_UNIT : GPU_GROUPS_PER_UNIT);
    sorter->step_keys = cpu ? CPU_STEP_KEYS : GPU_STEP_KEYS;
    sorter->least_span = cpu ? CPU_LEAST_SPAN : 1;
    return clr_choose_group_size(device, module->kernels, CLR_SORT_KERNELS, &limit,
                                 &sorter->group_size);
}

static void write_options(const struct clr_device_info *device, char *options, size_t size)
{
    snprintf(options, size, " -DCPU=%d -DDOUBLES=%d -DKEYS_PER_ITEM=%d",
             device->type == CLR_DEVICE_CPU, device->doubles, CLR_SORT_KEYS_PER_ITEM);
}

/* What ranks and keys go through. */
static enum clr_code make(struct clr_device *device, struct clr_module *module,
                          struct clr_status *status)
{
    const size_t size = CLR_MOST_RANKS * sizeof(cl_ulong);
    struct clr_sorter *sorter = (struct clr_sorter *)module;
    const struct clr_wanted_buffer wanted[] = {
        {&sorter->ranks, CL_MEM_READ_ONLY, size},
        {&sorter->found, CL_MEM_READ_WRITE, size},
    };

    if (CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK)
        return status->code;
    return clr_pinned_make(device->context, module->queues[0], size, &sorter->list, status);
}

static void release(struct clr_module *module)
{
    struct clr_sorter *sorter = (struct clr_sorter *)module;

    clr_pinned_release(module->queues[0], &sorter->list);
    clr_buffer_release(&sorter->ranks);
    clr_buffer_release(&sorter->found);
}

const struct clr_module_kind clr_sorter_kind = {
    .attachment = {sizeof(struct clr_sorter), "sorting", clr_module_release},
    .shared = {clr_kernel_reals, clr_kernel_loads},
    .source = clr_kernel_sort,
    .kernel_names = kernel_names,
    .kernel_count = CLR_SORT_KERNELS,
    .queue_count = 1,
    .queue_properties = CL_QUEUE_PROFILING_ENABLE,
    .write_options = write_options,
    .choose_sizes = choose_sizes,
    .make = make,
    .release = release,
    .test = clr_sorter_test,
};
