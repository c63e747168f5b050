#include "opencl/groups/grouper.h"

#include "base/memory.h"
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/groups/grouper_private.h"
#include "opencl/memory/resident_column_private.h"
#include "opencl/memory/upload.h"

#include <string.h>

/* MOST_COPIES: of the table, for about as many work-items as add at the same moment. MOST_SLICES:
   each reads all rows, which from then on takes longer than global memory's atomics. */
enum {
    GPU_GROUPS_PER_UNIT = 4,
    CPU_GROUPS_PER_UNIT = 2,
    GPU_MOST_COPIES = 16,
    MOST_SLICES = 6,
    LOCAL_RESERVE = 1024 /* bytes of local memory, for what the driver itself puts there */
};

/* Values outside of their windows: for so many there is room, and as many are fine as on the
   host. */
enum { SPILL_ROOM = 1 << 16, MOST_SPILLED = 64, SOME_SPILLED = 256 };

/* The parts of the pinned memory: parameters, 4 numbers for each key and tally; flags; records, if
   they are no more. */
enum {
    FLAGS = 4,
    PARAMETER_COUNT = 4 * (CLR_MOST_KEYS + CLR_MOST_SCAN_TALLIES),
    FEW_RECORD_BYTES = 1 << 18,
    /* More than this part of a device's memory is not taken for records. */
    MEMORY_PART = 8
};

struct pinned {
    cl_long parameters[PARAMETER_COUNT];
    cl_uint flags[FLAGS];
    cl_long records[FEW_RECORD_BYTES / sizeof(cl_long)];
};

enum { DOUBTS_WORD, TYPES_WORD, SPILLS_WORD, SPILLED_WORD };
enum { UNSURE_ROW = 1, NO_PLACE = 2 };

/* A plan that is to be run, as the functions here hand it on. */
struct grouping {
    struct clr_device *device;
    struct clr_grouper *grouper;
    const struct clr_group_program *program;
    enum clr_group_kernel kernel;
    const struct clr_group_plan *plan;
    struct clr_resident_column *const *columns;
    size_t words, size; /* of a record; bytes of all */
};

/* ---- What is kept with the device. */

static void release(struct clr_attachment *attachment)
{
    struct clr_grouper *grouper = (struct clr_grouper *)(void *)attachment;

    clr_group_programs_clear(grouper);
    clr_lookup_cache_clear(&grouper->lookup_cache);
    if (grouper->queue != NULL)
        clr_pinned_release(grouper->queue, &grouper->pinned);
    clr_buffer_release(&grouper->parameters);
    clr_buffer_release(&grouper->flags);
    clr_buffer_release(&grouper->spills);
    clr_buffer_release(&grouper->records);
    if (grouper->queue != NULL)
        clReleaseCommandQueue(grouper->queue);
}

static const struct clr_attachment_kind grouper_kind = {sizeof(struct clr_grouper), "groups",
                                                        release};

struct clr_grouper *clr_grouper_of(const struct clr_device *device)
{
    return clr_device_find(device, &grouper_kind);
}

static enum clr_code make(struct clr_device *device, struct clr_grouper *grouper,
                          struct clr_status *status)
{
    const struct clr_wanted_buffer wanted[] = {
        {&grouper->parameters, CL_MEM_READ_ONLY, PARAMETER_COUNT * sizeof(cl_long)},
        {&grouper->flags, CL_MEM_READ_WRITE, FLAGS * sizeof(cl_uint)},
        {&grouper->spills, CL_MEM_READ_WRITE, SPILL_ROOM * sizeof(struct clr_group_spill)},
    };
    cl_ulong local = 0;
    cl_int error;

    grouper->queue =
        clCreateCommandQueue(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateCommandQueue", error);
    error = clGetDeviceInfo(device->info.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clGetDeviceInfo", error);
    grouper->local_memory = local > LOCAL_RESERVE ? (size_t)local - LOCAL_RESERVE : 0;
    if (CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK)
        return status->code;
    return clr_pinned_make(device->context, grouper->queue, sizeof(struct pinned), &grouper->pinned,
                           status);
}

static enum clr_code open_grouper(struct clr_device *device, struct clr_status *status)
{
    struct clr_grouper *grouper = clr_grouper_of(device);

    if (grouper != NULL) {
        if (grouper->status.code != CLR_OK)
            *status = grouper->status;
        return status->code;
    }
    grouper = clr_device_attach(device, &grouper_kind, status);
    if (grouper == NULL)
        return status->code;
    if (make(device, grouper, status) != CLR_OK)
        clr_device_detach(device, &grouper->attachment); /* the next one tries again */
    return status->code;
}

static enum clr_code make_records(const struct grouping *grouping, struct clr_status *status)
{
    struct clr_grouper *grouper = grouping->grouper;
    const struct clr_wanted_buffer wanted = {&grouper->records, CL_MEM_READ_WRITE, grouping->size};

    if (grouping->size <= grouper->records_size)
        return CLR_OK;
    clr_buffer_release(&grouper->records);
    grouper->records_size = 0;
    if (clr_buffers_make(grouping->device->context, &wanted, 1, status) == CLR_OK)
        grouper->records_size = grouping->size;
    return status->code;
}

/* ---- A launch. */

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
static enum clr_code begin(const struct grouping *grouping, struct clr_status *status)
{
    const struct clr_grouper *grouper = grouping->grouper;
    struct pinned *pinned = grouper->pinned.mapped;
    const cl_uint none = 0;
    const char *call = "clEnqueueWriteBuffer";
    cl_int error;

    set_parameters(grouping->plan, pinned->parameters);
    error = clEnqueueWriteBuffer(grouper->queue, grouper->parameters, CL_FALSE, 0,
                                 sizeof pinned->parameters, pinned->parameters, 0, NULL, NULL);
    if (error == CL_SUCCESS) {
        call = "clEnqueueFillBuffer";
        error = clEnqueueFillBuffer(grouper->queue, grouper->flags, &none, sizeof none, 0,
                                    FLAGS * sizeof none, 0, NULL, NULL);
    }
    if (error == CL_SUCCESS)
        error = clEnqueueFillBuffer(grouper->queue, grouper->records, &none, sizeof none, 0,
                                    grouping->size, 0, NULL, NULL);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_buffer_failed(status, call, error);
}

/* Adds the arguments that the generated text calls ROW_FORMALS. */
static cl_uint add_row_arguments(const struct grouping *grouping,
                                 const struct clr_kept_lookup *const *lookups,
                                 struct clr_argument *list)
{
    const struct clr_row_arguments *arguments = &grouping->grouper->key.arguments;
    cl_uint count = 0;
    int i;

    for (i = 0; i < arguments->column_count; i++) {
        const struct clr_resident_column *column = grouping->columns[arguments->columns[i]];
        list[count++] = CLR_VALUE(column->values);
        if (column->kind == CLR_TAG_MIXED)
            list[count++] = CLR_VALUE(column->tags);
    }
    for (i = 0; i < arguments->lookup_count; i++) {
        const struct clr_kept_lookup *kept = lookups[arguments->lookups[i]];
        list[count++] = CLR_VALUE(kept->values);
        if (arguments->lookup_kinds[i] == CLR_TAG_MIXED)
            list[count++] = CLR_VALUE(kept->tags);
    }
    for (i = 0; i < arguments->constant_count; i++)
        list[count++] = CLR_VALUE(grouping->plan->scan->constants[arguments->constants[i]].bits);
    return count;
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

static struct division divide(const struct grouping *grouping)
{
    const struct clr_device_info *info = &grouping->device->info;
    const bool cpu = info->type == CLR_DEVICE_CPU;
    const struct clr_group_plan *plan = grouping->plan;
    const uint64_t rows = plan->scan->rows;
    const size_t units = info->compute_units > 0 ? info->compute_units : 1;
    struct division division = {.groups =
                                    units * (cpu ? CPU_GROUPS_PER_UNIT : GPU_GROUPS_PER_UNIT)};
    const size_t most = (size_t)(rows / grouping->program->group_size) + 1;
    uint64_t slices = 1;

    if (division.groups > most)
        division.groups = most;
    division.place_count = (cl_uint)plan->places;
    division.copies = 1;
    if (grouping->kernel == CLR_GROUP_LOCALLY) {
        slices = count_slices(grouping->grouper, plan, grouping->words);
        division.place_count = (cl_uint)((plan->places - 1) / slices + 1);
        while (!cpu && division.copies < GPU_MOST_COPIES &&
               table_size(plan, grouping->words, division.place_count, 2 * division.copies) <=
                   grouping->grouper->local_memory)
            division.copies *= 2;
        division.bytes = table_size(plan, grouping->words, division.place_count, division.copies);
        /* The last one may have fewer places, and there is no more than one without. */
        slices = (plan->places - 1) / division.place_count + 1;
        division.groups =
            (size_t)(division.groups < slices ? slices : division.groups / slices * slices);
    } else {
        division.bytes = sizeof(cl_ulong);
    }
    return division;
}

static enum clr_code launch(const struct grouping *grouping,
                            const struct clr_kept_lookup *const *lookups, cl_event *event,
                            struct clr_status *status)
{
    const struct clr_grouper *grouper = grouping->grouper;
    const struct division division = divide(grouping);
    const cl_ulong rows = grouping->plan->scan->rows;
    const cl_uint places = (cl_uint)grouping->plan->places, room = SPILL_ROOM;
    struct clr_argument
        list[2 * (CLR_MOST_COLUMNS + CLR_MOST_LOOKUPS) + CLR_MOST_SCAN_INSTRUCTIONS + 10];
    cl_uint count = add_row_arguments(grouping, lookups, list);

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
    return clr_launch(grouper->queue, grouping->program->kernels[grouping->kernel], list, count,
                      division.groups, grouping->program->group_size, event, status);
}

/* ---- What comes back. */

/* Reads the flags, and the records if they are few, and waits. */
static enum clr_code read_first(const struct grouping *grouping, struct clr_device_work *work,
                                struct clr_status *status)
{
    const struct clr_grouper *grouper = grouping->grouper;
    struct pinned *pinned = grouper->pinned.mapped;
    cl_event read = NULL;
    const char *call = "clEnqueueReadBuffer";
    cl_int error = CL_SUCCESS;

    if (grouping->size <= FEW_RECORD_BYTES)
        error = clEnqueueReadBuffer(grouper->queue, grouper->records, CL_FALSE, 0, grouping->size,
                                    pinned->records, 0, NULL, NULL);
    if (error == CL_SUCCESS)
        error = clEnqueueReadBuffer(grouper->queue, grouper->flags, CL_FALSE, 0,
                                    sizeof pinned->flags, pinned->flags, 0, NULL, &read);
    if (error == CL_SUCCESS) {
        call = "clFlush";
        error = clFlush(grouper->queue);
    }
    if (error != CL_SUCCESS)
        clr_opencl_failed(status, call, error);
    else
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
    const uint64_t most = plan->scan->rows / MOST_SPILLED + SOME_SPILLED;
    const bool are_many = flags[SPILLS_WORD] > (most < SPILL_ROOM ? most : SPILL_ROOM);
    int i;

    doubts->keys = (flags[DOUBTS_WORD] & NO_PLACE) != 0;
    result->is_doubtful = doubts->keys || flags[TYPES_WORD] != 0 || are_many;
    for (i = 0; i < plan->tally_count; i++) {
        const bool has_spills = (flags[SPILLED_WORD] >> i & 1) != 0;

        doubts->types[i] = (flags[TYPES_WORD] >> i & 1) != 0;
        doubts->window[i] = are_many && has_spills;
        doubts->bounds[i] = plan->tallies[i].is_bounded && has_spills;
        result->is_doubtful = result->is_doubtful || doubts->bounds[i];
    }
}

static enum clr_code take_spills(const struct grouping *grouping, struct clr_group_result *result,
                                 struct clr_status *status)
{
    const struct pinned *pinned = grouping->grouper->pinned.mapped;
    const size_t count = pinned->flags[SPILLS_WORD];
    const size_t size = count * sizeof *result->spills;

    if (count == 0)
        return CLR_OK;
    result->spills = clr_memory_alloc(size);
    if (result->spills == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for groups");
    result->spill_count = count;
    return clr_upload_take(clr_upload_of(grouping->device), grouping->grouper->spills, 0,
                           (char *)result->spills, size, status);
}

static enum clr_code take(const struct grouping *grouping, struct clr_group_result *result,
                          enum clr_scan_outcome *outcome, struct clr_status *status)
{
    const struct pinned *pinned = grouping->grouper->pinned.mapped;
    const cl_uint *flags = pinned->flags;

    note_doubts(grouping->plan, flags, result);
    *outcome = flags[DOUBTS_WORD] & UNSURE_ROW ? CLR_SCAN_UNSURE
               : result->is_doubtful           ? CLR_SCAN_NOT_NOW
                                               : CLR_SCAN_DONE;
    if (*outcome != CLR_SCAN_DONE)
        return CLR_OK;
    if (take_spills(grouping, result, status) != CLR_OK)
        return status->code;
    if (grouping->size <= FEW_RECORD_BYTES) {
        memcpy(result->records, pinned->records, grouping->size);
        return CLR_OK;
    }
    return clr_upload_take(clr_upload_of(grouping->device), grouping->grouper->records, 0,
                           (char *)result->records, grouping->size, status);
}

/* ---- All of it. */

static enum clr_code run(const struct grouping *grouping, struct clr_group_result *result,
                         enum clr_scan_outcome *outcome, struct clr_device_work *work,
                         struct clr_status *status)
{
    const struct clr_kept_lookup *lookups[CLR_MOST_LOOKUPS];
    cl_event launched = NULL;

    if (make_records(grouping, status) != CLR_OK ||
        clr_upload_open(grouping->device, status) != CLR_OK ||
        clr_lookup_cache_bring(&grouping->grouper->lookup_cache, grouping->device,
                               grouping->grouper->queue, grouping->plan->scan, lookups, work,
                               status) != CLR_OK ||
        begin(grouping, status) != CLR_OK)
        return status->code;
    if (launch(grouping, lookups, &launched, status) == CLR_OK &&
        read_first(grouping, work, status) == CLR_OK) {
        work->kernels++;
        work->passes++;
        work->kernel_time += clr_event_take_time(&launched);
        return take(grouping, result, outcome, status);
    }
    clr_event_release(&launched);
    return status->code;
}

enum clr_code clr_grouper_try(struct clr_device *device, const struct clr_group_program *program,
                              enum clr_group_kernel kernel, const struct clr_group_plan *plan,
                              struct clr_resident_column *const *columns,
                              struct clr_group_result *result, enum clr_scan_outcome *outcome,
                              struct clr_device_work *work, struct clr_status *status)
{
    struct clr_grouper *grouper = clr_grouper_of(device);
    const size_t words = clr_group_device_words(plan);
    const struct grouping grouping = {
        device, grouper, program, kernel,
        plan,   columns, words,   (size_t)plan->places * words * sizeof(cl_long)};

    *outcome = CLR_SCAN_NOT_NOW;
    run(&grouping, result, outcome, work, status);
    if (status->code == CLR_NOMEM)
        clr_queue_drain(grouper->queue, status);
    return status->code;
}

bool clr_grouper_fits(const struct clr_device_info *info, const struct clr_group_plan *plan)
{
    return info->fp64 && clr_group_text_fits(plan) &&
           plan->places <=
               info->memory / MEMORY_PART / (clr_group_device_words(plan) * sizeof(cl_long));
}

enum clr_code clr_grouper_run(struct clr_device *device, const struct clr_group_plan *plan,
                              const uint8_t *kinds, struct clr_resident_column *const *columns,
                              struct clr_group_result *result, enum clr_scan_outcome *outcome,
                              bool *requested, struct clr_device_work *work,
                              struct clr_status *status)
{
    struct clr_group_program *program;
    struct clr_grouper *grouper;
    uint64_t slices;

    *outcome = CLR_SCAN_NOT_NOW;
    *requested = false;
    if (open_grouper(device, status) != CLR_OK)
        return status->code;
    grouper = clr_grouper_of(device);
    if (clr_group_program_find(grouper, plan, kinds, &program, status) != CLR_OK || program == NULL)
        return status->code;
    *requested = program->phase == CLR_GROUP_PROGRAM_REQUESTED;
    if (program->phase != CLR_GROUP_PROGRAM_BUILT)
        return CLR_OK;
    slices = count_slices(grouper, plan, clr_group_device_words(plan));
    return clr_grouper_try(device, program,
                           slices > 0 && slices <= MOST_SLICES ? CLR_GROUP_LOCALLY
                                                               : CLR_GROUP_GLOBALLY,
                           plan, columns, result, outcome, work, status);
}
