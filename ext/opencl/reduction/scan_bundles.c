#include "opencl/reduction/scan_bundles.h"

_Static_assert(CLR_MOST_COLUMNS <= 32, "a set of columns is a mask");

static uint32_t find_columns(const struct clr_scan *scan, const struct clr_scan_step *step)
{
    bool used[CLR_MOST_INSTRUCTIONS];
    uint32_t columns = 0;
    int i;

    clr_scan_find_used(scan, &scan->tallies[step->tally], used);
    for (i = 0; i < scan->instruction_count; i++) {
        const enum clr_opcode opcode = scan->instructions[i].opcode;
        if (used[i] && (opcode == CLR_OP_COLUMN || opcode == CLR_OP_LOOKUP))
            columns |= 1u << scan->instructions[i].a;
    }
    return columns;
}

int clr_scan_bundles(const struct clr_scan_plan *plan,
                     struct clr_scan_bundle bundles[CLR_MOST_SCAN_STEPS])
{
    uint32_t columns[CLR_MOST_SCAN_STEPS]; /* of steps not yet in a bundle that may share one */
    const struct clr_scan_step *steps = plan->steps;
    bool done[CLR_MOST_SCAN_STEPS] = {false};
    int i, j, count = plan->count, found = 0;

    for (i = 0; i < count; i++) {
        bool alone = steps[i].if_reals || steps[i].whole;
        columns[i] = alone ? 0 : find_columns(plan->scan, &steps[i]);
    }
    for (i = 0; i < count; i++) {
        struct clr_scan_bundle *bundle = &bundles[found];
        uint32_t shared = columns[i];
        if (done[i])
            continue;
        *bundle = (struct clr_scan_bundle){.count = 1, .steps = {i}};
        found++;
        for (j = i + 1; j < count && bundle->count < CLR_MOST_BUNDLE; j++) {
            if (done[j] || (columns[j] & shared) == 0)
                continue;
            bundle->steps[bundle->count++] = j;
            shared |= columns[j];
            done[j] = true;
        }
    }
    return found;
}
