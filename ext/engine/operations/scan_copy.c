#include "engine/operations/scan_copy.h"

#include "engine/columns/resident_private.h"
#include "numeric/filter/row_ranges.h"
#include "numeric/scan/lookup_results.h"

/* Blocks that are left out between two ranges: about as many as take a GPU longer than a launch. */
enum { LEAST_GAP = 1024 };

struct clr_scan clr_scan_of_shard(const struct clr_scan *scan, const struct clr_division *division,
                                  int shard)
{
    struct clr_scan part = *scan;

    if (division->count > 1) {
        part.rows = division->shards[shard].rows;
        part.blocks = NULL;
    }
    return part;
}

void clr_scan_copy_init(struct clr_scan_copy *copy, const struct clr_scan *scan,
                        struct clr_resident *const *residents, int most_ranges)
{
    int i;

    copy->scan = *scan;
    for (i = 0; i < scan->instruction_count; i++)
        copy->instructions[i] = scan->instructions[i];
    for (i = 0; i < scan->constant_count; i++)
        copy->constants[i] = scan->constants[i];
    for (i = 0; i < scan->tally_count; i++)
        copy->tallies[i] = scan->tallies[i];
    for (i = 0; i < scan->column_count; i++) {
        copy->residents[i] = residents[i];
        clr_task_retain(&residents[i]->task);
        copy->columns[i] = residents[i]->copy;
    }
    for (i = 0; i < scan->lookup_count; i++) {
        copy->lookups[i] = scan->lookups[i];
        copy->lookups[i].ranked = NULL; /* the caller's, as are their bytes */
        clr_lookup_results_retain(scan->lookups[i].results);
    }
    clr_row_ranges_find(scan, LEAST_GAP, most_ranges, &copy->ranges);
    copy->scan.ranges = &copy->ranges;
    copy->scan.blocks = NULL; /* the caller's */
    copy->scan.lookups = copy->lookups;
    copy->scan.instructions = copy->instructions;
    copy->scan.constants = copy->constants;
    copy->scan.tallies = copy->tallies;
    copy->scan.columns = NULL;
    copy->scan.grouping = NULL; /* the caller's */
}

void clr_scan_copy_clear(struct clr_scan_copy *copy)
{
    int i;

    for (i = 0; i < copy->scan.column_count; i++)
        clr_task_release(&copy->residents[i]->task);
    for (i = 0; i < copy->scan.lookup_count; i++)
        clr_lookup_results_release(copy->lookups[i].results);
}
