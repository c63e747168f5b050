#include "opencl/reduction/passes.h"

#include "base/clock.h"
#include "base/memory.h"

#include <string.h>

/* Values a work-item at least: enough to be worth a group. */
enum { VALUES_PER_ITEM = 4 };

static enum clr_code make_buffers(struct clr_passes *passes, cl_context context,
                                  struct clr_status *status)
{
    const struct clr_wanted_buffer wanted = {&passes->results, CL_MEM_READ_WRITE, passes->size};

    if (clr_buffers_make(context, &wanted, 1, status) != CLR_OK)
        return status->code;
    return clr_pinned_make(context, passes->queue, passes->size, &passes->pinned, status);
}

enum clr_code clr_passes_open(struct clr_passes *passes, cl_context context, cl_command_queue queue,
                              const struct clr_device_info *device, int most,
                              struct clr_status *status)
{
    const size_t units = device->compute_units > 0 ? device->compute_units : 1;
    const size_t partials = units * CLR_MOST_GROUPS_PER_UNIT * CLR_PARTIAL_SIZE;

    passes->queue = queue;
    passes->doubles = clr_device_sums_doubles(device);
    passes->size = (size_t)most * (CLR_SHARED_WORDS * sizeof(cl_uint) + partials);
    passes->kernels = clr_memory_alloc((size_t)most * sizeof *passes->kernels);
    passes->reductions = clr_memory_alloc((size_t)most * sizeof *passes->reductions);
    if (passes->kernels == NULL || passes->reductions == NULL)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a device's results");
    else if (make_buffers(passes, context, status) == CLR_OK)
        return CLR_OK;
    clr_passes_close(passes);
    return status->code;
}

void clr_passes_close(struct clr_passes *passes)
{
    clr_pinned_release(passes->queue, &passes->pinned);
    clr_buffer_release(&passes->results);
    clr_memory_free(passes->kernels);
    clr_memory_free(passes->reductions);
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
    passes->used = 0;
    passes->clean = false;
}

/* Has so many bytes of the results be zero. */
static enum clr_code clean(struct clr_passes *passes, size_t size, struct clr_status *status)
{
    passes->clean = clr_buffer_clear(passes->queue, passes->results, size, status) == CLR_OK;
    return status->code;
}

static size_t choose_groups(const struct clr_program *program, size_t count)
{
    const size_t per_group = program->group_size * VALUES_PER_ITEM;
    const size_t groups = count / per_group + (count % per_group != 0);

    return groups < program->most_groups ? groups : program->most_groups;
}

/* Adds a program's reductions, by so many groups, to the batch. */
static void add_reductions(struct clr_passes *passes, const struct clr_program *program,
                           size_t groups)
{
    const size_t steps = (size_t)program->steps;
    size_t i;

    for (i = 0; i < steps; i++)
        passes->reductions[passes->started++] = (struct clr_started){
            .shared = passes->used + i * CLR_SHARED_WORDS,
            .partials = passes->used + steps * CLR_SHARED_WORDS + i * groups * CLR_PARTIAL_WORDS,
            .groups = groups};
    passes->used += steps * (CLR_SHARED_WORDS + groups * CLR_PARTIAL_WORDS);
}

enum clr_code clr_passes_start_rows(struct clr_passes *passes, const struct clr_program *program,
                                    struct clr_argument *list, cl_uint count, size_t rows,
                                    struct clr_status *status)
{
    const size_t groups = choose_groups(program, rows);
    const cl_uint place = (cl_uint)passes->used;

    list[count++] = CLR_VALUE(passes->results);
    list[count++] = CLR_LOCAL(program->group_size * program->partial_size);
    list[count++] = CLR_VALUE(place);
    if ((!passes->clean && clean(passes, passes->size, status) != CLR_OK) ||
        clr_launch(passes->queue, program->kernel, list, count, groups, program->group_size,
                   passes->timed ? &passes->kernels[passes->launched] : NULL, status) != CLR_OK)
        return status->code;
    if (passes->launched == 0 && !passes->timed)
        passes->begun = clr_clock_ns();
    passes->launched++;
    add_reductions(passes, program, groups);
    return CLR_OK;
}

enum clr_code clr_passes_start(struct clr_passes *passes, const struct clr_program *program,
                               cl_mem source, size_t begin, size_t second, size_t count,
                               struct clr_status *status)
{
    const cl_ulong first = begin, distance = second, values = count;
    struct clr_argument list[4 + CLR_PASSES_ARGUMENTS] = {CLR_VALUE(source), CLR_VALUE(first),
                                                          CLR_VALUE(distance), CLR_VALUE(values)};

    return clr_passes_start_rows(passes, program, list, 4, count, status);
}

enum clr_code clr_passes_fetch(struct clr_passes *passes, struct clr_status *status)
{
    const size_t size = passes->used * sizeof(cl_uint);
    cl_int error;

    passes->end = clr_clock_ns();
    error = clr_cl.EnqueueReadBuffer(passes->queue, passes->results, CL_FALSE, 0, size,
                                     passes->pinned.mapped, 0, NULL, &passes->fetched);
    if (clr_opencl_check(status, "clEnqueueReadBuffer", error) != CLR_OK ||
        clr_opencl_check(status, "clFlush", clr_cl.Flush(passes->queue)) != CLR_OK)
        return status->code;
    /* For the next batch, while these are on their way. */
    return clean(passes, size, status);
}

static cl_ulong fetch_time(const struct clr_passes *passes, cl_profiling_info moment)
{
    cl_ulong time = 0;

    clr_cl.GetEventProfilingInfo(passes->fetched, moment, sizeof time, &time, NULL);
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
    passes->used = 0;
    return CLR_OK;
}

static int64_t word_pair(const cl_uint *words)
{
    return (int64_t)((uint64_t)words[1] << 32 | words[0]);
}

static const cl_uint *words_at(const struct clr_passes *passes, size_t place)
{
    return (const cl_uint *)passes->pinned.mapped + place;
}

struct clr_row_counts clr_passes_counts(const struct clr_passes *passes, int number)
{
    const cl_uint *words = words_at(passes, passes->reductions[number].shared + CLR_WIDE_WORDS);

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

/* shared: the reduction's; partials: those of its groups. */
static void take_sum_of_reals(const cl_uint *shared, const cl_uint *partials, size_t groups,
                              bool doubles, struct clr_sum *sum)
{
    const cl_uint *special = shared + 2 * CLR_ACCUMULATOR_DIGITS;
    int64_t digits[CLR_ACCUMULATOR_DIGITS];
    double terms[CLR_EXPANSION_TERMS] = {0.0};
    size_t i, j;

    for (i = 0; i < CLR_ACCUMULATOR_DIGITS; i++)
        digits[i] = word_pair(shared + 2 * i);
    for (i = 0; i < groups; i++, partials += CLR_PARTIAL_WORDS) {
        if (doubles) {
            memcpy(terms, partials, sizeof terms);
            for (j = 0; j < CLR_EXPANSION_TERMS; j++) {
                if (terms[j] != 0.0) /* as the last one hardly ever is */
                    clr_sum_add(sum, terms[j], 1);
            }
        } else {
            add_window(partials, digits);
        }
    }
    memset(terms, 0, sizeof terms);
    if (special[3] != 0 || !doubles)
        clr_sum_add_device_parts(sum, terms, digits);
    sum->plus_infinity += special[0];
    sum->minus_infinity += special[1];
    sum->nan += special[2];
}

void clr_passes_take(const struct clr_passes *passes, int number, enum clr_operation operation,
                     enum clr_element element, struct clr_state *state, int term)
{
    const struct clr_started *done = &passes->reductions[number];
    const cl_uint *partials = words_at(passes, done->partials);
    struct clr_sum *sum = clr_state_sum(state, term);
    struct clr_int192 integer;
    struct clr_range *range = element == CLR_REAL ? &state->reals : &state->integers;
    size_t i;

    if (operation != CLR_EXTREMES && element == CLR_REAL) {
        take_sum_of_reals(words_at(passes, done->shared), partials, done->groups, passes->doubles,
                          sum);
        return;
    }
    for (i = 0; i < done->groups; i++, partials += CLR_PARTIAL_WORDS) {
        if (operation == CLR_EXTREMES) {
            const int64_t least = word_pair(partials), greatest = word_pair(partials + 2);

            if (least > greatest) /* no row of a scan counted */
                continue;
            clr_range_add(range, least);
            clr_range_add(range, greatest);
        } else {
            memcpy(&integer, partials, sizeof integer);
            clr_int192_add(&sum->integer, &integer);
        }
    }
}
