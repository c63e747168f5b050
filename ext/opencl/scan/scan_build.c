/* The building of scans' programs, which are tested before they serve. */
#include "base/memory.h"
#include "opencl/scan/scanner_private.h"

#include <string.h>

void clr_scan_program_release(struct clr_row_program *program)
{
    struct clr_scan_program *own = (struct clr_scan_program *)(void *)program;

    clr_program_release(&own->program);
    clr_scan_trial_free(own->trial);
}

struct clr_scan_program *clr_scanner_request(struct clr_scanner *scanner,
                                             const struct clr_scan_plan *plan,
                                             const struct clr_scan_bundle *bundle)
{
    const struct clr_scan_key *key = &scanner->key;
    struct clr_scan_trial *trial = clr_scan_trial_new(plan, bundle);
    struct clr_scan_program *program =
        clr_memory_alloc_zero(sizeof *program + scanner->text.length);

    if (program == NULL || trial == NULL) {
        clr_memory_free(program);
        clr_scan_trial_free(trial);
        return NULL;
    }
    program->steps = key->step_count;
    memcpy(program->kinds, key->steps, sizeof program->kinds);
    program->trial = trial;
    memcpy(program->text, scanner->text.text, scanner->text.length);
    return clr_row_programs_add(&scanner->programs, &program->row, &key->row) ? program : NULL;
}

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
    program = (struct clr_scan_program *)(void *)clr_row_programs_requested(&scanner->programs);
    if (program == NULL)
        return false;
    build(device, program, log, status);
    clr_scan_trial_free(program->trial);
    program->trial = NULL;
    return clr_row_programs_end_build(&scanner->programs, &program->row, status->code);
}
