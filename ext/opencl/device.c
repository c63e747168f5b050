#include "opencl/device.h"

#include "base/clock.h"
#include "base/memory.h"
#include "opencl/api.h"
#include "opencl/program.h"

#include <string.h>

/*
 * Groups a compute unit, and values a work-item at least, in the first pass: enough groups to
 * keep a unit busy while some of them wait for memory, and enough values to be worth a group.
 */
enum { GPU_GROUPS_PER_UNIT = 8, CPU_GROUPS_PER_UNIT = 4, VALUES_PER_ITEM = 4 };

/* Events kept for profiling: the unmapping, the kernels of all passes, the two readings. */
enum { MOST_PASSES = 8, WIDE_WORDS = 2 * CLR_ACCUMULATOR_DIGITS + 4 };

/* The reduction of the values of one element type. */
struct part {
    bool busy;
    cl_mem staging;
    size_t staging_size;
    cl_mem partials[2]; /* in turn source and target of a pass */
    cl_mem wide;        /* the long accumulator: see kernels/exact.cl */
    enum clr_operation operation;
    int64_t bytes, fill_time;
    int passes;
    cl_event unmapped, kernels[MOST_PASSES], result_read, wide_read;
    char result[CLR_PARTIAL_SIZE];
    cl_uint wide_result[WIDE_WORDS];
};

struct slot {
    cl_command_queue queue;
    struct part parts[CLR_ELEMENTS];
};

struct clr_device {
    struct clr_device_info info;
    cl_context context;
    size_t most_groups;
    struct clr_program programs[CLR_OPERATIONS][CLR_ELEMENTS];
    struct slot slots[CLR_DEVICE_SLOTS];
};

static enum clr_code open_part(struct clr_device *device, struct part *part,
                               struct clr_status *status)
{
    cl_int error;
    int i;

    for (i = 0; i < 2; i++) {
        part->partials[i] = clCreateBuffer(device->context, CL_MEM_READ_WRITE,
                                           device->most_groups * CLR_PARTIAL_SIZE, NULL, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clCreateBuffer", error);
    }
    part->wide =
        clCreateBuffer(device->context, CL_MEM_READ_WRITE, sizeof part->wide_result, NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateBuffer", error);
    return CLR_OK;
}

static enum clr_code open_slots(struct clr_device *device, struct clr_status *status)
{
    cl_int error;
    int i, element;

    for (i = 0; i < CLR_DEVICE_SLOTS; i++) {
        struct slot *slot = &device->slots[i];
        slot->queue = clCreateCommandQueue(device->context, device->info.id,
                                           CL_QUEUE_PROFILING_ENABLE, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clCreateCommandQueue", error);
        for (element = 0; element < CLR_ELEMENTS; element++) {
            if (open_part(device, &slot->parts[element], status) != CLR_OK)
                return status->code;
        }
    }
    return CLR_OK;
}

enum clr_code clr_device_open(const struct clr_device_info *info, struct clr_device **result,
                              struct clr_status *status)
{
    struct clr_device *device = clr_memory_alloc(sizeof *device);
    cl_device_id id = info->id;
    cl_int error;

    *result = NULL;
    if (device == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for a device");
    memset(device, 0, sizeof *device);
    device->info = *info;
    device->most_groups =
        (size_t)info->compute_units *
        (info->type == CLR_DEVICE_CPU ? CPU_GROUPS_PER_UNIT : GPU_GROUPS_PER_UNIT);
    if (device->most_groups == 0)
        device->most_groups = 1;
    device->context = clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    if (error != CL_SUCCESS)
        clr_opencl_failed(status, "clCreateContext", error);
    else
        open_slots(device, status);
    if (status->code != CLR_OK) {
        clr_device_close(device);
        return status->code;
    }
    *result = device;
    return CLR_OK;
}

static void release_buffer(cl_mem buffer)
{
    if (buffer != NULL)
        clReleaseMemObject(buffer);
}

void clr_device_close(struct clr_device *device)
{
    int i, j;

    if (device == NULL)
        return;
    for (i = 0; i < CLR_DEVICE_SLOTS; i++) {
        for (j = 0; j < CLR_ELEMENTS; j++) {
            struct part *part = &device->slots[i].parts[j];
            release_buffer(part->staging);
            release_buffer(part->partials[0]);
            release_buffer(part->partials[1]);
            release_buffer(part->wide);
        }
        if (device->slots[i].queue != NULL)
            clReleaseCommandQueue(device->slots[i].queue);
    }
    for (i = 0; i < CLR_OPERATIONS; i++) {
        for (j = 0; j < CLR_ELEMENTS; j++)
            clr_program_release(&device->programs[i][j]);
    }
    if (device->context != NULL)
        clReleaseContext(device->context);
    clr_memory_free(device);
}

enum clr_code clr_device_build(struct clr_device *device, enum clr_operation operation,
                               enum clr_element element, char **log, struct clr_status *status)
{
    struct clr_program *program = &device->programs[operation][element];

    *log = NULL;
    if (program->built)
        return CLR_OK;
    if (element == CLR_REAL && operation != CLR_EXTREMES && !device->info.fp64)
        return clr_status_set(status, CLR_DEVICE, 0, "the device has no exact double precision");
    return clr_program_build(program, device->context, &device->info, operation, element, log,
                             status);
}

/* Makes the staging buffer large enough: pinned memory of the host where the driver has it, which
   a map and an unmap move at the bus's full speed (OpenCL 1.2, 5.2.1, CL_MEM_ALLOC_HOST_PTR). */
static enum clr_code size_staging(struct clr_device *device, struct part *part, size_t size,
                                  struct clr_status *status)
{
    cl_int error;

    if (part->staging_size >= size)
        return CLR_OK;
    release_buffer(part->staging);
    part->staging_size = 0;
    part->staging = clCreateBuffer(
        device->context, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR | CL_MEM_HOST_WRITE_ONLY, size,
        NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateBuffer", error);
    part->staging_size = size;
    return CLR_OK;
}

static enum clr_code fill_staging(struct slot *slot, struct part *part,
                                  const struct clr_chunk *chunk, enum clr_element element,
                                  struct clr_status *status)
{
    size_t size = chunk->count[element] * sizeof(double);
    const char *source =
        element == CLR_REAL ? (const char *)chunk->real : (const char *)chunk->integer;
    size_t operand, width = clr_operation_width(chunk->operation);
    int64_t start = clr_clock_ns();
    cl_int error;
    char *mapped;

    mapped = clEnqueueMapBuffer(slot->queue, part->staging, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION,
                                0, width * size, 0, NULL, NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clEnqueueMapBuffer", error);
    for (operand = 0; operand < width; operand++)
        memcpy(mapped + operand * size, source + operand * chunk->capacity * sizeof(double), size);
    error = clEnqueueUnmapMemObject(slot->queue, part->staging, mapped, 0, NULL, &part->unmapped);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clEnqueueUnmapMemObject", error);
    part->bytes = (int64_t)(width * size);
    part->fill_time = clr_clock_ns() - start;
    return CLR_OK;
}

/* Runs the kernel whose arguments up to scratch are set: `groups` work-groups of it. */
static enum clr_code launch(struct slot *slot, struct part *part, const struct clr_program *program,
                            cl_kernel kernel, cl_uint argument, cl_mem target, size_t groups,
                            struct clr_status *status)
{
    size_t local = program->group_size, global = groups * local;
    cl_int error;

    error = clSetKernelArg(kernel, argument, sizeof target, &target);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(kernel, argument + 1, local * program->partial_size, NULL);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(kernel, argument + 2, sizeof part->wide, &part->wide);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clSetKernelArg", error);
    error = clEnqueueNDRangeKernel(slot->queue, kernel, 1, NULL, &global, &local, 0, NULL,
                                   &part->kernels[part->passes]);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clEnqueueNDRangeKernel", error);
    part->passes++;
    return CLR_OK;
}

static size_t choose_groups(size_t count, const struct clr_program *program, size_t most)
{
    size_t values = program->group_size * VALUES_PER_ITEM;
    size_t groups = count / values + (count % values != 0);
    return groups < most ? groups : most;
}

static enum clr_code launch_passes(struct clr_device *device, struct slot *slot, struct part *part,
                                   const struct clr_program *program, cl_ulong count,
                                   struct clr_status *status)
{
    size_t groups = choose_groups(count, program, device->most_groups);
    int target = 0;
    cl_int error;

    error = clSetKernelArg(program->first, 0, sizeof part->staging, &part->staging);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(program->first, 1, sizeof count, &count);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(program->first, 2, sizeof count, &count);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clSetKernelArg", error);
    if (launch(slot, part, program, program->first, 3, part->partials[0], groups, status) != CLR_OK)
        return status->code;
    while (groups > 1 && part->passes < MOST_PASSES) {
        count = groups;
        groups = part->passes + 1 < MOST_PASSES
                     ? choose_groups(groups, program, device->most_groups)
                     : 1;
        /* A CPU device's groups have one work-item: a single one merges the few that are left. */
        if (program->group_size == 1)
            groups = 1;
        error = clSetKernelArg(program->next, 0, sizeof(cl_mem), &part->partials[target]);
        if (error == CL_SUCCESS)
            error = clSetKernelArg(program->next, 1, sizeof count, &count);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clSetKernelArg", error);
        target = !target;
        if (launch(slot, part, program, program->next, 2, part->partials[target], groups, status) !=
            CLR_OK)
            return status->code;
    }
    error = clEnqueueReadBuffer(slot->queue, part->partials[target], CL_FALSE, 0,
                                program->partial_size, part->result, 0, NULL, &part->result_read);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clEnqueueReadBuffer", error);
    return CLR_OK;
}

static enum clr_code begin_part(struct clr_device *device, struct slot *slot,
                                const struct clr_chunk *chunk, enum clr_element element,
                                struct clr_status *status)
{
    const struct clr_program *program = &device->programs[chunk->operation][element];
    struct part *part = &slot->parts[element];
    const cl_uint zero = 0;
    size_t size = chunk->count[element] * clr_operation_width(chunk->operation) * sizeof(double);
    cl_int error;

    part->busy = true;
    part->operation = chunk->operation;
    part->passes = 0;
    part->wide_read = NULL;
    if (size_staging(device, part, size, status) != CLR_OK ||
        fill_staging(slot, part, chunk, element, status) != CLR_OK)
        return status->code;
    if (program->wide) {
        error = clEnqueueFillBuffer(slot->queue, part->wide, &zero, sizeof zero, 0,
                                    sizeof part->wide_result, 0, NULL, NULL);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clEnqueueFillBuffer", error);
    }
    if (launch_passes(device, slot, part, program, chunk->count[element], status) != CLR_OK)
        return status->code;
    if (program->wide) {
        error = clEnqueueReadBuffer(slot->queue, part->wide, CL_FALSE, 0, sizeof part->wide_result,
                                    part->wide_result, 0, NULL, &part->wide_read);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clEnqueueReadBuffer", error);
    }
    return CLR_OK;
}

enum clr_code clr_device_begin(struct clr_device *device, int slot, const struct clr_chunk *chunk,
                               unsigned elements, struct clr_status *status)
{
    struct slot *used = &device->slots[slot];
    cl_int error;
    int element;

    for (element = 0; element < CLR_ELEMENTS; element++) {
        if ((elements & 1u << element) &&
            begin_part(device, used, chunk, (enum clr_element)element, status) != CLR_OK)
            return status->code;
    }
    error = clFlush(used->queue);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clFlush", error);
}

/* Returns the time a command took and releases its event. */
static int64_t take_time(cl_event *event)
{
    cl_ulong start = 0, end = 0;

    if (*event == NULL)
        return 0;
    if (clGetEventProfilingInfo(*event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) !=
            CL_SUCCESS ||
        clGetEventProfilingInfo(*event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) !=
            CL_SUCCESS)
        start = end = 0;
    clReleaseEvent(*event);
    *event = NULL;
    return end > start ? (int64_t)(end - start) : 0;
}

static void take_sum_of_reals(const struct part *part, struct clr_sum *sum)
{
    const cl_uint *special = part->wide_result + 2 * CLR_ACCUMULATOR_DIGITS;
    int64_t digits[CLR_ACCUMULATOR_DIGITS];
    double terms[CLR_EXPANSION_TERMS];
    bool used = special[3] != 0;
    int i;

    for (i = 0; used && i < CLR_ACCUMULATOR_DIGITS; i++)
        digits[i] =
            (int64_t)((uint64_t)part->wide_result[2 * i + 1] << 32 | part->wide_result[2 * i]);
    memcpy(terms, part->result, sizeof terms);
    clr_sum_add_device_parts(sum, terms, used ? digits : NULL);
    sum->plus_infinity += special[0];
    sum->minus_infinity += special[1];
    sum->nan += special[2];
}

static void take_result(const struct part *part, enum clr_element element, struct clr_state *state)
{
    struct clr_int192 integer;
    struct clr_range range = {.seen = true};

    if (part->operation == CLR_EXTREMES) {
        memcpy(&range.least, part->result, sizeof range.least);
        memcpy(&range.greatest, part->result + sizeof range.least, sizeof range.greatest);
        clr_range_merge(element == CLR_REAL ? &state->reals : &state->integers, &range);
    } else if (element == CLR_REAL) {
        take_sum_of_reals(part, &state->sum);
    } else {
        memcpy(&integer, part->result, sizeof integer);
        clr_int192_add(&state->sum.integer, &integer);
    }
}

enum clr_code clr_device_finish(struct clr_device *device, int slot, struct clr_state *state,
                                struct clr_device_work *work, struct clr_status *status)
{
    int element, i;

    for (element = 0; element < CLR_ELEMENTS; element++) {
        struct part *part = &device->slots[slot].parts[element];
        cl_event last = part->wide_read != NULL ? part->wide_read : part->result_read;
        cl_int error;

        if (!part->busy)
            continue;
        error = clWaitForEvents(1, &last);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clWaitForEvents", error);
        part->busy = false;
        take_result(part, (enum clr_element)element, state);
        work->bytes += part->bytes;
        work->kernels += part->passes;
        work->passes += part->passes;
        work->transfer_time += part->fill_time + take_time(&part->unmapped) +
                               take_time(&part->result_read) + take_time(&part->wide_read);
        for (i = 0; i < part->passes; i++)
            work->kernel_time += take_time(&part->kernels[i]);
    }
    return CLR_OK;
}
