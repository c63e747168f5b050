#include "opencl/scanner.h"

#include "base/memory.h"
#include "numeric/column.h"
#include "opencl/device_private.h"
#include "opencl/resident_column_private.h"
#include "opencl/scan_cache.h"
#include "opencl/scan_plan.h"
#include "opencl/scan_text.h"

#include <string.h>

/*
 * Expressions are evaluated within the reduction, by a program for each of a tally's steps, rather
 * than gathered in memory first. Even where several steps read the same filter, that moves fewer
 * bytes than writing and reading every argument would, it needs no memory, however many the rows,
 * and the host has nothing to wait for in between.
 */
struct clr_scanner {
    cl_command_queue queue;
    struct clr_scan_cache cache;
    struct clr_scan_text text;
    struct clr_passes passes;
    /* Of the scan that is running. */
    struct clr_scan_step steps[CLR_MOST_SCAN_STEPS];
    const struct clr_program *programs[CLR_MOST_SCAN_STEPS];
    int step_count;
    bool unsure, inexact;
};

/* A scan with its columns, as the functions here hand it on. */
struct request {
    struct clr_device *device;
    struct clr_scanner *scanner;
    const struct clr_scan *scan;
    struct clr_resident_column *const *columns;
    uint8_t kinds[CLR_MOST_COLUMNS];
};

static enum clr_code open_scanner(struct clr_device *device, struct clr_status *status)
{
    struct clr_scanner *scanner = device->scanner;
    cl_int error;

    if (scanner != NULL)
        return CLR_OK;
    scanner = clr_memory_alloc(sizeof *scanner);
    if (scanner == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
    memset(scanner, 0, sizeof *scanner);
    scanner->queue =
        clCreateCommandQueue(device->context, device->info.id, CL_QUEUE_PROFILING_ENABLE, &error);
    if (error != CL_SUCCESS) {
        clr_memory_free(scanner);
        return clr_opencl_failed(status, "clCreateCommandQueue", error);
    }
    device->scanner = scanner;
    if (clr_passes_open(&scanner->passes, device->context, scanner->queue, &device->info,
                        CLR_MOST_SCAN_STEPS, status) == CLR_NOMEM)
        clr_scanner_close(device); /* the next scan tries again */
    return status->code;
}

void clr_scanner_close(struct clr_device *device)
{
    struct clr_scanner *scanner = device->scanner;

    if (scanner == NULL)
        return;
    clr_scan_cache_clear(&scanner->cache);
    clr_passes_close(&scanner->passes);
    clReleaseCommandQueue(scanner->queue);
    clr_memory_free(scanner);
    device->scanner = NULL;
}

bool clr_scanner_build(struct clr_device *device, char **log, struct clr_status *status)
{
    struct clr_scan_program *program;

    *log = NULL;
    if (device->scanner == NULL)
        return false;
    program = clr_scan_cache_requested(&device->scanner->cache);
    if (program == NULL)
        return false;
    program->phase = clr_program_build_scan(&program->program, device->context, &device->info,
                                            program->operation, program->element, program->text,
                                            log, status) == CLR_OK
                         ? CLR_SCAN_PROGRAM_BUILT
                         : CLR_SCAN_PROGRAM_UNBUILDABLE;
    return clr_scan_cache_requested(&device->scanner->cache) != NULL;
}

static void make_text(struct request *request, const struct clr_scan_step *step)
{
    clr_scan_text(&request->scanner->text, request->scan, request->kinds,
                  &request->scan->tallies[step->tally], step->takes);
}

/* Finds the program of a step; NULL if there is none now. */
static enum clr_code find_program(struct request *request, int number, bool *requested,
                                  struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    const struct clr_scan_step *step = &scanner->steps[number];
    struct clr_scan_program *found;

    scanner->programs[number] = NULL;
    if (step->column >= 0) {
        const struct clr_program *program =
            &request->device->programs[step->operation][step->element];
        if (program->built)
            scanner->programs[number] = program;
        return CLR_OK;
    }
    /* The text computes with doubles, whatever the operation. */
    if (!request->device->info.fp64)
        return CLR_OK;
    make_text(request, step);
    if (!scanner->text.complete)
        return CLR_OK;
    found = clr_scan_cache_find(&scanner->cache, step, scanner->text.text);
    if (found == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
    if (found->phase == CLR_SCAN_PROGRAM_BUILT)
        scanner->programs[number] = &found->program;
    else if (found->phase == CLR_SCAN_PROGRAM_REQUESTED)
        *requested = true;
    return CLR_OK;
}

static enum clr_code find_programs(struct request *request, bool *ready, bool *requested,
                                   struct clr_status *status)
{
    int i;

    *ready = true;
    request->scanner->cache.scan++;
    for (i = 0; i < request->scanner->step_count; i++) {
        if (find_program(request, i, requested, status) != CLR_OK)
            return status->code;
        *ready = *ready && request->scanner->programs[i] != NULL;
    }
    return CLR_OK;
}

/* Sets what the generated text calls ROW_FORMALS, and the number of rows. */
static cl_int set_arguments(struct request *request, cl_kernel kernel, cl_uint *count)
{
    const struct clr_scan_text *text = &request->scanner->text;
    const cl_ulong rows = request->scan->rows;
    cl_int error = CL_SUCCESS;
    int i;

    *count = 0;
    for (i = 0; error == CL_SUCCESS && i < text->column_count; i++) {
        const struct clr_resident_column *column = request->columns[text->columns[i]];
        error = clSetKernelArg(kernel, (*count)++, sizeof(cl_mem), &column->values);
        if (error == CL_SUCCESS && column->kind == CLR_TAG_MIXED)
            error = clSetKernelArg(kernel, (*count)++, sizeof(cl_mem), &column->tags);
    }
    for (i = 0; error == CL_SUCCESS && i < text->constant_count; i++) {
        const cl_long bits = request->scan->constants[text->constants[i]].bits;
        error = clSetKernelArg(kernel, (*count)++, sizeof bits, &bits);
    }
    if (error == CL_SUCCESS)
        error = clSetKernelArg(kernel, (*count)++, sizeof rows, &rows);
    return error;
}

static enum clr_code start_step(struct request *request, int number, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    const struct clr_scan_step *step = &scanner->steps[number];
    const struct clr_program *program = scanner->programs[number];
    cl_uint arguments;
    cl_int error;

    if (step->column >= 0)
        return clr_passes_start(&scanner->passes, program, request->columns[step->column]->values,
                                0, 0, request->scan->rows, status);
    make_text(request, step);
    error = set_arguments(request, program->first, &arguments);
    if (error != CL_SUCCESS)
        return clr_opencl_failed(status, "clSetKernelArg", error);
    return clr_passes_start_rows(&scanner->passes, program, arguments, request->scan->rows, status);
}

/* Takes a step's result, which is the batch's of that number. */
static void finish_step(struct request *request, int step_number, int number)
{
    struct clr_scanner *scanner = request->scanner;
    const struct clr_scan_step *step = &scanner->steps[step_number];
    struct clr_state *state = &request->scan->tallies[step->tally].state;
    struct clr_row_counts counts;

    clr_passes_take(&scanner->passes, number, scanner->programs[step_number], state, 0);
    if (step->column >= 0)
        return;
    counts = clr_passes_counts(&scanner->passes, number);
    scanner->unsure = scanner->unsure || counts.unsure;
    scanner->inexact = scanner->inexact || counts.inexact;
    if (step_number == 0 || scanner->steps[step_number - 1].tally != step->tally) {
        state->count = counts.counted;
        state->non_integers = counts.non_integers;
    }
}

/* Runs the steps that always are, or, after those, the ones that turned out to be needed. */
static enum clr_code run_steps(struct request *request, bool if_reals, struct clr_device_work *work,
                               struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    bool started[CLR_MOST_SCAN_STEPS];
    int i, number = 0;

    for (i = 0; i < scanner->step_count; i++) {
        const struct clr_scan_step *step = &scanner->steps[i];
        started[i] = step->if_reals == if_reals &&
                     (!if_reals || request->scan->tallies[step->tally].state.non_integers > 0);
        if (started[i] && start_step(request, i, status) != CLR_OK)
            return status->code;
    }
    if (scanner->passes.started == 0)
        return CLR_OK;
    if (clr_passes_fetch(&scanner->passes, status) != CLR_OK ||
        clr_passes_wait(&scanner->passes, work, status) != CLR_OK)
        return status->code;
    for (i = 0; i < scanner->step_count; i++) {
        if (started[i])
            finish_step(request, i, number++);
    }
    return CLR_OK;
}

enum clr_code clr_scanner_run(struct clr_device *device, const struct clr_scan *scan,
                              struct clr_resident_column *const *columns,
                              enum clr_scan_outcome *outcome, bool *requested,
                              struct clr_device_work *work, struct clr_status *status)
{
    struct request request = {.device = device, .scan = scan, .columns = columns};
    struct clr_scanner *scanner;
    bool ready;
    int i;

    *outcome = CLR_SCAN_NOT_NOW;
    *requested = false;
    if (open_scanner(device, status) != CLR_OK)
        return status->code;
    request.scanner = scanner = device->scanner;
    for (i = 0; i < scan->column_count; i++)
        request.kinds[i] = columns[i]->kind;
    scanner->step_count = clr_scan_plan(scan, request.kinds, scanner->steps);
    scanner->unsure = scanner->inexact = false;
    if (find_programs(&request, &ready, requested, status) != CLR_OK || !ready)
        return status->code;
    if (run_steps(&request, false, work, status) != CLR_OK)
        return status->code;
    if (!scanner->unsure && run_steps(&request, true, work, status) != CLR_OK)
        return status->code;
    if (scanner->unsure)
        *outcome = CLR_SCAN_UNSURE;
    else if (!scanner->inexact)
        *outcome = CLR_SCAN_DONE;
    return CLR_OK;
}
