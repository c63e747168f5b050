/* The launches of a scan, from their arguments to the states that take their results. */
#include "numeric/values/column.h"
#include "opencl/core/launch.h"
#include "opencl/memory/resident_column_private.h"
#include "opencl/scan/row_arguments.h"
#include "opencl/scan/scanner_private.h"

/* Sets what the generated text calls ROW_FORMALS, and the rows. */
static enum clr_code set_arguments(const struct clr_scan_request *request,
                                   const struct clr_scan_launch *launch,
                                   const struct clr_kept_lookup *const *lookups,
                                   const struct clr_row_range *range, cl_uint *count,
                                   struct clr_status *status)
{
    struct clr_argument list[CLR_MOST_ROW_ARGUMENTS + 2];
    const cl_ulong first = range->first, rows = range->rows;

    *count = clr_row_arguments_list(&launch->arguments, request->plan->scan, request->columns,
                                    lookups, list);
    list[(*count)++] = CLR_VALUE(first);
    list[(*count)++] = CLR_VALUE(rows);
    return clr_set_arguments(launch->program->kernel, 0, list, *count, status);
}

static enum clr_code start_launch(const struct clr_scan_request *request,
                                  const struct clr_scan_launch *launch,
                                  const struct clr_kept_lookup *const *lookups,
                                  const struct clr_row_range *range, struct clr_status *status)
{
    struct clr_passes *passes = &request->slot->passes;
    cl_uint arguments;

    if (!launch->program->scans) {
        const int column = request->plan->steps[launch->bundle.steps[0]].column;
        return clr_passes_start(passes, launch->program, request->columns[column]->values,
                                range->first, 0, range->rows, status);
    }
    if (set_arguments(request, launch, lookups, range, &arguments, status) != CLR_OK)
        return status->code;
    return clr_passes_start_rows(passes, launch->program, arguments, range->rows, status);
}

/* Whether a launch is one of those that always are, or, if_reals, of those that turned out to be
   needed. */
static bool is_due(const struct clr_scan_request *request, const struct clr_scan_launch *launch,
                   bool if_reals)
{
    const struct clr_scan_step *step = &request->plan->steps[launch->bundle.steps[0]];

    return step->if_reals == if_reals &&
           (!if_reals || request->plan->scan->tallies[step->tally].state.non_integers > 0);
}

enum clr_code clr_scan_launches_start(const struct clr_scan_request *request, bool if_reals,
                                      struct clr_device_work *work, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    struct clr_scan_slot *slot = request->slot;
    const struct clr_scan *scan = request->plan->scan;
    const struct clr_row_ranges ranges = clr_scan_ranges(scan);
    const struct clr_kept_lookup *lookups[CLR_MOST_LOOKUPS];
    bool any = false;
    int i, j;

    for (i = 0; i < slot->launch_count; i++) {
        slot->started[i] = ranges.count > 0 && is_due(request, &slot->launches[i], if_reals);
        any = any || slot->started[i];
    }
    if (!any || clr_lookup_cache_bring(&scanner->lookup_cache, request->device, scanner->queue,
                                       scan, lookups, work, status) != CLR_OK)
        return status->code;
    for (i = 0; i < slot->launch_count; i++) {
        for (j = 0; slot->started[i] && j < ranges.count; j++) {
            if (start_launch(request, &slot->launches[i], lookups, &ranges.ranges[j], status) !=
                CLR_OK)
                return status->code;
        }
    }
    return clr_passes_fetch(&slot->passes, status);
}

/* Adds the result of a step of one range of rows, which is the batch's of that number, to the state
   of its tally. What the rows were is counted anew with the first range: the plan knew it of whole
   columns. */
static void finish_step(const struct clr_scan_request *request, int step_number, bool counts,
                        bool is_first, int number)
{
    struct clr_scan_slot *slot = request->slot;
    const struct clr_scan_step *step = &request->plan->steps[step_number];
    struct clr_state *state = &request->plan->scan->tallies[step->tally].state;
    struct clr_row_counts rows;

    clr_passes_take(&slot->passes, number, step->operation, step->element, state, 0);
    if (!counts)
        return;
    rows = clr_passes_counts(&slot->passes, number);
    slot->unsure = slot->unsure || rows.unsure;
    slot->inexact = slot->inexact || rows.inexact;
    if (step_number == 0 || request->plan->steps[step_number - 1].tally != step->tally) {
        state->count = rows.counted + (is_first ? 0 : state->count);
        state->non_integers = rows.non_integers + (is_first ? 0 : state->non_integers);
    }
}

enum clr_code clr_scan_launches_finish(const struct clr_scan_request *request,
                                       struct clr_device_work *work, struct clr_status *status)
{
    struct clr_scan_slot *slot = request->slot;
    const struct clr_row_ranges ranges = clr_scan_ranges(request->plan->scan);
    int i, j, k, number = 0;

    if (slot->passes.started == 0)
        return CLR_OK;
    if (clr_passes_wait(&slot->passes, work, status) != CLR_OK)
        return status->code;
    for (i = 0; i < slot->launch_count; i++) {
        const struct clr_scan_launch *launch = &slot->launches[i];
        for (j = 0; slot->started[i] && j < ranges.count; j++)
            for (k = 0; k < launch->bundle.count; k++)
                finish_step(request, launch->bundle.steps[k], launch->program->scans, j == 0,
                            number++);
    }
    return CLR_OK;
}
