#include "opencl/passes.h"

#include <string.h>

/*
 * Values a work-item at least in the first pass: enough to be worth a group, and on a CPU device,
 * whose groups are work-items, a thread. A further pass takes less time than its launch: one group
 * merges as much as it can.
 */
enum { VALUES_PER_ITEM = 4, CPU_VALUES_PER_ITEM = 8192, PARTIALS_PER_ITEM = 32 };

enum clr_code clr_passes_open(struct clr_passes *passes, cl_context context,
                              const struct clr_device_info *device, struct clr_status *status)
{
    size_t most = device->compute_units > 0 ? device->compute_units : 1;
    cl_int error;
    int i;

    most *= CLR_MOST_GROUPS_PER_UNIT;
    for (i = 0; i < 2; i++) {
        passes->partials[i] =
            clCreateBuffer(context, CL_MEM_READ_WRITE, most * CLR_PARTIAL_SIZE, NULL, &error);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clCreateBuffer", error);
    }
    passes->wide =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof passes->wide_result, NULL, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateBuffer", error);
    return CLR_OK;
}

void clr_passes_close(struct clr_passes *passes)
{
    int i;

    for (i = 0; i < 2; i++) {
        if (passes->partials[i] != NULL)
            clReleaseMemObject(passes->partials[i]);
    }
    if (passes->wide != NULL)
        clReleaseMemObject(passes->wide);
}

/* Sets the arguments that both kernels end with, and runs `groups` work-groups. */
static enum clr_code launch(struct clr_passes *passes, cl_command_queue queue,
                            const struct clr_program *program, cl_kernel kernel, cl_uint argument,
                            cl_mem target, size_t groups, struct clr_status *status)
{
    size_t local = program->group_size, global = groups * local;
    cl_int error;

    error = clSetKernelArg(kernel, argument, sizeof target, &target);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(kernel, argument + 1, local * program->partial_size, NULL);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(kernel, argument + 2, sizeof passes->wide, &passes->wide);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clSetKernelArg", error);
    error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL,
                                   &passes->kernels[passes->count]);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clEnqueueNDRangeKernel", error);
    passes->count++;
    return CLR_OK;
}

/* Launches a pass from `count` partial results in partials[source] to `groups` in the other. */
static enum clr_code launch_next(struct clr_passes *passes, cl_command_queue queue,
                                 const struct clr_program *program, int source, cl_ulong count,
                                 size_t groups, struct clr_status *status)
{
    cl_int error;

    error = clSetKernelArg(program->next, 0, sizeof(cl_mem), &passes->partials[source]);
    if (error == CL_SUCCESS)
        error = clSetKernelArg(program->next, 1, sizeof count, &count);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clSetKernelArg", error);
    return launch(passes, queue, program, program->next, 2, passes->partials[!source], groups,
                  status);
}

static size_t choose_groups(const struct clr_program *program, size_t count, size_t per_item)
{
    size_t per_group = program->group_size * per_item;
    size_t groups = count / per_group + (count % per_group != 0);
    return groups < program->most_groups ? groups : program->most_groups;
}

/* How many groups the pass after one with this many has. */
static size_t choose_next_groups(const struct clr_passes *passes, const struct clr_program *program,
                                 size_t groups)
{
    /* A CPU device's groups have one work-item: a single one merges the few that are left. */
    if (program->group_size == 1 || passes->count + 1 == CLR_MOST_PASSES)
        return 1;
    return choose_groups(program, groups, PARTIALS_PER_ITEM);
}

enum clr_code clr_passes_start_rows(struct clr_passes *passes, cl_command_queue queue,
                                    const struct clr_program *program, cl_uint arguments,
                                    size_t count, struct clr_status *status)
{
    const bool wide = program->wide || program->counts;
    size_t per_item = program->group_size == 1 ? CPU_VALUES_PER_ITEM : VALUES_PER_ITEM;
    size_t groups = choose_groups(program, count, per_item), next;
    const cl_uint zero = 0;
    int target = 0;
    cl_int error;

    passes->count = 0;
    passes->wide_read = NULL;
    if (wide && !passes->wide_is_zero) {
        error = clEnqueueFillBuffer(queue, passes->wide, &zero, sizeof zero, 0,
                                    sizeof passes->wide_result, 0, NULL, NULL);
        if (error != CL_SUCCESS)
            return clr_opencl_failed(status, "clEnqueueFillBuffer", error);
    }
    passes->wide_is_zero = passes->wide_is_zero && !wide;
    if (launch(passes, queue, program, program->first, arguments, passes->partials[0], groups,
               status) != CLR_OK)
        return status->code;
    while (groups > 1) {
        next = choose_next_groups(passes, program, groups);
        if (launch_next(passes, queue, program, target, groups, next, status) != CLR_OK)
            return status->code;
        groups = next;
        target = !target;
    }
    error = clEnqueueReadBuffer(queue, passes->partials[target], CL_FALSE, 0, program->partial_size,
                                passes->result, 0, NULL, &passes->result_read);
    if (error == CL_SUCCESS && wide)
        error = clEnqueueReadBuffer(queue, passes->wide, CL_FALSE, 0, sizeof passes->wide_result,
                                    passes->wide_result, 0, NULL, &passes->wide_read);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clEnqueueReadBuffer", error);
}

enum clr_code clr_passes_start(struct clr_passes *passes, cl_command_queue queue,
                               const struct clr_program *program, cl_mem source, size_t begin,
                               size_t second, size_t count, struct clr_status *status)
{
    const cl_ulong numbers[] = {begin, second, count};
    cl_int error;
    cl_uint i;

    error = clSetKernelArg(program->first, 0, sizeof source, &source);
    for (i = 0; i < 3 && error == CL_SUCCESS; i++)
        error = clSetKernelArg(program->first, i + 1, sizeof numbers[i], &numbers[i]);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clSetKernelArg", error);
    return clr_passes_start_rows(passes, queue, program, 4, count, status);
}

int64_t clr_event_take_time(cl_event *event)
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

static bool is_zero(const void *bytes, size_t size)
{
    const unsigned char *first = bytes;

    return first[0] == 0 && memcmp(first, first + 1, size - 1) == 0;
}

static void take_counts(struct clr_passes *passes)
{
    const cl_uint *words = passes->wide_result + CLR_WIDE_WORDS;

    passes->counts.counted = (int64_t)((uint64_t)words[1] << 32 | words[0]);
    passes->counts.non_integers = (int64_t)((uint64_t)words[3] << 32 | words[2]);
    passes->counts.unsure = words[4] != 0;
    passes->counts.inexact = words[5] != 0;
}

static void take_sum_of_reals(const struct clr_passes *passes, struct clr_sum *sum)
{
    const cl_uint *special = passes->wide_result + 2 * CLR_ACCUMULATOR_DIGITS;
    int64_t digits[CLR_ACCUMULATOR_DIGITS];
    double terms[CLR_EXPANSION_TERMS];
    bool used = special[3] != 0;
    int i;

    for (i = 0; used && i < CLR_ACCUMULATOR_DIGITS; i++)
        digits[i] =
            (int64_t)((uint64_t)passes->wide_result[2 * i + 1] << 32 | passes->wide_result[2 * i]);
    memcpy(terms, passes->result, sizeof terms);
    clr_sum_add_device_parts(sum, terms, used ? digits : NULL);
    sum->plus_infinity += special[0];
    sum->minus_infinity += special[1];
    sum->nan += special[2];
}

static void take_result(const struct clr_passes *passes, const struct clr_program *program,
                        struct clr_state *state, struct clr_sum *sum)
{
    struct clr_int192 integer;
    struct clr_range range;

    if (program->operation == CLR_EXTREMES) {
        memcpy(&range.least, passes->result, sizeof range.least);
        memcpy(&range.greatest, passes->result + sizeof range.least, sizeof range.greatest);
        range.seen = range.least <= range.greatest; /* or no row of a scan counted */
        clr_range_merge(program->element == CLR_REAL ? &state->reals : &state->integers, &range);
    } else if (program->element == CLR_REAL) {
        take_sum_of_reals(passes, sum);
    } else {
        memcpy(&integer, passes->result, sizeof integer);
        clr_int192_add(&sum->integer, &integer);
    }
}

enum clr_code clr_passes_finish(struct clr_passes *passes, const struct clr_program *program,
                                struct clr_state *state, int term, int64_t *kernel_time,
                                int64_t *read_time, struct clr_status *status)
{
    cl_event last = passes->wide_read != NULL ? passes->wide_read : passes->result_read;
    cl_int error = clWaitForEvents(1, &last);
    int i;

    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clWaitForEvents", error);
    if (passes->wide_read != NULL)
        passes->wide_is_zero = is_zero(passes->wide_result, sizeof passes->wide_result);
    if (program->counts)
        take_counts(passes);
    take_result(passes, program, state, clr_state_sum(state, term));
    for (i = 0; i < passes->count; i++)
        *kernel_time += clr_event_take_time(&passes->kernels[i]);
    *read_time += clr_event_take_time(&passes->result_read);
    *read_time += clr_event_take_time(&passes->wide_read);
    return CLR_OK;
}
