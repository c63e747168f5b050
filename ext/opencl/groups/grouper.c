#include "opencl/groups/grouper.h"

#include "base/memory.h"
#include "opencl/core/calls.h"
#include "opencl/groups/grouper_private.h"
#include "opencl/memory/upload.h"

#include <string.h>

/* Bytes of local memory, for what the driver itself puts there. */
enum { LOCAL_RESERVE = 1024 };

enum { DOUBTS_WORD, TYPES_WORD, SPILLS_WORD, SPILLED_WORD };
enum { UNSURE_ROW = 1, NO_PLACE = 2 };

/* ---- What is kept with the device. */

static void release(struct clr_device_part *attachment)
{
    struct clr_grouper *grouper = (struct clr_grouper *)(void *)attachment;

    clr_row_programs_clear(&grouper->programs);
    clr_lookup_cache_clear(&grouper->lookup_cache);
    if (grouper->queue != NULL)
        clr_pinned_release(grouper->queue, &grouper->pinned);
    clr_buffer_release(&grouper->parameters);
    clr_buffer_release(&grouper->flags);
    clr_buffer_release(&grouper->spills);
    clr_buffer_release(&grouper->records.buffer);
    clr_buffer_release(&grouper->lists.buffer);
    clr_buffer_release(&grouper->starts.buffer);
    if (grouper->queue != NULL)
        clReleaseCommandQueue(grouper->queue);
}

static const struct clr_device_part_kind grouper_kind = {sizeof(struct clr_grouper), "groups",
                                                         release};

struct clr_grouper *clr_grouper_of(const struct clr_device *device)
{
    return clr_device_find(device, &grouper_kind);
}

static enum clr_code make(struct clr_device *device, struct clr_grouper *grouper,
                          struct clr_status *status)
{
    const struct clr_wanted_buffer wanted[] = {
        {&grouper->parameters, CL_MEM_READ_ONLY, CLR_GROUP_PARAMETERS * sizeof(cl_long)},
        {&grouper->flags, CL_MEM_READ_WRITE, CLR_GROUP_FLAGS * sizeof(cl_uint)},
        {&grouper->spills, CL_MEM_READ_WRITE,
         CLR_GROUP_SPILL_ROOM * sizeof(struct clr_group_spill)},
    };
    cl_ulong local = 0;
    cl_int error;

    grouper->programs.release = clr_group_program_release;
    grouper->queue =
        clCreateCommandQueue(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clCreateCommandQueue", error);
    error = clGetDeviceInfo(device->info.id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clGetDeviceInfo", error);
    grouper->local_memory = local > LOCAL_RESERVE ? (size_t)local - LOCAL_RESERVE : 0;
    grouper->sorts = clr_group_can_sort(grouper->local_memory);
    if (CLR_BUFFERS_MAKE(device->context, wanted, status) != CLR_OK)
        return status->code;
    return clr_pinned_make(device->context, grouper->queue, sizeof(struct clr_group_pinned),
                           &grouper->pinned, status);
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

enum clr_code clr_group_buffer_make(const struct clr_group_job *job,
                                    struct clr_group_buffer *buffer, size_t size,
                                    struct clr_status *status)
{
    const struct clr_wanted_buffer wanted = {&buffer->buffer, CL_MEM_READ_WRITE, size};

    if (size <= buffer->size)
        return CLR_OK;
    clr_buffer_release(&buffer->buffer);
    buffer->size = 0;
    if (clr_buffers_make(job->device->context, &wanted, 1, status) == CLR_OK)
        buffer->size = size;
    return status->code;
}

/* ---- What comes back. */

/* Reads the flags, and the records if they are few, and waits. */
static enum clr_code read_first(const struct clr_group_job *job, struct clr_device_work *work,
                                struct clr_status *status)
{
    const struct clr_grouper *grouper = job->grouper;
    struct clr_group_pinned *pinned = grouper->pinned.mapped;
    cl_event read = NULL;
    const char *call = "clEnqueueReadBuffer";
    cl_int error = CL_SUCCESS;

    if (job->size <= CLR_GROUP_FEW_BYTES)
        error = clEnqueueReadBuffer(grouper->queue, grouper->records.buffer, CL_FALSE, 0, job->size,
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
    const uint64_t most = clr_group_most_spilled(plan->scan->rows);
    const bool are_many =
        flags[SPILLS_WORD] > (most < CLR_GROUP_SPILL_ROOM ? most : CLR_GROUP_SPILL_ROOM);
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

static enum clr_code take_spills(const struct clr_group_job *job, struct clr_group_result *result,
                                 struct clr_status *status)
{
    const struct clr_group_pinned *pinned = job->grouper->pinned.mapped;
    const size_t count = pinned->flags[SPILLS_WORD];
    const size_t size = count * sizeof *result->spills;

    if (count == 0)
        return CLR_OK;
    result->spills = clr_memory_alloc(size);
    if (result->spills == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for groups");
    result->spill_count = count;
    return clr_upload_take(clr_upload_of(job->device), job->grouper->spills, 0,
                           (char *)result->spills, size, status);
}

static enum clr_code take(const struct clr_group_job *job, struct clr_group_result *result,
                          enum clr_scan_outcome *outcome, struct clr_status *status)
{
    const struct clr_group_pinned *pinned = job->grouper->pinned.mapped;
    const cl_uint *flags = pinned->flags;

    note_doubts(job->plan, flags, result);
    *outcome = flags[DOUBTS_WORD] & UNSURE_ROW ? CLR_SCAN_UNSURE
               : result->is_doubtful           ? CLR_SCAN_NOT_NOW
                                               : CLR_SCAN_DONE;
    if (*outcome != CLR_SCAN_DONE)
        return CLR_OK;
    if (take_spills(job, result, status) != CLR_OK)
        return status->code;
    if (job->size <= CLR_GROUP_FEW_BYTES) {
        memcpy(result->records, pinned->records, job->size);
        return CLR_OK;
    }
    return clr_upload_take(clr_upload_of(job->device), job->grouper->records.buffer, 0,
                           (char *)result->records, job->size, status);
}

/* ---- All of it. */

static enum clr_code run(const struct clr_group_job *job, struct clr_group_result *result,
                         enum clr_scan_outcome *outcome, struct clr_device_work *work,
                         struct clr_status *status)
{
    const struct clr_kept_lookup *lookups[CLR_MOST_LOOKUPS];
    cl_event launched[CLR_GROUP_LAUNCHES] = {NULL};
    int i;

    if (clr_group_buffer_make(job, &job->grouper->records, job->size, status) != CLR_OK ||
        clr_upload_open(job->device, status) != CLR_OK ||
        clr_lookup_cache_bring(&job->grouper->lookup_cache, job->device, job->grouper->queue,
                               job->plan->scan, lookups, work, status) != CLR_OK)
        return status->code;
    if (clr_group_launch(job, lookups, launched, status) == CLR_OK &&
        read_first(job, work, status) == CLR_OK) {
        work->passes++;
        for (i = 0; i < CLR_GROUP_LAUNCHES; i++) {
            work->kernels += launched[i] != NULL;
            work->kernel_time += clr_event_take_time(&launched[i]);
        }
        return take(job, result, outcome, status);
    }
    for (i = 0; i < CLR_GROUP_LAUNCHES; i++)
        clr_event_release(&launched[i]);
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
    const struct clr_group_job job = {
        device, grouper, program, kernel,
        plan,   columns, words,   (size_t)plan->places * words * sizeof(cl_long)};

    *outcome = CLR_SCAN_NOT_NOW;
    run(&job, result, outcome, work, status);
    if (status->code == CLR_NOMEM)
        clr_queue_drain(grouper->queue, status);
    return status->code;
}

bool clr_grouper_fits(const struct clr_device_info *info, const struct clr_group_plan *plan)
{
    return clr_group_text_fits(plan) &&
           plan->places <= info->memory / CLR_GROUP_MEMORY_PART /
                               (clr_group_device_words(plan) * sizeof(cl_long));
}

enum clr_code clr_grouper_run(struct clr_device *device, const struct clr_group_plan *plan,
                              const uint8_t *kinds, struct clr_resident_column *const *columns,
                              struct clr_group_result *result, enum clr_scan_outcome *outcome,
                              bool *requested, struct clr_device_work *work,
                              struct clr_status *status)
{
    struct clr_group_program *program;
    struct clr_grouper *grouper;

    *outcome = CLR_SCAN_NOT_NOW;
    *requested = false;
    if (open_grouper(device, status) != CLR_OK)
        return status->code;
    grouper = clr_grouper_of(device);
    if (clr_group_program_find(grouper, plan, kinds, &program, status) != CLR_OK || program == NULL)
        return status->code;
    *requested = program->row.phase == CLR_ROW_PROGRAM_REQUESTED;
    if (program->row.phase != CLR_ROW_PROGRAM_BUILT)
        return CLR_OK;
    return clr_grouper_try(device, program, clr_group_choose_kernel(device, plan), plan, columns,
                           result, outcome, work, status);
}
