#include "exact.h"

#include "base/clock.h"
#include "measure.h"
#include "output.h"

#include <string.h>

void bench_exact_open(struct bench_exact_reduction *reduction, const struct bench_target *target,
                      enum clr_operation operation, enum clr_element element)
{
    struct clr_status status;
    char *log;

    memset(reduction, 0, sizeof *reduction);
    clr_status_clear(&status);
    reduction->target = target;
    reduction->operation = operation;
    reduction->element = element;
    if (clr_program_build(&reduction->program, target->context, &target->info,
                          &(struct clr_step_kind){operation, element}, 1, NULL, &log,
                          &status) != CLR_OK)
        bench_die("%s\n%s", status.message, log != NULL ? log : "");
    if (clr_passes_open(&reduction->passes, target->context, target->queue, &target->info, 1,
                        &status) != CLR_OK)
        bench_die("%s", status.message);
    reduction->passes.timed = true;
}

void bench_exact_close(struct bench_exact_reduction *reduction)
{
    clr_passes_close(&reduction->passes);
    clr_program_release(&reduction->program);
}

int64_t bench_exact_run(void *argument)
{
    struct bench_exact_reduction *reduction = argument;
    struct clr_device_work work = {.kernels = 0};
    int64_t start = clr_clock_ns();
    struct clr_status status;

    clr_status_clear(&status);
    clr_state_clear(&reduction->state);
    if (clr_passes_start(&reduction->passes, &reduction->program, reduction->buffer, 0,
                         reduction->count, reduction->count, &status) != CLR_OK ||
        clr_passes_fetch(&reduction->passes, &status) != CLR_OK ||
        clr_passes_wait(&reduction->passes, &work, &status) != CLR_OK)
        bench_die("%s", status.message);
    clr_passes_take(&reduction->passes, 0, reduction->operation, reduction->element,
                    &reduction->state, 0);
    reduction->launched = (int)work.passes;
    return reduction->wall ? clr_clock_ns() - start : work.kernel_time;
}
