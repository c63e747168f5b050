#include "opencl/bins/binner_private.h"
#include "opencl/core/build.h"
#include "opencl/core/kernels.h"

#include <stdio.h>

/*
 * Groups as large as in reductions, about as many as a GPU has resident at a time, and as many
 * copies of the counters as work-items count at the same moment. Half of the local memory, so that
 * a compute unit has several groups even where that is all it has. LOADS: twice those of a scan,
 * since a work-item has little else in its registers.
 */
enum { GROUP_SIZE = 256, GROUPS_PER_UNIT = 8, MOST_COPIES = 32, LOADS = 8 };

/* A launch of so many values takes some milliseconds where it matters that others wait. */
static const uint64_t most_values = (uint64_t)1 << 31;

static const char *const kernel_names[CLR_BIN_KERNELS] = {
    [CLR_BINS_IN_GROUP] = "histogram_in_group",
    [CLR_BINS_IN_MEMORY] = "histogram_in_memory",
};

static cl_int choose_sizes(struct clr_module *module, const struct clr_device_info *device)
{
    const size_t units = device->compute_units > 0 ? device->compute_units : 1;
    const struct clr_group_limit limit = {.most = GROUP_SIZE};
    struct clr_binner *binner = (struct clr_binner *)module;
    cl_ulong local = 0;
    cl_int error;

    binner->most_values = most_values;
    binner->most_copies = MOST_COPIES;
    binner->most_groups = units * GROUPS_PER_UNIT;
    error = clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    binner->local_memory = (size_t)(local / 2);
    if (error != CL_SUCCESS)
        return error;
    return clr_choose_group_size(device, module->kernels, CLR_BIN_KERNELS, &limit,
                                 &binner->group_size);
}

static void write_options(const struct clr_device_info *device, char *options, size_t size)
{
    snprintf(options, size, " -DDOUBLES=%d -DLOADS=%d", device->doubles, LOADS);
}

static void release(struct clr_module *module)
{
    clr_bin_room_release(module->queue, &((struct clr_binner *)module)->room);
}

const struct clr_module_kind clr_binner_kind = {
    .attachment = {sizeof(struct clr_binner), "histograms", clr_module_release},
    .shared = {clr_kernel_reals, clr_kernel_loads},
    .source = clr_kernel_histogram,
    .kernel_names = kernel_names,
    .kernel_count = CLR_BIN_KERNELS,
    .write_options = write_options,
    .choose_sizes = choose_sizes,
    .release = release,
    .test = clr_binner_test,
};
