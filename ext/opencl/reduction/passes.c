#include "opencl/reduction/passes.h"

#include "base/clock.h"
#include "base/memory.h"
#include "opencl/core/buffers.h"
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"

#include <string.h>

/* Values a work-item at least in the first pass: enough to be worth a group. A further pass takes
   less time than its launch: one group merges as much as it can. */
enum { VALUES_PER_ITEM = 4, PARTIALS_PER_ITEM = 32 };

static enum clr_code make_buffers(struct clr_passes *passes, cl_context context,
                                  const struct clr_device_info *device, int most,
                                  struct clr_status *status)
{
    const size_t units = device->compute_units > 0 ? device->compute_units : 1;
    const size_t partials_size =
        CLR_MOST_BUNDLE * units * CLR_MOST_GROUPS_PER_UNIT * CLR_PARTIAL_SIZE;
    const size_t wide_size = CLR_MOST_BUNDLE * (CLR_WIDE_WORDS + CLR_COUNT_WORDS) * sizeof(cl_uint);
    const size_t results_size = (size_t)most * CLR_RESULT_WORDS * sizeof(cl_uint);
    const struct clr_wanted_buffer wanted[] = {
        {&passes->partials[0], CL_MEM_READ_WRITE, partials_size},
        {&passes->partials[1], CL_MEM_READ_WRITE, partials_size},
        {&passes->wide, CL_MEM_READ_WRITE, wide_size},
        {&passes->results, CL_MEM_READ_WRITE, results_size},
    };

    passes->wide_size = wide_size;
    if (CLR_BUFFERS_MAKE(context, wanted, status) != CLR_OK)
        return status->code;
    return clr_pinned_make(context, passes->queue, results_size, &passes->pinned, status);
}

enum clr_code clr_passes_open(struct clr_passes *passes, cl_context context, cl_command_queue queue,
                              const struct clr_device_info *device, int most,
                              struct clr_status *status)
{
    passes->queue = queue;
    passes->doubles = clr_device_sums_doubles(device);
    passes->kernels = clr_memory_alloc((size_t)most * CLR_MOST_PASSES * sizeof *passes->kernels);
    if (passes->kernels == NULL)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a device's results");
    else if (make_buffers(passes, context, device, most, status) == CLR_OK)
        return CLR_OK;
    clr_passes_close(passes);
    return status->code;
}

void clr_passes_close(struct clr_passes *passes)
{
    clr_pinned_release(passes->queue, &passes->pinned);
    clr_buffer_release(&passes->partials[0]);
    clr_buffer_release(&passes->partials[1]);
    clr_buffer_release(&passes->wide);
    clr_buffer_release(&passes->results);
    clr_memory_free(passes->kernels);
    memset(passes, 0, sizeof *passes);
}

void clr_passes_recover(struct clr_passes *passes, struct clr_status *status)
{
    int i;

    clr_queue_drain(passes->queue, status);
    for (i = 0; i < passes->launched && passes->timed; i++)
        clr_event_release(&passes->kernels[i]);
    clr_event_release(&passes->fetched);
    passes->started = passes->launched = 0;
    passes->clean = false;
}

/* Sees that what reductions leave at zero is zero. */
static enum clr_code clean(struct clr_passes *passes, struct clr_status *status)
{
    const cl_uint zero = 0;
    cl_int error;

    if (passes->clean)
        return CLR_OK;
    error = clEnqueueFillBuffer(passes->queue, passes->wide, &zero, sizeof zero, 0,
                                passes->wide_size, 0, NULL, NULL);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueFillBuffer", error);
    passes->clean = true;
    return CLR_OK;
}

/* Sets the arguments that all kernels end with, and runs `groups` work-groups. */
static enum clr_code launch(struct clr_passes *passes, const struct clr_program *program,
                            cl_kernel kernel, cl_uint argument, cl_mem target, size_t groups,
                            struct clr_status *status)
{
    const size_t local = program->group_size, global = groups * local;
    const cl_uint number = (cl_uint)passes->started;
    const struct clr_argument arguments[] = {
        CLR_VALUE(target),       CLR_LOCAL(local * program->partial_size),
        CLR_VALUE(passes->wide), CLR_VALUE(passes->results),
        CLR_VALUE(number),
    };
    cl_int error;

    if (clean(passes, status) != CLR_OK ||
        clr_set_arguments(kernel, argument, CLR_ARGUMENTS(arguments), status) != CLR_OK)
        return status->code;
    error = clEnqueueNDRangeKernel(passes->queue, kernel, 1, NULL, &global, &local, 0, NULL,
                                   passes->timed ? &passes->kernels[passes->launched] : NULL);
    if (error != CL_SUCCESS)
        return clr_opencl_buffer_failed(status, "clEnqueueNDRangeKernel", error);
    if (passes->launched == 0 && !passes->timed)
        passes->begun = clr_clock_ns();
    passes->launched++;
    return CLR_OK;
}

/* Launches a pass from `count` partial results in partials[source] to `groups` in the other. */
static enum clr_code launch_next(struct clr_passes *passes, const struct clr_program *program,
                                 int source, cl_ulong count, size_t groups,
                                 struct clr_status *status)
{
    const struct clr_argument arguments[] = {CLR_VALUE(passes->partials[source]), CLR_VALUE(count)};

    if (clr_set_arguments(program->next, 0, CLR_ARGUMENTS(arguments), status) != CLR_OK)
        return status->code;
    return launch(passes, program, program->next, 2, passes->partials[!source], groups, status);
}

static size_t choose_groups(const struct clr_program *program, size_t count, size_t per_item)
{
    size_t per_group = program->group_size * per_item;
    size_t groups = count / per_group + (count % per_group != 0);
    return groups < program->most_groups ? groups : program->most_groups;
}

/* How many groups the pass after one with this many has; so many passes came before. */
static size_t choose_next_groups(const struct clr_program *program, size_t groups, int passes)
{
    if (program->scans)
        return (size_t)program->steps; /* each of which ends one */
    if (passes + 1 == CLR_MOST_PASSES)
        return 1;
    return choose_groups(program, groups, PARTIALS_PER_ITEM);
}

enum clr_code clr_passes_start_rows(struct clr_passes *passes, const struct clr_program *program,
                                    cl_uint arguments, size_t count, struct clr_status *status)
{
    size_t groups = choose_groups(program, count, VALUES_PER_ITEM), next;
    int target = 0, done;

    if (launch(passes, program, program->first, arguments, passes->partials[0], groups, status) !=
        CLR_OK)
        return status->code;
    for (done = 1; groups > 1; done++) {
        next = choose_next_groups(program, groups, done);
        if (launch_next(passes, program, target, groups, next, status) != CLR_OK)
            return status->code;
        groups = program->scans ? 1 : next;
        target = !target;
    }
    passes->started += program->steps;
    return CLR_OK;
}

enum clr_code clr_passes_start(struct clr_passes *passes, const struct clr_program *program,
                               cl_mem source, size_t begin, size_t second, size_t count,
                               struct clr_status *status)
{
    const cl_ulong first = begin, distance = second, values = count;
    const struct clr_argument arguments[] = {CLR_VALUE(source), CLR_VALUE(first),
                                             CLR_VALUE(distance), CLR_VALUE(values)};

    if (clr_set_arguments(program->first, 0, CLR_ARGUMENTS(arguments), status) != CLR_OK)
        return status->code;
    return clr_passes_start_rows(passes, program, 4, count, status);
}

enum clr_code clr_passes_fetch(struct clr_passes *passes, struct clr_status *status)
{
    const size_t size = (size_t)passes->started * CLR_RESULT_WORDS * sizeof(cl_uint);
    cl_int error;

    passes->end = clr_clock_ns();
    error = clEnqueueReadBuffer(passes->queue, passes->results, CL_FALSE, 0, size,
                                passes->pinned.mapped, 0, NULL, &passes->fetched);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clEnqueueReadBuffer", error);
    error = clFlush(passes->queue);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clFlush", error);
}

static cl_ulong fetch_time(const struct clr_passes *passes, cl_profiling_info moment)
{
    cl_ulong time = 0;

    clGetEventProfilingInfo(passes->fetched, moment, sizeof time, &time, NULL);
    return time;
}

/*
 * The nanoseconds of a batch's kernels without an event for each: before the transfer was enqueued,
 * by the host's clock, and from then until it started, by its event's times; but not before the
 * batch that was in the queue when this one came had ended.
 */
static int64_t batch_time(const struct clr_passes *passes)
{
    const cl_ulong queued = fetch_time(passes, CL_PROFILING_COMMAND_QUEUED);
    const cl_ulong start = fetch_time(passes, CL_PROFILING_COMMAND_START);
    const cl_ulong before = passes->ended != NULL ? *passes->ended : 0;
    int64_t time;

    if (passes->ended != NULL)
        *passes->ended = fetch_time(passes, CL_PROFILING_COMMAND_END);
    if (queued == 0 || start < queued)
        return 0;
    time = passes->end - passes->begun + (int64_t)(start - queued);
    return before != 0 && start > before && (int64_t)(start - before) < time
               ? (int64_t)(start - before)
               : time;
}

enum clr_code clr_passes_wait(struct clr_passes *passes, struct clr_device_work *work,
                              struct clr_status *status)
{
    int i;

    if (passes->fetched == NULL)
        return clr_status_set(status, CLR_DEVICE, 0, "a reduction failed as it was started");
    if (clr_event_wait(passes->fetched, status) != CLR_OK)
        return status->code;
    work->kernels += passes->launched;
    work->passes += passes->launched;
    if (!passes->timed)
        work->kernel_time += batch_time(passes);
    for (i = 0; i < passes->launched && passes->timed; i++)
        work->kernel_time += clr_event_take_time(&passes->kernels[i]);
    work->transfer_time += clr_event_take_time(&passes->fetched);
    passes->started = passes->launched = 0;
    return CLR_OK;
}

static int64_t word_pair(const cl_uint *words)
{
    return (int64_t)((uint64_t)words[1] << 32 | words[0]);
}

static const cl_uint *result_of(const struct clr_passes *passes, int number)
{
    return (const cl_uint *)passes->pinned.mapped + (size_t)number * CLR_RESULT_WORDS;
}

struct clr_row_counts clr_passes_counts(const struct clr_passes *passes, int number)
{
    const cl_uint *words = result_of(passes, number) + CLR_PARTIAL_WORDS + CLR_WIDE_WORDS;

    return (struct clr_row_counts){
        .counted = word_pair(words),
        .non_integers = word_pair(words + 2),
        .unsure = words[4] != 0,
        .inexact = words[5] != 0,
    };
}

/* Adds a partial result of kernels/arithmetic/window.cl to digits of a long accumulator. All of its
   own but the last, which has the sign, are as without one. */
static void add_window(const cl_uint *result, int64_t *digits)
{
    const int64_t position = word_pair(result + 6) - CLR_ACCUMULATOR_BASE;
    const int shift = (int)(position % 32);
    uint64_t before = 0;
    int i;

    digits += position / 32;
    for (i = 0; i < 6; i++) {
        const uint64_t word = (uint64_t)result[i] << shift | before;

        digits[i] += (int64_t)(word & UINT32_MAX);
        before = word >> 32;
    }
    digits[6] += (int64_t)before - ((int64_t)(result[5] >> 31) << shift);
}

static void take_sum_of_reals(const cl_uint *result, bool doubles, struct clr_sum *sum)
{
    const cl_uint *wide = result + CLR_PARTIAL_WORDS;
    const cl_uint *special = wide + 2 * CLR_ACCUMULATOR_DIGITS;
    int64_t digits[CLR_ACCUMULATOR_DIGITS];
    double terms[CLR_EXPANSION_TERMS] = {0.0};
    bool used = special[3] != 0 || !doubles;
    int i;

    for (i = 0; used && i < CLR_ACCUMULATOR_DIGITS; i++)
        digits[i] = word_pair(wide + 2 * i);
    if (doubles)
        memcpy(terms, result, sizeof terms);
    else
        add_window(result, digits);
    clr_sum_add_device_parts(sum, terms, used ? digits : NULL);
    sum->plus_infinity += special[0];
    sum->minus_infinity += special[1];
    sum->nan += special[2];
}

void clr_passes_take(const struct clr_passes *passes, int number, enum clr_operation operation,
                     enum clr_element element, struct clr_state *state, int term)
{
    const cl_uint *result = result_of(passes, number);
    struct clr_sum *sum = clr_state_sum(state, term);
    struct clr_int192 integer;
    struct clr_range range;

    if (operation == CLR_EXTREMES) {
        range.least = word_pair(result);
        range.greatest = word_pair(result + 2);
        range.seen = range.least <= range.greatest; /* or no row of a scan counted */
        clr_range_merge(element == CLR_REAL ? &state->reals : &state->integers, &range);
    } else if (element == CLR_REAL) {
        take_sum_of_reals(result, passes->doubles, sum);
    } else {
        memcpy(&integer, result, sizeof integer);
        clr_int192_add(&sum->integer, &integer);
    }
}
