#include "opencl/sort/sorted_column.h"

#include "base/memory.h"
#include "numeric/values/column.h"
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/memory/resident_column_private.h"
#include "opencl/sort/sorted_column_private.h"
#include "opencl/sort/sorter_private.h"

#include <string.h>

/* The kernels' numbers of keys have 32 bits. */
static const uint64_t most_rows = UINT32_MAX;

/* What any device does in a few milliseconds. */
static const size_t first_step_keys = (size_t)1 << 21;

/* What the kernels store for each group. */
struct extent {
    cl_long least, greatest;
    cl_ulong differing;
};
struct runs {
    cl_ulong distinct, length;
    cl_long key;
};
union group_result {
    struct extent extent;
    struct runs runs;
};

struct clr_sorted_column *clr_sorted_column_new(uint8_t kind, size_t rows)
{
    struct clr_sorted_column *sorted = clr_memory_alloc(sizeof *sorted);

    if (sorted == NULL)
        return NULL;
    memset(sorted, 0, sizeof *sorted);
    sorted->kind = kind;
    sorted->rows = rows;
    sorted->step_keys = first_step_keys;
    return sorted;
}

size_t clr_sorted_column_size(size_t rows, bool complete)
{
    return rows * sizeof(int64_t) * (complete ? 1 : 2);
}

static void release_temporary(struct clr_sorted_column *sorted)
{
    clr_buffer_release(&sorted->keys[!sorted->current]);
    clr_buffer_release(&sorted->counts);
    clr_buffer_release(&sorted->totals);
    clr_buffer_release(&sorted->results);
}

void clr_sorted_column_free(struct clr_device *device, struct clr_sorted_column *sorted)
{
    struct clr_status ignored;

    if (sorted == NULL)
        return;
    if (device != NULL) {
        clr_status_clear(&ignored);
        clr_sort_finish(device, sorted, &sorted->before, &ignored);
        clr_sort_finish(device, sorted, &sorted->now, &ignored);
        release_temporary(sorted);
        clr_buffer_release(&sorted->keys[sorted->current]);
    }
    clr_memory_free(sorted);
}

static size_t divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/* Divides the keys among launches of about the same size, and each launch's among groups: as many
   as are worth having, with whole tiles. */
static void choose_spans(struct clr_sorted_column *sorted, const struct clr_sorter *sorter)
{
    size_t launches = divide_up(sorted->rows, sorter->step_keys);
    size_t span = divide_up(divide_up(sorted->rows, launches), sorter->most_groups);
    size_t tile = clr_sorter_tile(sorter);

    if (span < sorter->least_span)
        span = sorter->least_span;
    sorted->span = divide_up(span, tile) * tile;
    sorted->groups = divide_up(sorted->rows, sorted->span);
    sorted->launch_groups = divide_up(sorted->groups, launches);
}

static enum clr_code make_buffers(struct clr_device *device, struct clr_sorted_column *sorted,
                                  struct clr_status *status)
{
    const size_t keys_size = sorted->rows * sizeof(cl_long);
    const size_t digits_size = CLR_SORT_DIGITS * sizeof(cl_uint);
    const struct clr_wanted_buffer wanted[] = {
        {&sorted->keys[0], CL_MEM_READ_WRITE, keys_size},
        {&sorted->keys[1], CL_MEM_READ_WRITE, keys_size},
        {&sorted->counts, CL_MEM_READ_WRITE, sorted->groups * digits_size},
        {&sorted->totals, CL_MEM_READ_WRITE, digits_size},
        {&sorted->results, CL_MEM_READ_WRITE, sorted->groups * sizeof(union group_result)},
    };

    return CLR_BUFFERS_MAKE(device->context, wanted, status);
}

/* Has a kernel run for the next groups: as many as a launch has. */
static enum clr_code launch_groups(struct clr_device *device, struct clr_sorted_column *sorted,
                                   enum clr_sort_kernel kernel,
                                   const struct clr_argument *arguments, cl_uint count,
                                   struct clr_status *status)
{
    const bool has_results = kernel == CLR_SORT_BEGIN || kernel == CLR_SORT_RUNS;
    size_t groups = sorted->groups - sorted->group;

    if (groups > sorted->launch_groups)
        groups = sorted->launch_groups;
    if (clr_sort_launch(device, sorted, kernel, arguments, count, groups, groups * sorted->span,
                        has_results && sorted->group + groups == sorted->groups, status) != CLR_OK)
        return status->code;
    sorted->group += groups;
    return CLR_OK;
}

/* Begins the next phase if the groups of this one have all been launched. */
static bool is_over(struct clr_sorted_column *sorted, enum clr_sort_phase next)
{
    if (sorted->group < sorted->groups)
        return false;
    sorted->group = 0;
    sorted->phase = next;
    return true;
}

/* Returns what the groups have stored, or NULL; to be freed with clr_memory_free(). */
static union group_result *read_results(struct clr_device *device, struct clr_sorted_column *sorted,
                                        struct clr_status *status)
{
    size_t size = sorted->groups * sizeof(union group_result);
    union group_result *results = clr_memory_alloc(size);
    cl_event event;
    cl_int error;

    if (results == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for sorting");
        return NULL;
    }
    error = clEnqueueReadBuffer(clr_sorter_of(device)->module.queues[0], sorted->results, CL_TRUE,
                                0, size, results, 0, NULL, &event);
    if (error != CL_SUCCESS) {
        clr_opencl_buffer_failed(status, "clEnqueueReadBuffer", error);
        clr_queue_drain(clr_sorter_of(device)->module.queues[0], status);
        clr_memory_free(results);
        return NULL;
    }
    sorted->work.transfer_time += clr_event_take_time(&event);
    clr_sort_finish(device, sorted, &sorted->before, status);
    if (clr_sort_finish(device, sorted, &sorted->now, status) != CLR_OK) {
        clr_memory_free(results);
        return NULL;
    }
    return results;
}

static cl_uint highest_digit(uint64_t bits)
{
    cl_uint shift = 0;

    while (bits >> shift >= CLR_SORT_DIGITS)
        shift += CLR_SORT_DIGIT_BITS;
    return shift;
}

/* The digits to sort by: those of the distances from the least key, from the lowest one in which
   any two keys differ. Returns the phase that comes next. */
static enum clr_sort_phase choose_digits(struct clr_sorted_column *sorted,
                                         const union group_result *results)
{
    struct extent all = results[0].extent;
    size_t i;

    for (i = 1; i < sorted->groups; i++) {
        const struct extent *one = &results[i].extent;
        if (one->least < all.least)
            all.least = one->least;
        if (one->greatest > all.greatest)
            all.greatest = one->greatest;
        all.differing |= one->differing;
    }
    if (all.differing == 0)
        return CLR_PHASE_RUNS;
    sorted->least = all.least;
    sorted->last_shift = highest_digit((uint64_t)all.greatest - (uint64_t)all.least);
    while ((all.differing >> sorted->shift) % CLR_SORT_DIGITS == 0)
        sorted->shift += CLR_SORT_DIGIT_BITS;
    return CLR_PHASE_COUNT;
}

static enum clr_code step_begin(struct clr_device *device, struct clr_sorted_column *sorted,
                                const struct clr_resident_column *source, struct clr_status *status)
{
    const cl_uint real = sorted->kind == CLR_TAG_REAL;
    const cl_uint bytes = (cl_uint)clr_kind_value_bytes(source->kind);
    const cl_ulong rows = sorted->rows, span = sorted->span, first = sorted->group;
    const struct clr_argument arguments[] = {
        CLR_VALUE(source->values),
        CLR_VALUE(bytes),
        CLR_VALUE(source->frame.least),
        CLR_VALUE(source->power),
        CLR_VALUE(source->reciprocal),
        CLR_VALUE(real),
        CLR_VALUE(rows),
        CLR_VALUE(span),
        CLR_VALUE(first),
        CLR_VALUE(sorted->keys[0]),
        CLR_VALUE(sorted->results),
        CLR_LOCAL(clr_sorter_of(device)->group_size * sizeof(struct extent)),
    };
    union group_result *results;

    if (launch_groups(device, sorted, CLR_SORT_BEGIN, CLR_ARGUMENTS(arguments), status) != CLR_OK)
        return status->code;
    if (is_over(sorted, CLR_PHASE_COUNT)) {
        results = read_results(device, sorted, status);
        if (results == NULL)
            return status->code;
        sorted->phase = choose_digits(sorted, results);
        clr_memory_free(results);
    }
    return CLR_OK;
}

/* Counts a digit's values, or scatters the keys by them: one begins with the arguments that the
   other one has. */
static enum clr_code launch_digit(struct clr_device *device, struct clr_sorted_column *sorted,
                                  enum clr_sort_kernel kernel, struct clr_status *status)
{
    const cl_ulong rows = sorted->rows, span = sorted->span, first = sorted->group;
    const cl_ulong groups = sorted->groups;
    const size_t items = clr_sorter_of(device)->group_size;
    const cl_long least = sorted->least;
    const struct clr_argument arguments[] = {
        CLR_VALUE(sorted->keys[sorted->current]),
        CLR_VALUE(rows),
        CLR_VALUE(least),
        CLR_VALUE(sorted->shift),
        CLR_VALUE(span),
        CLR_VALUE(first),
        CLR_VALUE(groups),
        CLR_VALUE(sorted->counts),
        /* To scatter, these as well. */
        CLR_VALUE(sorted->totals),
        CLR_VALUE(sorted->keys[!sorted->current]),
        CLR_LOCAL(clr_sorter_room(items)),
        CLR_LOCAL(2 * items * sizeof(cl_uint)),
    };
    const cl_uint all = sizeof arguments / sizeof arguments[0];

    return launch_groups(device, sorted, kernel, arguments,
                         kernel == CLR_SORT_COUNT ? all - 4 : all, status);
}

static enum clr_code step_count(struct clr_device *device, struct clr_sorted_column *sorted,
                                struct clr_status *status)
{
    if (launch_digit(device, sorted, CLR_SORT_COUNT, status) == CLR_OK)
        is_over(sorted, CLR_PHASE_SCAN);
    return status->code;
}

static enum clr_code step_scan(struct clr_device *device, struct clr_sorted_column *sorted,
                               struct clr_status *status)
{
    const cl_ulong groups = sorted->groups;
    const struct clr_argument arguments[] = {
        CLR_VALUE(sorted->counts),
        CLR_VALUE(groups),
        CLR_VALUE(sorted->totals),
        CLR_LOCAL(2 * clr_sorter_of(device)->group_size * sizeof(cl_uint)),
    };

    sorted->phase = CLR_PHASE_SCATTER;
    return clr_sort_launch(device, sorted, CLR_SORT_SCAN, CLR_ARGUMENTS(arguments), CLR_SORT_DIGITS,
                           0, false, status);
}

static enum clr_code step_scatter(struct clr_device *device, struct clr_sorted_column *sorted,
                                  struct clr_status *status)
{
    if (launch_digit(device, sorted, CLR_SORT_SCATTER, status) != CLR_OK ||
        !is_over(sorted, CLR_PHASE_COUNT))
        return status->code;
    sorted->current = !sorted->current;
    if (sorted->shift == sorted->last_shift)
        sorted->phase = CLR_PHASE_RUNS;
    sorted->shift += CLR_SORT_DIGIT_BITS;
    return CLR_OK;
}

static void take_runs(struct clr_sorted_column *sorted, const union group_result *results)
{
    size_t i;

    for (i = 0; i < sorted->groups; i++) {
        const struct runs *one = &results[i].runs;
        sorted->runs.distinct += one->distinct;
        /* The groups are in the order of their keys. */
        if (one->length > sorted->runs.longest) {
            sorted->runs.longest = one->length;
            sorted->runs.mode = one->key;
        }
    }
}

static enum clr_code step_runs(struct clr_device *device, struct clr_sorted_column *sorted,
                               struct clr_status *status)
{
    const cl_uint real = sorted->kind == CLR_TAG_REAL;
    const cl_ulong rows = sorted->rows, span = sorted->span, first = sorted->group;
    const struct clr_argument arguments[] = {
        CLR_VALUE(sorted->keys[sorted->current]),
        CLR_VALUE(real),
        CLR_VALUE(rows),
        CLR_VALUE(span),
        CLR_VALUE(first),
        CLR_VALUE(sorted->results),
        CLR_LOCAL(clr_sorter_of(device)->group_size * sizeof(struct runs)),
    };
    union group_result *results;

    if (launch_groups(device, sorted, CLR_SORT_RUNS, CLR_ARGUMENTS(arguments), status) != CLR_OK)
        return status->code;
    if (is_over(sorted, CLR_PHASE_COMPLETE)) {
        results = read_results(device, sorted, status);
        if (results == NULL)
            return status->code;
        take_runs(sorted, results);
        clr_memory_free(results);
        release_temporary(sorted);
    }
    return CLR_OK;
}

static enum clr_code step_make(struct clr_device *device, struct clr_sorted_column *sorted,
                               struct clr_status *status)
{
    sorted->phase = sorted->rows > 0 ? CLR_PHASE_BEGIN : CLR_PHASE_COMPLETE;
    if (sorted->rows == 0)
        return CLR_OK;
    if (sorted->rows > most_rows)
        return clr_status_set(status, CLR_INVALID, 0, "%llu rows are too many to be sorted",
                              (unsigned long long)sorted->rows);
    sorted->left = 0;
    choose_spans(sorted, clr_sorter_of(device));
    return make_buffers(device, sorted, status);
}

/* Does what comes next: a launch, and the reading of what it stores, if that is wanted. */
static enum clr_code do_next(struct clr_device *device, struct clr_sorted_column *sorted,
                             const struct clr_resident_column *source, struct clr_status *status)
{
    switch (sorted->phase) {
    case CLR_PHASE_UNMADE:
        return step_make(device, sorted, status);
    case CLR_PHASE_BEGIN:
        return step_begin(device, sorted, source, status);
    case CLR_PHASE_COUNT:
        return step_count(device, sorted, status);
    case CLR_PHASE_SCAN:
        return step_scan(device, sorted, status);
    case CLR_PHASE_SCATTER:
        return step_scatter(device, sorted, status);
    case CLR_PHASE_RUNS:
        return step_runs(device, sorted, status);
    case CLR_PHASE_COMPLETE:
        break;
    }
    return CLR_OK;
}

enum clr_code clr_sorted_column_step(struct clr_device *device, struct clr_sorted_column *sorted,
                                     const struct clr_resident_column *source, bool *complete,
                                     struct clr_status *status)
{
    const size_t most = clr_sorter_of(device)->step_keys;

    *complete = false;
    sorted->left = sorted->step_keys < most ? sorted->step_keys : most;
    while (sorted->phase != CLR_PHASE_COMPLETE && sorted->left > 0) {
        if (do_next(device, sorted, source, status) != CLR_OK)
            break;
    }
    if (clr_sort_end_step(device, sorted, status) != CLR_OK)
        return status->code;
    *complete = sorted->phase == CLR_PHASE_COMPLETE;
    return CLR_OK;
}
