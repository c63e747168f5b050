#include "opencl/scan/scanner.h"

#include "opencl/core/failures.h"
#include "opencl/reduction/reducer_private.h"
#include "opencl/scan/scanner_private.h"

static void release(struct clr_attachment *attachment)
{
    struct clr_scanner *scanner = (struct clr_scanner *)(void *)attachment;
    int i;

    clr_row_programs_clear(&scanner->programs);
    clr_lookup_cache_clear(&scanner->lookup_cache);
    for (i = 0; i < CLR_SCAN_SLOTS; i++)
        clr_passes_close(&scanner->slots[i].passes);
    if (scanner->queue != NULL)
        clReleaseCommandQueue(scanner->queue);
}

static const struct clr_attachment_kind scanner_kind = {sizeof(struct clr_scanner), "a scan",
                                                        release};

struct clr_scanner *clr_scanner_of(const struct clr_device *device)
{
    return clr_device_find(device, &scanner_kind);
}

static enum clr_code open_scanner(struct clr_device *device, struct clr_status *status)
{
    struct clr_scanner *scanner = clr_scanner_of(device);
    cl_int error;

    if (scanner != NULL) {
        if (scanner->status.code != CLR_OK)
            *status = scanner->status;
        return status->code;
    }
    scanner = clr_device_attach(device, &scanner_kind, status);
    if (scanner == NULL)
        return status->code;
    scanner->programs.release = clr_scan_program_release;
    scanner->programs.kept_from = UINT64_MAX;
    scanner->queue =
        clCreateCommandQueue(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS)
        clr_opencl_failed(status, "clCreateCommandQueue", error);
    if (status->code != CLR_OK)
        clr_device_detach(device, &scanner->attachment); /* the next scan tries again */
    return status->code;
}

/* The programs of scans under way stay: of those from the oldest one on. */
static void keep_programs(struct clr_scanner *scanner)
{
    uint64_t oldest = UINT64_MAX;
    int i;

    for (i = 0; i < CLR_SCAN_SLOTS; i++) {
        if (scanner->slots[i].is_taken && scanner->slots[i].scan < oldest)
            oldest = scanner->slots[i].scan;
    }
    scanner->programs.kept_from = oldest;
}

/* Takes a free slot for the scan that is being begun. */
static enum clr_code take_slot(struct clr_scan_request *request, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    struct clr_scan_slot *slot = scanner->slots;

    while (slot->is_taken)
        slot++;
    if (slot->passes.queue == NULL &&
        clr_passes_open(&slot->passes, request->device->context, scanner->queue,
                        &request->device->info, CLR_MOST_SCAN_STEPS, status) != CLR_OK)
        return status->code;
    slot->passes.ended = &scanner->ended;
    slot->is_taken = true;
    slot->scan = ++scanner->programs.scan;
    slot->launch_count = 0;
    slot->unsure = slot->inexact = false;
    keep_programs(scanner);
    request->slot = slot;
    return CLR_OK;
}

/* Gives the slot back after all went well, or after what passes, when nothing is left under way. */
static void leave_slot(struct clr_scan_request *request, struct clr_status *status)
{
    if (status->code == CLR_NOMEM)
        clr_passes_recover(&request->slot->passes, status);
    request->slot->is_taken = false;
    keep_programs(request->scanner);
}

/* Of a scan, the key is the bundle's. */
static void add_launch(struct clr_scan_request *request, const struct clr_scan_bundle *bundle,
                       const struct clr_program *program)
{
    struct clr_scan_slot *slot = request->slot;
    struct clr_scan_launch *launch = &slot->launches[slot->launch_count++];

    launch->bundle = *bundle;
    launch->program = program;
    if (program->scans)
        launch->arguments = request->scanner->key.row.arguments;
}

/* Has the bundle's steps launched one by one. Returns whether that can be done: if all of them
   reduce columns as they lie there. */
static bool launch_apart(struct clr_scan_request *request, const struct clr_scan_bundle *bundle)
{
    int i;

    for (i = 0; i < bundle->count; i++) {
        const struct clr_scan_step *step = &request->plan->steps[bundle->steps[i]];
        if (step->column < 0 ||
            !clr_reducer_program(request->device, step->operation, step->element)->built)
            return false;
    }
    for (i = 0; i < bundle->count; i++) {
        const struct clr_scan_step *step = &request->plan->steps[bundle->steps[i]];
        const struct clr_scan_bundle alone = {.count = 1, .steps = {bundle->steps[i]}};
        add_launch(request, &alone,
                   clr_reducer_program(request->device, step->operation, step->element));
    }
    return true;
}

/* Finds a bundle's program, or requests it; NULL if its text would be too long, or while the scans
   under way have all the room for programs. */
static enum clr_code find_in_cache(struct clr_scan_request *request,
                                   const struct clr_scan_bundle *bundle,
                                   struct clr_scan_program **found, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;

    clr_scan_key(&scanner->key, request->plan, bundle);
    *found = (struct clr_scan_program *)(void *)clr_row_programs_find(&scanner->programs,
                                                                      &scanner->key.row);
    if (*found != NULL)
        return CLR_OK;
    clr_scan_text(&scanner->text, &scanner->key);
    if (!scanner->text.complete || !clr_row_programs_have_room(&scanner->programs))
        return CLR_OK;
    *found = clr_scanner_request(scanner, request->plan, bundle);
    return *found != NULL ? CLR_OK : clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
}

/* Finds the program of a bundle, or those of its steps; *ready is set to false if there are none
   now. */
static enum clr_code find_program(struct clr_scan_request *request,
                                  const struct clr_scan_bundle *bundle, bool *ready,
                                  bool *requested, struct clr_status *status)
{
    struct clr_scan_program *found;

    if (bundle->count == 1 && request->plan->steps[bundle->steps[0]].column >= 0) {
        *ready = launch_apart(request, bundle) && *ready;
        return CLR_OK;
    }
    if (find_in_cache(request, bundle, &found, status) != CLR_OK)
        return status->code;
    if (found != NULL && found->row.phase == CLR_ROW_PROGRAM_BUILT) {
        add_launch(request, bundle, &found->program);
        return CLR_OK;
    }
    *requested = *requested || (found != NULL && found->row.phase == CLR_ROW_PROGRAM_REQUESTED);
    *ready = launch_apart(request, bundle) && *ready;
    return CLR_OK;
}

static enum clr_code find_programs(struct clr_scan_request *request, bool *ready, bool *requested,
                                   struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    int i, count = clr_scan_bundles(request->plan, scanner->bundles);

    *ready = true;
    for (i = 0; i < count; i++) {
        if (find_program(request, &scanner->bundles[i], ready, requested, status) != CLR_OK)
            return status->code;
    }
    return CLR_OK;
}

enum clr_code clr_scanner_try(struct clr_device *device, const struct clr_program *program,
                              const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns, bool *unsure,
                              bool *inexact, struct clr_status *status)
{
    struct clr_scanner *scanner = clr_scanner_of(device);
    struct clr_scan_request request = {device, scanner, NULL, plan, columns};
    struct clr_scan_bundle bundle = {.count = plan->count};
    struct clr_device_work work = {0};
    int i;

    if (take_slot(&request, status) != CLR_OK)
        return status->code;
    for (i = 0; i < plan->count; i++)
        bundle.steps[i] = i;
    clr_scan_key(&scanner->key, plan, &bundle);
    add_launch(&request, &bundle, program);
    if (clr_scan_launches_start(&request, false, &work, status) == CLR_OK)
        clr_scan_launches_finish(&request, &work, status);
    *unsure = request.slot->unsure;
    *inexact = request.slot->inexact;
    leave_slot(&request, status);
    return status->code;
}

enum clr_code clr_scanner_begin(struct clr_device *device, const struct clr_scan_plan *plan,
                                struct clr_resident_column *const *columns,
                                struct clr_scan_slot **slot, enum clr_scan_outcome *outcome,
                                bool *requested, struct clr_device_work *work,
                                struct clr_status *status)
{
    struct clr_scan_request request = {.device = device, .plan = plan, .columns = columns};
    bool ready;

    *slot = NULL;
    *outcome = CLR_SCAN_NOT_NOW;
    *requested = false;
    if (open_scanner(device, status) != CLR_OK)
        return status->code;
    request.scanner = clr_scanner_of(device);
    if (take_slot(&request, status) != CLR_OK)
        return status->code;
    if (find_programs(&request, &ready, requested, status) == CLR_OK && ready &&
        clr_scan_launches_start(&request, false, work, status) == CLR_OK)
        *slot = request.slot;
    else
        leave_slot(&request, status);
    return status->code;
}

enum clr_code clr_scanner_end(struct clr_device *device, struct clr_scan_slot *slot,
                              const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns,
                              enum clr_scan_outcome *outcome, struct clr_device_work *work,
                              struct clr_status *status)
{
    struct clr_scan_request request = {device, clr_scanner_of(device), slot, plan, columns};

    *outcome = CLR_SCAN_NOT_NOW;
    if (clr_scan_launches_finish(&request, work, status) == CLR_OK && !slot->unsure &&
        clr_scan_launches_start(&request, true, work, status) == CLR_OK)
        clr_scan_launches_finish(&request, work, status);
    leave_slot(&request, status);
    if (status->code != CLR_OK)
        return status->code;
    if (slot->unsure)
        *outcome = CLR_SCAN_UNSURE;
    else if (!slot->inexact)
        *outcome = CLR_SCAN_DONE;
    return CLR_OK;
}
