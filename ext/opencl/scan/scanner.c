#include "opencl/scan/scanner.h"

#include "numeric/values/column.h"
#include "opencl/core/failures.h"
#include "opencl/core/launch.h"
#include "opencl/memory/resident_column_private.h"
#include "opencl/reduction/reducer_private.h"
#include "opencl/scan/row_arguments.h"
#include "opencl/scan/scanner_private.h"

/* A planned scan with its columns, as the functions here hand it on. */
struct request {
    struct clr_device *device;
    struct clr_scanner *scanner;
    const struct clr_scan_plan *plan;
    struct clr_resident_column *const *columns;
};

static void release(struct clr_attachment *attachment)
{
    struct clr_scanner *scanner = (struct clr_scanner *)(void *)attachment;

    clr_row_programs_clear(&scanner->programs);
    clr_lookup_cache_clear(&scanner->lookup_cache);
    clr_passes_close(&scanner->passes);
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
    scanner->queue =
        clCreateCommandQueue(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS)
        clr_opencl_failed(status, "clCreateCommandQueue", error);
    else
        clr_passes_open(&scanner->passes, device->context, scanner->queue, &device->info,
                        CLR_MOST_SCAN_STEPS, status);
    if (status->code != CLR_OK)
        clr_device_detach(device, &scanner->attachment); /* the next scan tries again */
    return status->code;
}

/* Of a scan, the key is the bundle's. */
static void add_launch(struct clr_scanner *scanner, const struct clr_scan_bundle *bundle,
                       const struct clr_program *program)
{
    struct clr_scan_launch *launch = &scanner->launches[scanner->launch_count++];

    launch->bundle = *bundle;
    launch->program = program;
    if (program->scans)
        launch->arguments = scanner->key.row.arguments;
}

/* Has the bundle's steps launched one by one. Returns whether that can be done: if all of them
   reduce columns as they lie there. */
static bool launch_apart(struct request *request, const struct clr_scan_bundle *bundle)
{
    struct clr_scanner *scanner = request->scanner;
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
        add_launch(scanner, &alone,
                   clr_reducer_program(request->device, step->operation, step->element));
    }
    return true;
}

/* Finds a bundle's program, or requests it; NULL if its text would be too long. */
static enum clr_code find_in_cache(struct request *request, const struct clr_scan_bundle *bundle,
                                   struct clr_scan_program **found, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;

    clr_scan_key(&scanner->key, request->plan, bundle);
    *found = (struct clr_scan_program *)(void *)clr_row_programs_find(&scanner->programs,
                                                                      &scanner->key.row);
    if (*found != NULL)
        return CLR_OK;
    clr_scan_text(&scanner->text, &scanner->key);
    if (!scanner->text.complete)
        return CLR_OK;
    *found = clr_scanner_request(scanner, request->plan, bundle);
    return *found != NULL ? CLR_OK : clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
}

/* Finds the program of a bundle, or those of its steps; *ready is set to false if there are none
   now. */
static enum clr_code find_program(struct request *request, const struct clr_scan_bundle *bundle,
                                  bool *ready, bool *requested, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    struct clr_scan_program *found;

    if (bundle->count == 1 && request->plan->steps[bundle->steps[0]].column >= 0) {
        *ready = launch_apart(request, bundle) && *ready;
        return CLR_OK;
    }
    if (find_in_cache(request, bundle, &found, status) != CLR_OK)
        return status->code;
    if (found != NULL && found->row.phase == CLR_ROW_PROGRAM_BUILT) {
        add_launch(scanner, bundle, &found->program);
        return CLR_OK;
    }
    *requested = *requested || (found != NULL && found->row.phase == CLR_ROW_PROGRAM_REQUESTED);
    *ready = launch_apart(request, bundle) && *ready;
    return CLR_OK;
}

static enum clr_code find_programs(struct request *request, bool *ready, bool *requested,
                                   struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    int i, count = clr_scan_bundles(request->plan, request->device->info.type == CLR_DEVICE_CPU,
                                    scanner->bundles);

    *ready = true;
    scanner->programs.scan++;
    scanner->launch_count = 0;
    for (i = 0; i < count; i++) {
        if (find_program(request, &scanner->bundles[i], ready, requested, status) != CLR_OK)
            return status->code;
    }
    return CLR_OK;
}

/* Sets what the generated text calls ROW_FORMALS, and the rows. */
static enum clr_code set_arguments(const struct request *request,
                                   const struct clr_scan_launch *launch,
                                   const struct clr_row_range *range, cl_uint *count,
                                   struct clr_status *status)
{
    struct clr_argument list[CLR_MOST_ROW_ARGUMENTS + 2];
    const cl_ulong first = range->first, rows = range->rows;

    *count = clr_row_arguments_list(&launch->arguments, request->plan->scan, request->columns,
                                    request->scanner->lookups, list);
    list[(*count)++] = CLR_VALUE(first);
    list[(*count)++] = CLR_VALUE(rows);
    return clr_set_arguments(launch->program->first, 0, list, *count, status);
}

static enum clr_code start_launch(struct request *request, const struct clr_scan_launch *launch,
                                  const struct clr_row_range *range, struct clr_status *status)
{
    struct clr_passes *passes = &request->scanner->passes;
    cl_uint arguments;

    if (!launch->program->scans) {
        const int column = request->plan->steps[launch->bundle.steps[0]].column;
        return clr_passes_start(passes, launch->program, request->columns[column]->values,
                                range->first, 0, range->rows, status);
    }
    if (set_arguments(request, launch, range, &arguments, status) != CLR_OK)
        return status->code;
    return clr_passes_start_rows(passes, launch->program, arguments, range->rows, status);
}

/* Adds the result of a step of one range of rows, which is the batch's of that number, to the state
   of its tally. What the rows were is counted anew with the first range: the plan knew it of whole
   columns. */
static void finish_step(struct request *request, int step_number, bool counts, bool is_first,
                        int number)
{
    struct clr_scanner *scanner = request->scanner;
    const struct clr_scan_step *step = &request->plan->steps[step_number];
    struct clr_state *state = &request->plan->scan->tallies[step->tally].state;
    struct clr_row_counts rows;

    clr_passes_take(&scanner->passes, number, step->operation, step->element, state, 0);
    if (!counts)
        return;
    rows = clr_passes_counts(&scanner->passes, number);
    scanner->unsure = scanner->unsure || rows.unsure;
    scanner->inexact = scanner->inexact || rows.inexact;
    if (step_number == 0 || request->plan->steps[step_number - 1].tally != step->tally) {
        state->count = rows.counted + (is_first ? 0 : state->count);
        state->non_integers = rows.non_integers + (is_first ? 0 : state->non_integers);
    }
}

/* Whether a launch is one of those that always are, or, if_reals, of those that turned out to be
   needed. */
static bool is_due(const struct request *request, const struct clr_scan_launch *launch,
                   bool if_reals)
{
    const struct clr_scan_step *step = &request->plan->steps[launch->bundle.steps[0]];

    return step->if_reals == if_reals &&
           (!if_reals || request->plan->scan->tallies[step->tally].state.non_integers > 0);
}

static enum clr_code run_launches(struct request *request, bool if_reals,
                                  struct clr_device_work *work, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    const struct clr_row_ranges ranges = clr_scan_ranges(request->plan->scan);
    bool started[CLR_MOST_SCAN_STEPS];
    int i, j, k, number = 0;

    for (i = 0; i < scanner->launch_count; i++) {
        started[i] = is_due(request, &scanner->launches[i], if_reals);
        for (j = 0; started[i] && j < ranges.count; j++) {
            if (start_launch(request, &scanner->launches[i], &ranges.ranges[j], status) != CLR_OK)
                return status->code;
        }
    }
    if (scanner->passes.started == 0)
        return CLR_OK;
    if (clr_passes_fetch(&scanner->passes, status) != CLR_OK ||
        clr_passes_wait(&scanner->passes, work, status) != CLR_OK)
        return status->code;
    for (i = 0; i < scanner->launch_count; i++) {
        const struct clr_scan_launch *launch = &scanner->launches[i];
        for (j = 0; started[i] && j < ranges.count; j++)
            for (k = 0; k < launch->bundle.count; k++)
                finish_step(request, launch->bundle.steps[k], launch->program->scans, j == 0,
                            number++);
    }
    return CLR_OK;
}

static enum clr_code bring_lookups(struct request *request, struct clr_device_work *work,
                                   struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;

    return clr_lookup_cache_bring(&scanner->lookup_cache, request->device, scanner->queue,
                                  request->plan->scan, scanner->lookups, work, status);
}

enum clr_code clr_scanner_try(struct clr_device *device, const struct clr_program *program,
                              const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns, bool *unsure,
                              bool *inexact, struct clr_status *status)
{
    struct clr_scanner *scanner = clr_scanner_of(device);
    struct request request = {device, scanner, plan, columns};
    struct clr_scan_bundle bundle = {.count = plan->count};
    struct clr_device_work work = {0};
    int i;

    for (i = 0; i < plan->count; i++)
        bundle.steps[i] = i;
    scanner->launch_count = 0;
    scanner->unsure = scanner->inexact = false;
    clr_scan_key(&scanner->key, plan, &bundle);
    add_launch(scanner, &bundle, program);
    if (bring_lookups(&request, &work, status) == CLR_OK)
        run_launches(&request, false, &work, status);
    if (status->code == CLR_NOMEM)
        clr_passes_recover(&scanner->passes, status);
    *unsure = scanner->unsure;
    *inexact = scanner->inexact;
    return status->code;
}

enum clr_code clr_scanner_prepare(struct clr_device *device, const struct clr_scan_plan *plan,
                                  bool *ready, bool *requested, struct clr_status *status)
{
    struct request request = {.device = device, .plan = plan};

    *ready = *requested = false;
    if (open_scanner(device, status) != CLR_OK)
        return status->code;
    request.scanner = clr_scanner_of(device);
    return find_programs(&request, ready, requested, status);
}

enum clr_code clr_scanner_run(struct clr_device *device, const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns,
                              enum clr_scan_outcome *outcome, bool *requested,
                              struct clr_device_work *work, struct clr_status *status)
{
    struct request request = {.device = device, .plan = plan, .columns = columns};
    struct clr_scanner *scanner;
    bool ready;

    *outcome = CLR_SCAN_NOT_NOW;
    *requested = false;
    if (open_scanner(device, status) != CLR_OK)
        return status->code;
    request.scanner = scanner = clr_scanner_of(device);
    scanner->unsure = scanner->inexact = false;
    if (find_programs(&request, &ready, requested, status) != CLR_OK || !ready)
        return status->code;
    if (bring_lookups(&request, work, status) == CLR_OK)
        run_launches(&request, false, work, status);
    if (status->code == CLR_OK && !scanner->unsure)
        run_launches(&request, true, work, status);
    if (status->code == CLR_NOMEM)
        clr_passes_recover(&scanner->passes, status);
    if (status->code != CLR_OK)
        return status->code;
    if (scanner->unsure)
        *outcome = CLR_SCAN_UNSURE;
    else if (!scanner->inexact)
        *outcome = CLR_SCAN_DONE;
    return CLR_OK;
}
