#include "opencl/groups/grouper.h"

#include "base/memory.h"
#include "numeric/grouping/part.h"
#include "opencl/core/calls.h"
#include "opencl/memory/trial.h"
#include "opencl/scan/row_programs.h"

#include <stdlib.h>
#include <string.h>

/* No more than this part of a device's memory is taken for records. */
enum { MEMORY_PART = 8 };

/* A grouping is so many launches at most: each range of rows, in two rounds. */
enum { LAUNCHES = 2 * CLR_MOST_LAUNCHED_RANGES };

struct group_program {
    struct clr_row_program row; /* its trial is a struct trial */
    cl_kernel kernels[CLR_GROUP_KERNELS];
    size_t group_size; /* work-items in a work-group */
    bool queued;       /* rows that pass the filter wait in a queue */
};

struct clr_grouper {
    struct clr_row_programs programs;
    struct clr_row_key key;
    struct clr_row_text text;
    size_t local_memory; /* bytes that a work-group may have */
    cl_mem parameters, spills;
    cl_mem found;             /* records, and flags behind them */
    size_t found_size;        /* bytes */
    size_t clean_size;        /* so many are zeros, from the first one on */
    bool has_parameters;      /* the device has those of the pinned memory */
    struct clr_pinned pinned; /* what is sent, and what comes back */
};

/* 4 numbers for each key and tally; what the kernel has found out; records that come back at once,
   if they are no more; and values outside of their windows: there is room for so many. */
enum {
    PARAMETERS = 4 * (CLR_MOST_KEYS + CLR_MOST_SCAN_TALLIES),
    FLAG_BYTES = 4 * sizeof(cl_uint),
    FEW_BYTES = 1 << 18,
    SPILL_ROOM = 1 << 16
};

struct group_pinned {
    cl_long parameters[PARAMETERS];
    cl_long found[(FEW_BYTES + FLAG_BYTES) / sizeof(cl_long)];
};

/* A plan that is to be run, as the functions here hand it on. */
struct group_job {
    struct clr_device *device;
    struct clr_grouper *grouper;
    const struct group_program *program;
    enum clr_group_kernel kernel;
    const struct clr_group_plan *plan;
    struct clr_resident_column *const *columns;
    size_t size; /* bytes of all records */
};

/* Bytes of local memory, for what the driver itself puts there. */
enum { LOCAL_RESERVE = 1024 };

enum { DOUBTS_WORD, TYPES_WORD, SPILLS_WORD, SPILLED_WORD };
enum { UNSURE_ROW = 1, NO_PLACE = 2 };

/* MOST_COPIES: of the table, for about as many work-items as add at the same moment. */
enum { GROUPS_PER_UNIT = 4, QUEUED_GROUPS_PER_UNIT = 8, MOST_COPIES = 16 };

/*
 * Each slice of the places reads all rows: the atomics of global memory are quicker where there are
 * more slices than these. They are so earlier for many words that a row adds, as too few
 * work-groups have registers at a time.
 */
enum { FEW_ADDS = 3, MOST_SLICES = 2, MOST_SLICES_OF_FEW_ADDS = 6 };

/* ---- What is kept with the device. */

static void release_program(struct clr_row_program *program)
{
    struct group_program *own = (struct group_program *)(void *)program;
    int i;

    for (i = 0; i < CLR_GROUP_KERNELS; i++)
        if (own->kernels[i] != NULL)
            clr_cl.ReleaseKernel(own->kernels[i]);
    memset(own->kernels, 0, sizeof own->kernels);
}

static void release(struct clr_device_part *attachment)
{
    struct clr_grouper *grouper = (struct clr_grouper *)(void *)attachment;

    if (grouper->programs.queue != NULL)
        clr_pinned_release(grouper->programs.queue, &grouper->pinned);
    clr_buffer_release(&grouper->parameters);
    clr_buffer_release(&grouper->spills);
    clr_buffer_release(&grouper->found);
    clr_row_programs_close(&grouper->programs);
}

static enum clr_code make(struct clr_device *device, struct clr_row_programs *programs,
                          struct clr_status *status)
{
    struct clr_grouper *grouper = (struct clr_grouper *)(void *)programs;
    const struct clr_wanted_buffer wanted[] = {
        {&grouper->parameters, CL_MEM_READ_ONLY, PARAMETERS * sizeof(cl_long)},
        {&grouper->spills, CL_MEM_READ_WRITE, SPILL_ROOM * sizeof(struct clr_group_spill)},
    };
    cl_ulong local = 0;
    const cl_int error =
        clr_cl.GetDeviceInfo(device->info.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);

    grouper->local_memory = local > LOCAL_RESERVE ? (size_t)local - LOCAL_RESERVE : 0;
    if (clr_opencl_check(status, "clGetDeviceInfo", error) != CLR_OK ||
        CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK)
        return status->code;
    return clr_pinned_make(device->context, programs->queue, sizeof(struct group_pinned),
                           &grouper->pinned, status);
}

static const struct clr_row_programs_kind grouper_kind;

static struct clr_grouper *grouper_of(const struct clr_device *device)
{
    return clr_device_find(device, &grouper_kind.part);
}

/* Makes room for records and flags, which lose what they have. Returns CLR_OK, CLR_NOMEM or
   CLR_DEVICE. */
static enum clr_code make_room(const struct group_job *job, struct clr_status *status)
{
    struct clr_grouper *grouper = job->grouper;
    const size_t size = job->size + FLAG_BYTES;
    const struct clr_wanted_buffer wanted = {&grouper->found, CL_MEM_READ_WRITE, size};

    if (size <= grouper->found_size)
        return CLR_OK;
    clr_buffer_release(&grouper->found);
    grouper->found_size = grouper->clean_size = 0;
    if (clr_buffers_make(job->device->context, &wanted, 1, status) == CLR_OK)
        grouper->found_size = size;
    return status->code;
}

/* ---- The launch: what a program is told, and how its rows and places are divided. */

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

/* Sends the parameters, unless the device has them from the launch before, as it has where a query
   is asked again. */
static enum clr_code send_parameters(const struct group_job *job, struct clr_status *status)
{
    struct clr_grouper *grouper = job->grouper;
    struct group_pinned *pinned = grouper->pinned.mapped;
    cl_long parameters[PARAMETERS] = {0};
    cl_int error;

    set_parameters(job->plan, parameters);
    if (grouper->has_parameters && memcmp(parameters, pinned->parameters, sizeof parameters) == 0)
        return CLR_OK;
    memcpy(pinned->parameters, parameters, sizeof parameters);
    error = clr_cl.EnqueueWriteBuffer(grouper->programs.queue, grouper->parameters, CL_FALSE, 0,
                                      sizeof parameters, pinned->parameters, 0, NULL, NULL);
    grouper->has_parameters = error == CL_SUCCESS;
    return clr_opencl_check_buffer(status, "clEnqueueWriteBuffer", error);
}

/* Has the first bytes of records and flags be zeros. */
static enum clr_code clean(const struct group_job *job, struct clr_status *status)
{
    struct clr_grouper *grouper = job->grouper;
    const size_t size = job->size + FLAG_BYTES;

    if (grouper->clean_size < size &&
        clr_buffer_clear(grouper->programs.queue, grouper->found, size, status) == CLR_OK)
        grouper->clean_size = size;
    return status->code;
}

/* How a launch is divided: there are so many work-groups, whose tables in local memory have room
   for so many places, in so many copies, and take so many bytes. */
struct division {
    cl_uint place_count, copies;
    size_t bytes, groups;
};

/* Returns the bytes of a table: see kernels/groups/group_rows.cl. */
static size_t table_size(const struct clr_group_plan *plan, uint64_t places, size_t copies)
{
    const size_t halves = (size_t)(plan->adds + clr_group_wide_words(plan));
    const size_t cells = copies * ((size_t)places * halves | 1);

    return 4 * (cells + (cells & 1)) +
           8 * copies * (size_t)places * (plan->stride - (size_t)plan->adds);
}

/* Returns the bytes of local memory that a table may have. */
static size_t room_for_table(const struct clr_grouper *grouper, const struct group_program *program)
{
    const size_t queue = program->queued ? CLR_QUEUE_BYTES : 0;

    return grouper->local_memory > queue ? grouper->local_memory - queue : 0;
}

/* Returns how many slices the places make, each of which has room in local memory: 1 if all have, 0
   if not even one place has. */
static uint64_t count_slices(const struct clr_grouper *grouper, const struct group_program *program,
                             const struct clr_group_plan *plan)
{
    /* The table's bytes are about in proportion to the places. */
    const size_t some = 64, pad = 16, room = room_for_table(grouper, program);
    const uint64_t most =
        room <= pad ? 0 : (room - pad) * some / (table_size(plan, some, 1) - sizeof(cl_uint));

    return most == 0 ? 0 : (plan->places - 1) / most + 1;
}

/* Returns a number of work-groups, for the work of which there are so many parts. */
static size_t count_groups(const struct group_job *job, uint64_t parts)
{
    const struct clr_device_info *info = &job->device->info;
    const size_t units = info->compute_units > 0 ? info->compute_units : 1;
    const size_t groups = units * (job->program->queued ? QUEUED_GROUPS_PER_UNIT : GROUPS_PER_UNIT);

    return groups < parts ? groups : (size_t)parts;
}

static struct division divide(const struct group_job *job, size_t rows)
{
    const struct clr_group_plan *plan = job->plan;
    const size_t size = job->program->group_size;
    struct division division = {.groups = count_groups(job, rows / size + 1),
                                .place_count = (cl_uint)plan->places,
                                .copies = 1};
    const size_t room = room_for_table(job->grouper, job->program);
    /* The cache has what the tables leave of the memory, and few rows meet. */
    const size_t most_copies = job->program->queued ? 1 : MOST_COPIES;
    uint64_t slices;

    if (job->kernel == CLR_GROUP_GLOBALLY) {
        division.bytes = size * CLR_GROUP_STAGED_BYTES;
        return division;
    }
    slices = count_slices(job->grouper, job->program, plan);
    division.place_count = (cl_uint)((plan->places - 1) / slices + 1);
    /* The last one may have fewer places, and there is no more than one without. */
    slices = (plan->places - 1) / division.place_count + 1;
    division.groups =
        (size_t)(division.groups < slices ? slices : division.groups / slices * slices);
    while (2 * division.copies <= most_copies &&
           table_size(plan, division.place_count, 2 * division.copies) <= room)
        division.copies *= 2;
    division.bytes = table_size(plan, division.place_count, division.copies);
    return division;
}

static enum clr_group_kernel choose_kernel(const struct clr_grouper *grouper,
                                           const struct group_program *program,
                                           const struct clr_group_plan *plan)
{
    const uint64_t slices = count_slices(grouper, program, plan);
    const uint64_t most = program->queued         ? 1
                          : plan->adds > FEW_ADDS ? MOST_SLICES
                                                  : MOST_SLICES_OF_FEW_ADDS;

    return slices > 0 && slices <= most ? CLR_GROUP_LOCALLY : CLR_GROUP_GLOBALLY;
}

/* ---- The launches. */

/* Adds a range of rows to the records. second_round: see kernels/groups/grouping.cl. */
static enum clr_code launch_range(const struct group_job *job,
                                  const struct clr_kept_lookup *const *lookups,
                                  const struct clr_row_range *range, cl_uint second_round,
                                  cl_event *event, struct clr_status *status)
{
    const struct clr_grouper *grouper = job->grouper;
    const struct division division = divide(job, range->rows);
    const cl_ulong first = range->first, rows = range->rows;
    const cl_uint places = (cl_uint)job->plan->places, room = SPILL_ROOM;
    struct clr_argument list[CLR_MOST_ROW_ARGUMENTS + 13];
    struct clr_row_bounds bounds;
    cl_uint count;

    count = clr_row_arguments_list(&grouper->key.arguments, job->plan->scan, job->columns, lookups,
                                   &bounds, list);
    list[count++] = CLR_VALUE(first);
    list[count++] = CLR_VALUE(rows);
    list[count++] = CLR_VALUE(grouper->parameters);
    list[count++] = CLR_VALUE(places);
    list[count++] = CLR_VALUE(division.place_count);
    list[count++] = CLR_VALUE(division.copies);
    list[count++] = CLR_VALUE(grouper->found);
    list[count++] = CLR_VALUE(grouper->spills);
    list[count++] = CLR_VALUE(room);
    list[count++] = CLR_VALUE(second_round);
    list[count++] = CLR_LOCAL(division.bytes);
    return clr_launch(grouper->programs.queue, job->program->kernels[job->kernel], list, count,
                      division.groups, job->program->group_size, event, status);
}

static enum clr_code launch(const struct group_job *job,
                            const struct clr_kept_lookup *const *lookups, cl_event events[LAUNCHES],
                            struct clr_status *status)
{
    const struct clr_row_ranges ranges = clr_scan_ranges(job->plan->scan);
    const bool has_mosts = job->plan->stride > (size_t)job->plan->adds;
    const int rounds = has_mosts && !job->device->info.long_maxima ? 2 : 1;
    int i;

    if (send_parameters(job, status) != CLR_OK || clean(job, status) != CLR_OK)
        return status->code;
    job->grouper->clean_size = 0;
    for (i = 0; i < rounds * ranges.count && status->code == CLR_OK; i++)
        launch_range(job, lookups, &ranges.ranges[i % ranges.count], i >= ranges.count, &events[i],
                     status);
    return status->code;
}

/* ---- What comes back. */

/* Returns the bytes of records that come with the flags: all, or none. */
static size_t size_with_flags(const struct group_job *job)
{
    return job->size <= FEW_BYTES ? job->size : 0;
}

/* Returns the flags that have come back. */
static const cl_uint *flags_of(const struct group_job *job)
{
    const struct group_pinned *pinned = job->grouper->pinned.mapped;

    return (const cl_uint *)(pinned->found + size_with_flags(job) / sizeof *pinned->found);
}

/* Reads the flags, and the records if they are few, and waits. */
static enum clr_code read_first(const struct group_job *job, struct clr_device_work *work,
                                struct clr_status *status)
{
    const struct clr_grouper *grouper = job->grouper;
    struct group_pinned *pinned = grouper->pinned.mapped;
    const size_t records = size_with_flags(job);
    cl_event read = NULL;
    const cl_int error = clr_cl.EnqueueReadBuffer(grouper->programs.queue, grouper->found, CL_FALSE,
                                                  job->size - records, records + FLAG_BYTES,
                                                  pinned->found, 0, NULL, &read);

    if (clr_opencl_check(status, "clEnqueueReadBuffer", error) == CLR_OK &&
        clr_opencl_check(status, "clFlush", clr_cl.Flush(grouper->programs.queue)) == CLR_OK)
        clr_event_wait(read, status);
    if (status->code != CLR_OK)
        clr_event_release(&read);
    work->transfer_time += clr_event_take_time(&read);
    return status->code;
}

static void note_doubts(const struct clr_group_plan *plan, const cl_uint *flags,
                        struct clr_group_result *result)
{
    struct clr_group_doubts *doubts = &result->doubts;
    const uint64_t most = clr_group_most_spilled(plan->scan->rows);
    const bool are_many = flags[SPILLS_WORD] > (most < SPILL_ROOM ? most : SPILL_ROOM);
    int i;

    memset(doubts, 0, sizeof *doubts);
    doubts->keys = (flags[DOUBTS_WORD] & NO_PLACE) != 0;
    doubts->any = doubts->keys || are_many;
    for (i = 0; i < plan->tally_count; i++) {
        const bool has_spills = (flags[SPILLED_WORD] >> i & 1) != 0;

        if (flags[TYPES_WORD] >> i & 1)
            clr_group_doubt(doubts, i, CLR_DOUBT_TYPES);
        if (are_many && has_spills)
            clr_group_doubt(doubts, i, CLR_DOUBT_WINDOW);
        if (plan->tallies[i].is_bounded && has_spills)
            clr_group_doubt(doubts, i, CLR_DOUBT_BOUNDS);
    }
}

static enum clr_code take_spills(const struct group_job *job, struct clr_group_result *result,
                                 struct clr_status *status)
{
    const size_t count = flags_of(job)[SPILLS_WORD];
    const size_t size = count * sizeof *result->spills;

    if (count == 0)
        return CLR_OK;
    result->spills = clr_memory_alloc(size);
    if (result->spills == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for groups");
    result->spill_count = count;
    return clr_upload_take(clr_upload_of(job->device), job->grouper->spills, (char *)result->spills,
                           size, status);
}

static enum clr_code take(const struct group_job *job, struct clr_group_result *result,
                          enum clr_scan_outcome *outcome, struct clr_status *status)
{
    const struct group_pinned *pinned = job->grouper->pinned.mapped;
    const cl_uint *flags = flags_of(job);

    note_doubts(job->plan, flags, result);
    *outcome = flags[DOUBTS_WORD] & UNSURE_ROW ? CLR_SCAN_UNSURE
               : result->doubts.any            ? CLR_SCAN_NOT_NOW
                                               : CLR_SCAN_DONE;
    if (*outcome != CLR_SCAN_DONE)
        return CLR_OK;
    if (take_spills(job, result, status) != CLR_OK)
        return status->code;
    if (job->size <= FEW_BYTES) {
        memcpy(result->records, pinned->found, job->size);
        return CLR_OK;
    }
    return clr_upload_take(clr_upload_of(job->device), job->grouper->found, (char *)result->records,
                           job->size, status);
}

/* ---- A run. */

static enum clr_code run(const struct group_job *job, struct clr_group_result *result,
                         enum clr_scan_outcome *outcome, struct clr_device_work *work,
                         struct clr_status *status)
{
    const struct clr_kept_lookup *lookups[CLR_MOST_LOOKUPS];
    cl_event launched[LAUNCHES] = {NULL};
    int i;

    if (make_room(job, status) != CLR_OK || clr_upload_open(job->device, status) == NULL ||
        clr_lookup_cache_bring(&job->grouper->programs.lookup_cache, job->device,
                               job->grouper->programs.queue, job->plan->scan, lookups, work,
                               status) != CLR_OK)
        return status->code;
    if (launch(job, lookups, launched, status) == CLR_OK &&
        read_first(job, work, status) == CLR_OK) {
        work->passes++;
        for (i = 0; i < LAUNCHES; i++) {
            work->kernels += launched[i] != NULL;
            work->kernel_time += clr_event_take_time(&launched[i]);
        }
        /* For the next run, while the host goes on. */
        if (take(job, result, outcome, status) == CLR_OK && clean(job, status) == CLR_OK)
            clr_opencl_check(status, "clFlush", clr_cl.Flush(job->grouper->programs.queue));
        return status->code;
    }
    for (i = 0; i < LAUNCHES; i++)
        clr_event_release(&launched[i]);
    return status->code;
}

static enum clr_code run_kernel(struct clr_device *device, const struct group_program *program,
                                enum clr_group_kernel kernel, const struct clr_group_plan *plan,
                                struct clr_resident_column *const *columns,
                                struct clr_group_result *result, enum clr_scan_outcome *outcome,
                                struct clr_device_work *work, struct clr_status *status)
{
    struct clr_grouper *grouper = grouper_of(device);
    const struct group_job job = {device,
                                  grouper,
                                  program,
                                  kernel,
                                  plan,
                                  columns,
                                  (size_t)plan->places * plan->stride * sizeof(cl_long)};

    *outcome = CLR_SCAN_NOT_NOW;
    if (run(&job, result, outcome, work, status) == CLR_OK)
        return CLR_OK;
    grouper->has_parameters = false;
    grouper->clean_size = 0;
    if (status->code == CLR_NOMEM)
        clr_queue_drain(grouper->programs.queue, status);
    return status->code;
}

/* ---- The examination of a program before it is trusted: it groups the rows of small columns, and
   what it finds is compared with what the host finds. */

/* Bytes that groups of a trial may take. */
static const uint64_t memory_limit = (uint64_t)1 << 28;

struct trial {
    struct clr_trial_scan made;
    struct clr_tally tallies[CLR_MOST_SCAN_TALLIES];
    struct clr_group_plan plan;
};

/* Returns how many INTEGERs each of so many keys has in a trial. */
static int count_integers(int key_count)
{
    return key_count > 4 ? 1 : 7;
}

/* Has a register that loads from a column or a lookup have some types alone, and if it is a key
   some INTEGERs alone. */
static void want(struct clr_trial_scan *made, int register_number, unsigned types, int integers)
{
    const struct clr_instruction *from =
        register_number < 0 ? NULL : &made->instructions[register_number];
    struct clr_trial_wanted *wanted = from == NULL                    ? NULL
                                      : from->opcode == CLR_OP_COLUMN ? &made->of_columns[from->a]
                                      : from->opcode == CLR_OP_LOOKUP ? &made->of_lookups[from->b]
                                                                      : NULL;

    if (wanted == NULL)
        return;
    types = wanted->types == 0 ? types : wanted->types & types;
    if (types != 0)
        wanted->types = types;
    if (integers > 0)
        wanted->integers = integers;
}

/* Has the table have the keys and the arguments that the plan is for, and their order. */
static void want_planned(struct trial *trial)
{
    const struct clr_group_plan *plan = &trial->plan;
    int i;

    trial->made.repeats = plan->in_runs;
    for (i = 0; i < plan->grouping.key_count; i++)
        want(&trial->made, plan->grouping.keys[i],
             CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_NULL),
             count_integers(plan->grouping.key_count));
    for (i = 0; i < plan->tally_count; i++) {
        want(&trial->made, trial->tallies[i].x, plan->tallies[i].x_types, 0);
        want(&trial->made, trial->tallies[i].y, plan->tallies[i].y_types, 0);
    }
}

/* Returns a copy of what the plan, which fits, needs, or NULL without memory. */
static struct trial *new_trial(const struct clr_group_plan *plan, const uint8_t *kinds)
{
    struct trial *trial = clr_memory_alloc_zero(sizeof *trial);
    int i;

    if (trial == NULL)
        return NULL;
    clr_trial_scan_init(&trial->made, plan->scan, kinds);
    for (i = 0; i < plan->tally_count; i++)
        trial->tallies[i] = plan->scan->tallies[i];
    trial->plan = *plan;
    trial->plan.scan = &trial->made.scan;
    trial->made.scan.tallies = trial->tallies;
    trial->made.scan.tally_count = plan->tally_count;
    trial->made.scan.grouping = &trial->plan.grouping;
    trial->made.scan.values_memory = memory_limit;
    want_planned(trial);
    return trial;
}

/* Plans small ranges for the keys, whatever they are. */
static void place_anywhere(struct clr_group_plan *plan)
{
    const int count = plan->grouping.key_count;
    int i;

    plan->places = 1;
    for (i = count - 1; i >= 0; i--) {
        plan->keys[i] = (struct clr_group_key){CLR_TRIAL_LEAST, (uint64_t)count_integers(count) + 1,
                                               plan->places};
        plan->places *= plan->keys[i].size;
    }
}

/* Plans for the trial's columns as they are in this round: ranges and windows alone. */
static enum clr_code plan_round(const struct trial *trial, struct clr_group_plan *plan,
                                struct clr_status *status)
{
    struct clr_group_doubts *none = clr_memory_alloc_zero(sizeof *none);
    struct clr_group_plan *fresh = clr_memory_alloc_zero(sizeof *fresh);
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    int i;

    if (none != NULL && fresh != NULL)
        outcome = clr_group_plan_make(fresh, &trial->made.scan, CLR_TRIAL_ROWS,
                                      CLR_GROUPS_ON_DEVICE, none);
    *plan = trial->plan;
    if (outcome == CLR_SCAN_DONE && fresh->numbering == CLR_NUMBERED_DIRECTLY) {
        plan->places = fresh->places;
        memcpy(plan->keys, fresh->keys, sizeof plan->keys);
    } else {
        place_anywhere(plan);
    }
    for (i = 0; outcome == CLR_SCAN_DONE && i < plan->tally_count; i++)
        if (plan->tallies[i].real_high >= 0 && fresh->tallies[i].real_high >= 0)
            plan->tallies[i].window = fresh->tallies[i].window;
    clr_memory_free(fresh);
    clr_memory_free(none);
    return outcome == CLR_SCAN_DONE
               ? CLR_OK
               : clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
}

static int compare_spills(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct clr_group_spill));
}

static bool same_spills(const struct clr_group_spills *expected, struct clr_group_result *found)
{
    const size_t size = sizeof *found->spills;

    if (expected->count != found->spill_count)
        return false;
    if (expected->count == 0)
        return true;
    qsort(expected->spills, expected->count, size, compare_spills);
    qsort(found->spills, found->spill_count, size, compare_spills);
    return memcmp(expected->spills, found->spills, expected->count * size) == 0;
}

static bool same_records(const struct clr_group_part *part, const struct clr_group_result *found)
{
    const struct clr_group_plan *plan = part->plan;
    const uint64_t *first_rows = part->first_rows.start;
    uint64_t place;

    for (place = 0; place < plan->places; place++) {
        const int64_t *expected = clr_group_part_record(part, (size_t)place);
        const int64_t *record = found->records + place * plan->stride;

        if (memcmp(record, expected, (size_t)plan->words * sizeof *record) != 0)
            return false;
        /* 0 is no row, whose number is the greatest. */
        if (first_rows != NULL && ~(uint64_t)record[plan->words] != first_rows[place])
            return false;
    }
    return true;
}

static bool is_settled(enum clr_scan_outcome outcome)
{
    return outcome == CLR_SCAN_UNSURE || outcome == CLR_SCAN_NOT_NOW;
}

/* The host stops at its first doubt: which one it is may differ. Where it is that too many values
   lie outside of a window, the device may have been less strict. */
static bool same(const struct clr_group_part *part, enum clr_scan_outcome outcome,
                 struct clr_group_result *found)
{
    int i;

    for (i = 0; i < part->plan->tally_count; i++)
        if ((part->doubts.tallies[i] | found->doubts.tallies[i]) & CLR_DOUBT_WINDOW)
            return true;
    if (is_settled(part->outcome))
        return is_settled(outcome);
    return outcome == CLR_SCAN_DONE && same_records(part, found) &&
           same_spills(&part->addends.spills, found);
}

/* The ways of a trial: those of as many places as local memory has room for, and of about twice as
   many; and in global memory. */
enum { OF_FEW, OF_TWICE, GLOBALLY, WAYS };

static void run_way(struct clr_device *device, const struct group_program *program, int way,
                    const struct clr_group_plan *plan, struct clr_resident_column *const *columns,
                    struct clr_group_result *result, enum clr_scan_outcome *outcome,
                    struct clr_status *status)
{
    struct clr_grouper *grouper = grouper_of(device);
    const size_t record = plan->stride * sizeof(cl_long);
    const size_t all = grouper->local_memory, queue = all - room_for_table(grouper, program);
    const size_t part = ((size_t)plan->places / 2 + 1) * record + sizeof(cl_long) + queue;
    enum clr_group_kernel kernel;
    struct clr_device_work work = {0};

    if (way == OF_TWICE && part < all)
        grouper->local_memory = part;
    kernel = way != GLOBALLY && count_slices(grouper, program, plan) > 0 ? CLR_GROUP_LOCALLY
                                                                         : CLR_GROUP_GLOBALLY;
    run_kernel(device, program, kernel, plan, columns, result, outcome, &work, status);
    grouper->local_memory = all;
}

static enum clr_code compare_way(struct clr_device *device, const struct group_program *program,
                                 const struct clr_group_part *part, int way,
                                 struct clr_resident_column *const *columns,
                                 struct clr_status *status)
{
    const struct clr_group_plan *plan = part->plan;
    struct clr_group_result result = {.spills = NULL};
    enum clr_scan_outcome outcome;

    result.records =
        clr_memory_alloc_zero((size_t)plan->places * plan->stride * sizeof *result.records);
    if (result.records == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    run_way(device, program, way, plan, columns, &result, &outcome, status);
    if (status->code == CLR_OK && !same(part, outcome, &result))
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's groups differ from the host's");
    clr_memory_free(result.records);
    clr_memory_free(result.spills);
    return status->code;
}

static enum clr_code compare(struct clr_device *device, const struct group_program *program,
                             const struct clr_group_plan *plan, const struct clr_trial_table *table,
                             struct clr_status *status)
{
    struct clr_group_memory memory;
    struct clr_group_part *part;
    const atomic_bool never = false;
    int way;

    atomic_init(&memory.left, (int64_t)memory_limit);
    part = clr_group_part_new(plan, &memory, 0, CLR_TRIAL_ROWS);
    if (part != NULL)
        clr_group_part_run(part, &never);
    if (part == NULL || part->outcome == CLR_SCAN_FAILED)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    for (way = 0; way < WAYS && status->code == CLR_OK; way++)
        compare_way(device, program, part, way, table->there, status);
    clr_group_part_free(part);
    return status->code;
}

static enum clr_code run_round(struct clr_device *device, const struct group_program *program,
                               const struct clr_trial_round *round, struct clr_status *status)
{
    struct trial *trial = program->row.trial;
    struct clr_group_plan *plan = clr_memory_alloc(sizeof *plan);
    struct clr_trial_table table;

    if (plan == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (clr_trial_table_make(device, &trial->made, round, &table, status) == CLR_OK &&
        plan_round(trial, plan, status) == CLR_OK)
        compare(device, program, plan, &table, status);
    clr_trial_table_free(clr_device_unless_lost(device, status), &trial->made, &table);
    clr_memory_free(plan);
    return status->code;
}

/*
 * Has the program group hard values, common ones of several mixtures of types, what is no number,
 * and errors that lookups have. Where the host's plan will not do, that of the device has to say so
 * too. Returns CLR_OK; CLR_NOMEM; or CLR_DEVICE with a message: without an error of OpenCL's in the
 * status a result differs.
 */
static enum clr_code test(struct clr_device *device, struct clr_row_program *program,
                          struct clr_status *status)
{
    enum {
        NULLS = CLR_TYPE(CLR_TAG_NULL),
        INTEGERS = CLR_TYPE(CLR_TAG_INTEGER),
        REALS = CLR_TYPE(CLR_TAG_REAL)
    };
    /* A plan is for some types: with others there is nothing but a doubt to compare. */
    static const struct clr_trial_round rounds[] = {
        {CLR_TRIAL_COMMON, NULLS | INTEGERS | REALS},
        {CLR_TRIAL_COMMON, NULLS | INTEGERS},
        {CLR_TRIAL_COMMON, NULLS | REALS},
        {CLR_TRIAL_COMMON, INTEGERS},
        {CLR_TRIAL_COMMON, REALS},
        {CLR_TRIAL_HARD, NULLS | INTEGERS | REALS},
        {CLR_TRIAL_OTHERS, NULLS | INTEGERS | REALS},
        {CLR_TRIAL_ERRORS, NULLS | INTEGERS | REALS},
    };
    size_t i;

    for (i = 0; i < sizeof rounds / sizeof *rounds && status->code == CLR_OK; i++)
        run_round(device, (struct group_program *)(void *)program, &rounds[i], status);
    return status->code;
}

/* ---- Programs. */

static enum clr_code compile(struct clr_device *device, struct clr_row_program *program, char **log,
                             struct clr_status *status)
{
    struct group_program *own = (struct group_program *)(void *)program;
    struct clr_grouper *grouper = grouper_of(device);
    const struct trial *trial = program->trial;

    clr_group_key(&grouper->key, &trial->plan, trial->made.kinds, own->queued);
    clr_group_text(&grouper->text, &grouper->key);
    return clr_group_kernels_build(grouper->text.text, own->queued, device->context, &device->info,
                                   own->kernels, &own->group_size, log, status);
}

static const struct clr_row_programs_kind grouper_kind = {
    .part = {sizeof(struct clr_grouper), "groups", release, clr_row_programs_build},
    .make = make,
    .compile = compile,
    .test = test,
    .release = release_program};

/* Finds the plan's program, or requests it; NULL if its text would be too long. */
static struct group_program *find_program(struct clr_grouper *grouper,
                                          const struct clr_group_plan *plan, const uint8_t *kinds,
                                          struct clr_status *status)
{
    const bool queued = clr_terms_pass_few(plan->scan);
    struct group_program *found;

    clr_group_key(&grouper->key, plan, kinds, queued);
    grouper->programs.scan++;
    found =
        (struct group_program *)(void *)clr_row_programs_find(&grouper->programs, &grouper->key);
    if (found != NULL)
        return found;
    clr_group_text(&grouper->text, &grouper->key);
    if (grouper->text.complete)
        found = (struct group_program *)(void *)clr_row_programs_add(
            &grouper->programs, sizeof *found, new_trial(plan, kinds), &grouper->key, status);
    if (found != NULL)
        found->queued = queued;
    return found;
}

/* ---- All of it. */

bool clr_grouper_fits(const struct clr_device_info *info, const struct clr_group_plan *plan)
{
    int i;

    if (plan->numbering != CLR_NUMBERED_DIRECTLY || !clr_scan_plan_fits(plan->scan))
        return false;
    for (i = 0; i < plan->tally_count; i++)
        if (plan->tallies[i].gathers)
            return false;
    return plan->places <= info->memory / MEMORY_PART / (plan->stride * sizeof(cl_long));
}

enum clr_code clr_grouper_run(struct clr_device *device, const struct clr_group_plan *plan,
                              const uint8_t *kinds, struct clr_resident_column *const *columns,
                              struct clr_group_result *result, enum clr_scan_outcome *outcome,
                              bool *requested, struct clr_device_work *work,
                              struct clr_status *status)
{
    struct group_program *program;
    struct clr_grouper *grouper;

    *outcome = CLR_SCAN_NOT_NOW;
    *requested = false;
    grouper = clr_row_programs_open(device, &grouper_kind, status);
    if (grouper == NULL)
        return status->code;
    program = find_program(grouper, plan, kinds, status);
    if (program == NULL)
        return status->code;
    *requested = program->row.phase == CLR_ROW_PROGRAM_REQUESTED;
    if (program->row.phase != CLR_ROW_PROGRAM_BUILT)
        return CLR_OK;
    return run_kernel(device, program, choose_kernel(grouper, program, plan), plan, columns, result,
                      outcome, work, status);
}
