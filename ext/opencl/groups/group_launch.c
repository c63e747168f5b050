/* The launch of a program for groups: what it is told, and how its rows and places are divided. */
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/groups/grouper_private.h"
#include "opencl/scan/row_arguments.h"

#include <string.h>

/* MOST_COPIES: of the table, for about as many work-items as add at the same moment. MOST_SLICES:
   each reads all rows, which from then on takes longer than global memory's atomics. */
enum { GPU_GROUPS_PER_UNIT = 4, CPU_GROUPS_PER_UNIT = 2, GPU_MOST_COPIES = 16, MOST_SLICES = 6 };

static cl_long bits_of(double real)
{
    cl_long bits;

    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static void set_parameters(const struct clr_group_plan *plan, cl_long *parameters)
{
    int i;

    for (i = 0; i < plan->grouping.key_count; i++) {
        const struct clr_group_key *key = &plan->keys[i];
        const bool descends = plan->grouping.descending[i] && !plan->grouping.by_first;
        const uint64_t first = (uint64_t)key->first;
        /* Places are below 2^32: modulo that, a descending key has a factor below 0. */
        const uint64_t start = key->factor * (descends ? key->size - 2 + first : 1 - first);
        const uint64_t null = descends ? key->factor * (key->size - 1) : 0;

        *parameters++ = key->first;
        *parameters++ = (cl_long)(key->size - 2);
        *parameters++ = (cl_long)((start & UINT32_MAX) | null << 32);
        *parameters++ = (cl_long)(descends ? -key->factor : key->factor);
    }
    for (i = 0; i < plan->tally_count; i++) {
        const struct clr_group_tally *kept = &plan->tallies[i];

        *parameters++ = bits_of(kept->window.high);
        *parameters++ = bits_of(kept->window.low);
        *parameters++ = bits_of(kept->window.limit);
        *parameters++ = kept->integer_limit;
    }
}

/* Sends the parameters, and clears flags and records. */
static enum clr_code begin(const struct clr_group_job *job, struct clr_status *status)
{
    const struct clr_grouper *grouper = job->grouper;
    struct clr_group_pinned *pinned = grouper->pinned.mapped;
    const cl_uint none = 0;
    const char *call = "clEnqueueWriteBuffer";
    cl_int error;

    set_parameters(job->plan, pinned->parameters);
    error = clEnqueueWriteBuffer(grouper->queue, grouper->parameters, CL_FALSE, 0,
                                 sizeof pinned->parameters, pinned->parameters, 0, NULL, NULL);
    if (error == CL_SUCCESS) {
        call = "clEnqueueFillBuffer";
        error = clEnqueueFillBuffer(grouper->queue, grouper->flags, &none, sizeof none, 0,
                                    CLR_GROUP_FLAGS * sizeof none, 0, NULL, NULL);
    }
    if (error == CL_SUCCESS)
        error = clEnqueueFillBuffer(grouper->queue, grouper->records, &none, sizeof none, 0,
                                    job->size, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_buffer_failed(status, call, error);
}

/* How a launch is divided: a table in local memory has room for so many places, in so many copies,
   and takes so many bytes; there are so many work-groups. */
struct division {
    cl_uint place_count, copies;
    size_t bytes, groups;
};

/* Returns the bytes of a table: see kernels/group_rows.cl. */
static size_t table_size(const struct clr_group_plan *plan, size_t words, uint64_t places,
                         size_t copies)
{
    const size_t halves = (size_t)(plan->adds + clr_group_wide_words(plan));
    const size_t cells = copies * ((size_t)places * halves | 1);

    return 4 * (cells + (cells & 1)) + 8 * copies * (size_t)places * (words - (size_t)plan->adds);
}

/* Returns how many times the rows would be read with the records in local memory, or 0 if not even
   one has room. */
static uint64_t count_slices(const struct clr_grouper *grouper, const struct clr_group_plan *plan,
                             size_t words)
{
    /* The table's bytes are about in proportion to the places. */
    const size_t some = 64, pad = 16;
    const uint64_t most = grouper->local_memory <= pad
                              ? 0
                              : (grouper->local_memory - pad) * some /
                                    (table_size(plan, words, some, 1) - sizeof(cl_uint));

    return most == 0 ? 0 : (plan->places - 1) / most + 1;
}

static struct division divide(const struct clr_group_job *job)
{
    const struct clr_device_info *info = &job->device->info;
    const bool cpu = info->type == CLR_DEVICE_CPU;
    const struct clr_group_plan *plan = job->plan;
    const uint64_t rows = plan->scan->rows;
    const size_t units = info->compute_units > 0 ? info->compute_units : 1;
    struct division division = {.groups =
                                    units * (cpu ? CPU_GROUPS_PER_UNIT : GPU_GROUPS_PER_UNIT)};
    const size_t most = (size_t)(rows / job->program->group_size) + 1;
    uint64_t slices = 1;

    if (division.groups > most)
        division.groups = most;
    division.place_count = (cl_uint)plan->places;
    division.copies = 1;
    if (job->kernel == CLR_GROUP_LOCALLY) {
        slices = count_slices(job->grouper, plan, job->words);
        division.place_count = (cl_uint)((plan->places - 1) / slices + 1);
        while (!cpu && division.copies < GPU_MOST_COPIES &&
               table_size(plan, job->words, division.place_count, 2 * division.copies) <=
                   job->grouper->local_memory)
            division.copies *= 2;
        division.bytes = table_size(plan, job->words, division.place_count, division.copies);
        /* The last one may have fewer places, and there is no more than one without. */
        slices = (plan->places - 1) / division.place_count + 1;
        division.groups =
            (size_t)(division.groups < slices ? slices : division.groups / slices * slices);
    } else {
        division.bytes = sizeof(cl_ulong);
    }
    return division;
}

enum clr_group_kernel clr_group_choose_kernel(const struct clr_grouper *grouper,
                                              const struct clr_group_plan *plan)
{
    const uint64_t slices = count_slices(grouper, plan, clr_group_device_words(plan));

    return slices > 0 && slices <= MOST_SLICES ? CLR_GROUP_LOCALLY : CLR_GROUP_GLOBALLY;
}

enum clr_code clr_group_launch(const struct clr_group_job *job,
                               const struct clr_kept_lookup *const *lookups, cl_event *event,
                               struct clr_status *status)
{
    const struct clr_grouper *grouper = job->grouper;
    const struct division division = divide(job);
    const cl_ulong rows = job->plan->scan->rows;
    const cl_uint places = (cl_uint)job->plan->places, room = CLR_GROUP_SPILL_ROOM;
    struct clr_argument list[CLR_MOST_ROW_ARGUMENTS + 10];
    cl_uint count;

    if (begin(job, status) != CLR_OK)
        return status->code;
    count = clr_row_arguments_list(&grouper->key.arguments, job->plan->scan, job->columns, lookups,
                                   list);
    list[count++] = CLR_VALUE(rows);
    list[count++] = CLR_VALUE(grouper->parameters);
    list[count++] = CLR_VALUE(places);
    list[count++] = CLR_VALUE(division.place_count);
    list[count++] = CLR_VALUE(division.copies);
    list[count++] = CLR_VALUE(grouper->records);
    list[count++] = CLR_VALUE(grouper->flags);
    list[count++] = CLR_VALUE(grouper->spills);
    list[count++] = CLR_VALUE(room);
    list[count++] = CLR_LOCAL(division.bytes);
    return clr_launch(grouper->queue, job->program->kernels[job->kernel], list, count,
                      division.groups, job->program->group_size, event, status);
}
