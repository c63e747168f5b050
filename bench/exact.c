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
    if (clr_program_build(&reduction->program, target->context, &target->info, operation, element,
                          &log, &status) != CLR_OK)
        bench_die("%s\n%s", status.message, log != NULL ? log : "");
    if (clr_passes_open(&reduction->passes, target->context, &target->info, &status) != CLR_OK)
        bench_die("%s", status.message);
}

void bench_exact_close(struct bench_exact_reduction *reduction)
{
    clr_passes_close(&reduction->passes);
    clr_program_release(&reduction->program);
}

int64_t bench_exact_run(void *argument)
{
    struct bench_exact_reduction *reduction = argument;
    int64_t start = clr_clock_ns(), kernel_time = 0, read_time = 0;
    struct clr_status status;

    clr_status_clear(&status);
    clr_state_clear(&reduction->state);
    if (clr_passes_start(&reduction->passes, reduction->target->queue, &reduction->program,
                         reduction->buffer, 0, reduction->count, reduction->count,
                         &status) != CLR_OK ||
        clr_passes_finish(&reduction->passes, &reduction->program, &reduction->state, 0,
                          &kernel_time, &read_time, &status) != CLR_OK)
        bench_die("%s", status.message);
    return reduction->wall ? clr_clock_ns() - start : kernel_time;
}
