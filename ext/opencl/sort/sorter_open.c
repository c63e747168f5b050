#include "opencl/sort/sorter_open.h"

#include "base/memory.h"
#include "opencl/core/compile.h"
#include "opencl/core/device_private.h"
#include "opencl/core/failures.h"
#include "opencl/core/kernels.h"
#include "opencl/sort/sorted_column.h"
#include "opencl/sort/sorter_parts.h"
#include "opencl/sort/sorter_test.h"

#include <stdio.h>
#include <string.h>

/*
 * On a GPU, groups as large as in reductions, and some more than are resident at a time, so that
 * none ends long after the others; a launch takes some milliseconds at most. On a CPU device, a few
 * groups a unit, and enough keys for each that its counts cost little.
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

/* Local memory that a scatter's group takes: for each work-item, and besides. Twice the latter, for
   what the driver itself puts there. */
enum {
    LOCAL_PER_ITEM = CLR_SORT_KEYS_PER_ITEM * sizeof(cl_long) +
                     (CLR_SORT_NIBBLES + 2) * sizeof(cl_ushort) + sizeof(cl_uint),
    LOCAL_OF_GROUP = 2 * 2 * CLR_SORT_DIGITS * sizeof(cl_uint)
};

static cl_int choose_group_size(struct clr_sorter *sorter, const struct clr_device_info *device)
{
    size_t limit = GPU_GROUP_SIZE, multiple = 1;
    cl_ulong local = 0;
    cl_int error = CL_SUCCESS;
    int i;

    for (i = 0; i < CLR_SORT_KERNELS && error == CL_SUCCESS; i++)
        error = clr_limit_group(sorter->kernels[i], device->id, &limit, &multiple);
    if (error == CL_SUCCESS)
        error = clGetDeviceInfo(device->id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    if (error != CL_SUCCESS)
        return error;
    if (local < LOCAL_OF_GROUP + LOCAL_PER_ITEM)
        return CL_INVALID_WORK_GROUP_SIZE; /* for good */
    if ((local - LOCAL_OF_GROUP) / LOCAL_PER_ITEM < limit)
        limit = (size_t)((local - LOCAL_OF_GROUP) / LOCAL_PER_ITEM);
    if (multiple > 1 && limit > multiple)
        limit -= limit % multiple;
    sorter->group_size = limit;
    return CL_SUCCESS;
}

static cl_int choose_sizes(struct clr_sorter *sorter, const struct clr_device_info *device)
{
    size_t units = device->compute_units > 0 ? device->compute_units : 1;

    if (device->type == CLR_DEVICE_CPU) {
        sorter->group_size = 1;
        sorter->most_groups = units * CPU_GROUPS_PER_UNIT;
        sorter->step_keys = CPU_STEP_KEYS;
        sorter->least_span = CPU_LEAST_SPAN;
        return CL_SUCCESS;
    }
    sorter->most_groups = units * GPU_GROUPS_PER_UNIT;
    sorter->step_keys = GPU_STEP_KEYS;
    sorter->least_span = 1;
    return choose_group_size(sorter, device);
}

/* What ranks and keys go through; see open_upload() in resident_column.c. */
static enum clr_code make_list(struct clr_device *device, struct clr_sorter *sorter,
                               struct clr_status *status)
{
    const size_t size = CLR_MOST_RANKS * sizeof(cl_ulong);
    const struct {
        cl_mem *buffer;
        cl_mem_flags flags;
    } wanted[] = {
        {&sorter->ranks, CL_MEM_READ_ONLY},
        {&sorter->found, CL_MEM_READ_WRITE},
        {&sorter->pinned, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR},
    };
    cl_int error;
    size_t i;

    for (i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].buffer = clCreateBuffer(device->context, wanted[i].flags, size, NULL, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_buffer_failed(status, "clCreateBuffer", error);
    }
    sorter->list = clEnqueueMapBuffer(sorter->queue, sorter->pinned, CL_TRUE,
                                      CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueMapBuffer", error);
}

static enum clr_code build(struct clr_device *device, struct clr_sorter *sorter, char **log,
                           struct clr_status *status)
{
    const char *sources[] = {clr_kernel_sort};
    const char *call = "clCreateKernel";
    cl_int error = CL_SUCCESS;
    cl_program program;
    char options[64];
    int i;

    snprintf(options, sizeof options, "-cl-std=CL1.2 -DCPU=%d -DKEYS_PER_ITEM=%d",
             device->info.type == CLR_DEVICE_CPU, CLR_SORT_KEYS_PER_ITEM);
    program = clr_compile(device->context, device->info.id, 1, sources, options, log, status);
    if (program == NULL)
        return status->code;
    for (i = 0; i < CLR_SORT_KERNELS && error == CL_SUCCESS; i++)
        sorter->kernels[i] = clCreateKernel(program, kernel_names[i], &error);
    if (error == CL_SUCCESS) {
        call = "clCreateCommandQueue";
        sorter->queue = clCreateCommandQueue(device->context, device->info.id,
                                             CL_QUEUE_PROFILING_ENABLE, &error);
    }
    if (error == CL_SUCCESS) {
        call = "clGetKernelWorkGroupInfo";
        error = choose_sizes(sorter, &device->info);
    }
    clReleaseProgram(program);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, call, error);
    return make_list(device, sorter, status);
}

static void release(struct clr_sorter *sorter)
{
    const cl_mem buffers[] = {sorter->ranks, sorter->found, sorter->pinned};
    size_t i;

    if (sorter->list != NULL)
        clEnqueueUnmapMemObject(sorter->queue, sorter->pinned, sorter->list, 0, NULL, NULL);
    for (i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        if (buffers[i] != NULL)
            clReleaseMemObject(buffers[i]);
    }
    for (i = 0; i < CLR_SORT_KERNELS; i++) {
        if (sorter->kernels[i] != NULL)
            clReleaseKernel(sorter->kernels[i]);
    }
    if (sorter->queue != NULL)
        clReleaseCommandQueue(sorter->queue);
}

static void close_sorter(struct clr_device *device)
{
    struct clr_sorter *sorter = clr_sorter_of(device);

    clr_device_detach(device, &sorter->attachment);
    release(sorter);
    clr_memory_free(sorter);
}

const struct clr_attachment_kind clr_sorter_kind = {close_sorter};

enum clr_code clr_sorter_open(struct clr_device *device, char **log, struct clr_status *status)
{
    struct clr_sorter *sorter = clr_sorter_of(device);

    *log = NULL;
    if (sorter != NULL) {
        *status = sorter->status;
        return status->code;
    }
    sorter = clr_memory_alloc(sizeof *sorter);
    if (sorter == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for sorting");
    memset(sorter, 0, sizeof *sorter);
    clr_device_attach(device, &clr_sorter_kind, &sorter->attachment);
    if (build(device, sorter, log, status) == CLR_OK && clr_sorter_test(device, status) == CLR_OK)
        return CLR_OK;
    if (status->code == CLR_NOMEM) {
        close_sorter(device);
        return status->code;
    }
    /* After an error of OpenCL's in the test, the queue is in an unknown state: it is left. */
    sorter->status = *status;
    return status->code;
}

enum clr_code clr_sorter_state(const struct clr_device *device, struct clr_status *status)
{
    if (clr_sorter_of(device) == NULL)
        return CLR_NOMEM;
    *status = clr_sorter_of(device)->status;
    return status->code;
}
