/* The building of scans' programs, which are tested before they serve. */
#include "base/memory.h"
#include "opencl/scan/scan_test.h"
#include "opencl/scan/scanner_private.h"

/* What a trial's run needs besides what it is given. */
struct trial {
    struct clr_device *device;
    const struct clr_program *program;
};

static enum clr_code run_trial(void *context, const struct clr_scan_plan *plan,
                               struct clr_resident_column *const *columns, bool *unsure,
                               bool *inexact, struct clr_status *status)
{
    const struct trial *trial = context;

    return clr_scanner_try(trial->device, trial->program, plan, columns, unsure, inexact, status);
}

/* Builds a program and tests it. */
static enum clr_code build(struct clr_device *device, struct clr_scan_program *program, char **log,
                           struct clr_status *status)
{
    struct trial trial = {device, &program->program};
    const struct clr_scan_run run = {&trial, run_trial};
    struct clr_scanner *scanner = clr_scanner_of(device);

    if (clr_program_build_scan(&program->program, device->context, &device->info, program->kinds,
                               program->steps, program->text, log, status) != CLR_OK)
        return status->code;
    clr_scan_test(device, program->trial, &run, status);
    if (clr_device_unless_lost(device, status) == NULL) {
        scanner->status = *status;
        return status->code;
    }
    /* The trial's lookups are of no more use. */
    clr_lookup_cache_clear(&scanner->lookup_cache);
    if (status->code != CLR_OK)
        clr_program_release(&program->program);
    return status->code;
}

bool clr_scanner_build(struct clr_device *device, char **log, struct clr_status *status)
{
    struct clr_scanner *scanner = clr_scanner_of(device);
    struct clr_scan_program *program;

    *log = NULL;
    if (scanner == NULL || scanner->status.code != CLR_OK)
        return false;
    program = clr_scan_cache_requested(&scanner->cache);
    if (program == NULL)
        return false;
    switch (build(device, program, log, status)) {
    case CLR_OK:
        program->phase = CLR_SCAN_PROGRAM_BUILT;
        break;
    case CLR_NOMEM:
        clr_scan_cache_drop(program);
        break;
    default:
        program->phase = CLR_SCAN_PROGRAM_UNBUILDABLE;
    }
    clr_scan_trial_free(program->trial);
    program->trial = NULL;
    return clr_scan_cache_requested(&scanner->cache) != NULL;
}
