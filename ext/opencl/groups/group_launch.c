/* The launch of a program for groups: what it is told, and how its rows and places are divided. */
#include "opencl/core/calls.h"
#include "opencl/groups/grouper_private.h"
#include "opencl/scan/row_arguments.h"

/* MOST_COPIES: of the table, for about as many work-items as add at the same moment. */
enum { GROUPS_PER_UNIT = 4, MOST_COPIES = 16 };

/* kernels/groups/group_tiles.cl: rows of a tile, places of a slice that an entry has bits for,
   counters of a slice. */
enum { TILE = 4096, MOST_SLICE_PLACES = 1 << 15, COUNTERS = 8, INVERSE_BITS = 40 };

/*
 * Slices up to which it is quicker that each reads all rows than to sort them; slices beyond which
 * so few rows of one lie together that the atomics of global memory are quicker; and words that a
 * row adds beyond which they are so too, as too few work-groups have registers at a time.
 */
enum { MOST_UNSORTED_SLICES = 2, MOST_SLICES = 20, MOST_SORTED_ADDS = 3 };

static size_t sort_size(size_t slices)
{
    return 2 * (TILE + COUNTERS * slices) * sizeof(cl_uint);
}

bool clr_group_can_sort(size_t local_memory)
{
    return sort_size(MOST_SLICES) <= local_memory;
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

        *parameters++ = clr_bits_of(kept->window.high);
        *parameters++ = clr_bits_of(kept->window.low);
        *parameters++ = clr_bits_of(kept->window.limit);
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
        error = clEnqueueFillBuffer(grouper->queue, grouper->records.buffer, &none, sizeof none, 0,
                                    job->size, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_buffer_failed(status, call, error);
}

/* How a launch is divided: there are so many work-groups, whose tables in local memory have room
   for so many places, in so many copies, and take so many bytes. */
struct division {
    cl_uint place_count, copies;
    size_t bytes, groups;
};

/* Returns the bytes of a table: see kernels/groups/group_rows.cl. */
static size_t table_size(const struct clr_group_plan *plan, size_t words, uint64_t places,
                         size_t copies)
{
    const size_t halves = (size_t)(plan->adds + clr_group_wide_words(plan));
    const size_t cells = copies * ((size_t)places * halves | 1);

    return 4 * (cells + (cells & 1)) + 8 * copies * (size_t)places * (words - (size_t)plan->adds);
}

/* Returns how many slices the places make, each of which has room in local memory: 1 if all have, 0
   if not even one place has. */
static uint64_t count_slices(const struct clr_grouper *grouper, const struct clr_group_plan *plan,
                             size_t words)
{
    /* The table's bytes are about in proportion to the places. */
    const size_t some = 64, pad = 16;
    uint64_t most = grouper->local_memory <= pad
                        ? 0
                        : (grouper->local_memory - pad) * some /
                              (table_size(plan, words, some, 1) - sizeof(cl_uint));

    if (plan->places > most && most > MOST_SLICE_PLACES)
        most = MOST_SLICE_PLACES;
    return most == 0 ? 0 : (plan->places - 1) / most + 1;
}

static uint64_t count_tiles(size_t rows)
{
    return rows / TILE + 1;
}

/* Returns how many rows a launch has at most. */
static size_t find_most_rows(const struct clr_scan *scan)
{
    const struct clr_row_ranges ranges = clr_scan_ranges(scan);
    size_t most = 0;
    int i;

    for (i = 0; i < ranges.count; i++)
        most = ranges.ranges[i].rows > most ? ranges.ranges[i].rows : most;
    return most;
}

/* Returns a number of work-groups, for the work of which there are so many parts. */
static size_t count_groups(const struct clr_group_job *job, uint64_t parts)
{
    const struct clr_device_info *info = &job->device->info;
    const size_t units = info->compute_units > 0 ? info->compute_units : 1;
    const size_t groups = units * GROUPS_PER_UNIT;

    return groups < parts ? groups : (size_t)parts;
}

static struct division divide(const struct clr_group_job *job, size_t rows)
{
    const struct clr_group_plan *plan = job->plan;
    const size_t size = job->program->group_size;
    struct division division = {.groups = count_groups(job, rows / size + 1),
                                .place_count = (cl_uint)plan->places,
                                .copies = 1};
    uint64_t slices;

    if (job->kernel == CLR_GROUP_GLOBALLY) {
        division.bytes = size * CLR_GROUP_STAGED_BYTES;
        return division;
    }
    slices = count_slices(job->grouper, plan, job->words);
    division.place_count = (cl_uint)((plan->places - 1) / slices + 1);
    /* The last one may have fewer places, and there is no more than one without. */
    slices = (plan->places - 1) / division.place_count + 1;
    division.groups =
        (size_t)(division.groups < slices ? slices : division.groups / slices * slices);
    while (division.copies < MOST_COPIES &&
           table_size(plan, job->words, division.place_count, 2 * division.copies) <=
               job->grouper->local_memory)
        division.copies *= 2;
    division.bytes = table_size(plan, job->words, division.place_count, division.copies);
    return division;
}

enum clr_group_kernel clr_group_choose_kernel(const struct clr_device *device,
                                              const struct clr_group_plan *plan)
{
    const struct clr_grouper *grouper = clr_grouper_of(device);
    const uint64_t slices = count_slices(grouper, plan, clr_group_device_words(plan));

    if (slices > 0 && slices <= MOST_UNSORTED_SLICES)
        return CLR_GROUP_LOCALLY;
    return slices > 0 && slices <= MOST_SLICES && plan->adds <= MOST_SORTED_ADDS &&
                   grouper->sorts &&
                   count_tiles(find_most_rows(plan->scan)) * TILE * sizeof(cl_uint) <=
                       device->info.memory / CLR_GROUP_MEMORY_PART
               ? CLR_GROUP_SORTED
               : CLR_GROUP_GLOBALLY;
}

/* ---- The launches. */

/* Makes room for the lists of sorted rows, and for where their slices start. */
static enum clr_code make_lists(const struct clr_group_job *job, uint64_t slices,
                                struct clr_status *status)
{
    struct clr_grouper *grouper = job->grouper;
    const size_t tiles = (size_t)count_tiles(find_most_rows(job->plan->scan));

    if (clr_group_buffer_make(job, &grouper->lists, tiles * TILE * sizeof(cl_uint), status) !=
        CLR_OK)
        return status->code;
    return clr_group_buffer_make(job, &grouper->starts,
                                 tiles * ((size_t)slices + 1) * sizeof(cl_ushort), status);
}

/* Sorts rows by the slices of so many places. list: the row's arguments and which rows these are,
   count arguments in all. */
static enum clr_code sort_rows(const struct clr_group_job *job, struct clr_argument *list,
                               cl_uint count, size_t rows, cl_uint place_count, cl_event *event,
                               struct clr_status *status)
{
    const struct clr_grouper *grouper = job->grouper;
    const cl_uint slices = (cl_uint)((job->plan->places - 1) / place_count + 1);
    const cl_ulong inverse = ((cl_ulong)1 << INVERSE_BITS) / place_count + 1;

    if (make_lists(job, slices, status) != CLR_OK)
        return status->code;
    list[count++] = CLR_VALUE(grouper->parameters);
    list[count++] = CLR_VALUE(place_count);
    list[count++] = CLR_VALUE(inverse);
    list[count++] = CLR_VALUE(slices);
    list[count++] = CLR_VALUE(grouper->flags);
    list[count++] = CLR_VALUE(grouper->lists.buffer);
    list[count++] = CLR_VALUE(grouper->starts.buffer);
    list[count++] = CLR_LOCAL(sort_size(slices));
    return clr_launch(grouper->queue, job->program->kernels[CLR_GROUP_TILES], list, count,
                      (size_t)count_tiles(rows), job->program->group_size, event, status);
}

/* Adds a range of rows to the records. second_round: see kernels/groups/grouping.cl. */
static enum clr_code launch_range(const struct clr_group_job *job,
                                  const struct clr_kept_lookup *const *lookups,
                                  const struct clr_row_range *range, cl_uint second_round,
                                  cl_event *events, struct clr_status *status)
{
    const struct clr_grouper *grouper = job->grouper;
    const struct division division = divide(job, range->rows);
    const cl_ulong first = range->first, rows = range->rows;
    const cl_uint places = (cl_uint)job->plan->places, room = CLR_GROUP_SPILL_ROOM;
    struct clr_argument list[CLR_MOST_ROW_ARGUMENTS + 14];
    cl_uint count;

    count = clr_row_arguments_list(&grouper->key.arguments, job->plan->scan, job->columns, lookups,
                                   list);
    list[count++] = CLR_VALUE(first);
    list[count++] = CLR_VALUE(rows);
    if (job->kernel == CLR_GROUP_SORTED &&
        sort_rows(job, list, count, rows, division.place_count, &events[1], status) != CLR_OK)
        return status->code;
    list[count++] = CLR_VALUE(grouper->parameters);
    list[count++] = CLR_VALUE(places);
    list[count++] = CLR_VALUE(division.place_count);
    list[count++] = CLR_VALUE(division.copies);
    list[count++] = CLR_VALUE(grouper->records.buffer);
    list[count++] = CLR_VALUE(grouper->flags);
    list[count++] = CLR_VALUE(grouper->spills);
    list[count++] = CLR_VALUE(room);
    list[count++] = CLR_VALUE(second_round);
    if (job->kernel == CLR_GROUP_SORTED) {
        list[count++] = CLR_VALUE(grouper->lists.buffer);
        list[count++] = CLR_VALUE(grouper->starts.buffer);
    }
    list[count++] = CLR_LOCAL(division.bytes);
    return clr_launch(grouper->queue, job->program->kernels[job->kernel], list, count,
                      division.groups, job->program->group_size, &events[0], status);
}

enum clr_code clr_group_launch(const struct clr_group_job *job,
                               const struct clr_kept_lookup *const *lookups,
                               cl_event events[CLR_GROUP_LAUNCHES], struct clr_status *status)
{
    const struct clr_row_ranges ranges = clr_scan_ranges(job->plan->scan);
    const bool has_mosts = job->words > (size_t)job->plan->adds;
    const int rounds = has_mosts && !job->device->info.long_maxima ? 2 : 1;
    int i;

    if (begin(job, status) != CLR_OK)
        return status->code;
    for (i = 0; i < rounds * ranges.count && status->code == CLR_OK; i++)
        launch_range(job, lookups, &ranges.ranges[i % ranges.count], i >= ranges.count,
                     events + 2 * i, status);
    return status->code;
}
