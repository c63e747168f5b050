#include "opencl/bins/binner_open.h"

#include "base/memory.h"
#include "opencl/bins/binner_parts.h"
#include "opencl/bins/binner_test.h"
#include "opencl/core/compile.h"
#include "opencl/core/device_private.h"
#include "opencl/core/failures.h"
#include "opencl/core/kernels.h"

#include <stdio.h>
#include <string.h>

/*
 * On a GPU, groups as large as in reductions, about as many as are resident at a time, and as many
 * copies of the counters as work-items count at the same moment. Half of the local memory, so that
 * a compute unit has several groups even where that is all it has. LOADS: twice those of a scan,
 * since a work-item has little else in its registers. On a CPU device, a few groups a unit.
 */
enum {
    GPU_GROUP_SIZE = 256,
    GPU_GROUPS_PER_UNIT = 8,
    GPU_MOST_COPIES = 32,
    LOADS = 8,
    CPU_GROUPS_PER_UNIT = 4
};

/* A launch of so many values takes some milliseconds where it matters that others wait. */
static const uint64_t most_values = (uint64_t)1 << 31;

static const char *const kernel_names[CLR_BIN_KERNELS] = {
    [CLR_BINS_IN_GROUP] = "histogram_in_group",
    [CLR_BINS_IN_MEMORY] = "histogram_in_memory",
};

static cl_int choose_sizes(struct clr_binner *binner, const struct clr_device_info *device)
{
    const size_t units = device->compute_units > 0 ? device->compute_units : 1;
    size_t limit = GPU_GROUP_SIZE, multiple = 1;
    cl_ulong local = 0;
    cl_int error;
    int i;

    binner->most_values = most_values;
    binner->group_size = binner->most_copies = 1;
    binner->most_groups = units * CPU_GROUPS_PER_UNIT;
    error = clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    binner->local_memory = (size_t)(local / 2);
    if (device->type == CLR_DEVICE_CPU)
        return error;
    for (i = 0; i < CLR_BIN_KERNELS && error == CL_SUCCESS; i++)
        error = clr_limit_group(binner->kernels[i], device->id, &limit, &multiple);
    if (multiple > 1 && limit > multiple)
        limit -= limit % multiple;
    binner->group_size = limit;
    binner->most_copies = GPU_MOST_COPIES;
    binner->most_groups = units * GPU_GROUPS_PER_UNIT;
    return error;
}

static enum clr_code build(struct clr_device *device, struct clr_binner *binner, char **log,
                           struct clr_status *status)
{
    const char *sources[] = {clr_kernel_histogram};
    const char *call = "clCreateKernel";
    cl_int error = CL_SUCCESS;
    cl_program program;
    char options[80];
    int i;

    snprintf(options, sizeof options, "-cl-std=CL1.2 -DCPU=%d -DDOUBLES=%d -DLOADS=%d",
             device->info.type == CLR_DEVICE_CPU, device->info.fp64, LOADS);
    program = clr_compile(device->context, device->info.id, 1, sources, options, log, status);
    if (program == NULL)
        return status->code;
    for (i = 0; i < CLR_BIN_KERNELS && error == CL_SUCCESS; i++)
        binner->kernels[i] = clCreateKernel(program, kernel_names[i], &error);
    if (error == CL_SUCCESS) {
        call = "clCreateCommandQueue";
        binner->queue = clCreateCommandQueue(device->context, device->info.id,
                                             CL_QUEUE_PROFILING_ENABLE, &error);
    }
    if (error == CL_SUCCESS) {
        call = "clGetKernelWorkGroupInfo";
        error = choose_sizes(binner, &device->info);
    }
    clReleaseProgram(program);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, call, error);
}

static void close_binner(struct clr_device *device)
{
    struct clr_binner *binner = clr_binner_of(device);
    int i;

    clr_device_detach(device, &binner->attachment);
    clr_bin_room_release(binner->queue, &binner->room);
    for (i = 0; i < CLR_BIN_KERNELS; i++) {
        if (binner->kernels[i] != NULL)
            clReleaseKernel(binner->kernels[i]);
    }
    if (binner->queue != NULL)
        clReleaseCommandQueue(binner->queue);
    clr_memory_free(binner);
}

const struct clr_attachment_kind clr_binner_kind = {close_binner};

enum clr_code clr_binner_open(struct clr_device *device, char **log, struct clr_status *status)
{
    struct clr_binner *binner = clr_binner_of(device);

    *log = NULL;
    if (binner == NULL) {
        binner = clr_memory_alloc(sizeof *binner);
        if (binner == NULL)
            return clr_status_set(status, CLR_NOMEM, 0, "no memory for histograms");
        memset(binner, 0, sizeof *binner);
        clr_device_attach(device, &clr_binner_kind, &binner->attachment);
        if (build(device, binner, log, status) == CLR_NOMEM) {
            close_binner(device);
            return status->code;
        }
    } else {
        *status = binner->status;
    }
    /* A test that there was no memory for is all that is done again: who asks may ask often. */
    if (status->code == CLR_OK && !binner->tested)
        binner->tested = clr_binner_test(device, status) == CLR_OK;
    /* After an error of OpenCL's in the test, the queue is in an unknown state: it is left. */
    if (status->code == CLR_DEVICE)
        binner->status = *status;
    return status->code;
}

enum clr_code clr_binner_state(const struct clr_device *device, struct clr_status *status)
{
    const struct clr_binner *binner = clr_binner_of(device);

    if (binner == NULL || (binner->status.code == CLR_OK && !binner->tested))
        return CLR_NOMEM;
    *status = binner->status;
    return status->code;
}
