#include "engine/operations/resident_bins.h"

#include "base/memory.h"
#include "engine/columns/resident_private.h"
#include "engine/operations/request.h"
#include "engine/operations/resident_scan.h"
#include "numeric/bins/bin_bounds.h"
#include "numeric/scan/whole_columns.h"
#include "opencl/bins/binner.h"

#include <string.h>

/* The counting of the values of the resident that the request holds. */
struct bins_request {
    struct clr_request request;
    struct clr_bin_bounds bounds;
    uint64_t counts[];
};

static struct bins_request *bins_of(struct clr_task *task)
{
    return (struct bins_request *)(void *)task;
}

static void clear_bins(struct clr_task *task)
{
    clr_bin_bounds_clear(&bins_of(task)->bounds);
}

static bool step_build(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    clr_module_open(device, &clr_binner_kind, &task->log, status);
    return false;
}

static bool step_count(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct bins_request *bins = bins_of(task);

    clr_binner_count(device, clr_resident_of(bins->request.held)->copy, &bins->bounds, bins->counts,
                     &bins->request.work, status);
    return false;
}

static const struct clr_request_kind bins_kind = {
    .what = "a histogram",
    .turn = CLR_TASK_URGENT,
    .step = step_count,
    .clear = clear_bins,
    .module = &clr_binner_kind,
    .build = step_build,
};

size_t clr_resident_bins_memory(const struct clr_bins *bins)
{
    return ((size_t)bins->count + 2) * sizeof(uint64_t) + clr_bin_bounds_size(bins->count);
}

/* Begins the counting of a shard. *begun is NULL unless it returns CLR_SCAN_DONE. */
static enum clr_scan_outcome begin(struct clr_worker *worker, struct clr_resident *resident,
                                   const struct clr_bins *bins, struct bins_request **begun,
                                   struct clr_status *status)
{
    const size_t counts_size = ((size_t)bins->count + 2) * sizeof *(*begun)->counts;
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    const uint8_t kind = clr_kind_wide(resident->kind);
    struct bins_request *made;

    *begun = NULL;
    if (kind != CLR_TAG_INTEGER && kind != CLR_TAG_REAL) {
        clr_status_set(status, CLR_INVALID, 0, "the column is not of one type of numbers");
        return CLR_SCAN_FAILED;
    }
    if (clr_resident_state(resident) != CLR_RESIDENT_READY)
        return CLR_SCAN_NOT_NOW;
    made = clr_request_new(&bins_kind, sizeof *made + counts_size, worker, &resident->task, status);
    if (made == NULL)
        return CLR_SCAN_FAILED;
    if (clr_bin_bounds_init(&made->bounds, bins,
                            kind == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER))
        outcome = clr_request_begin(&made->request);
    else
        clr_status_set(status, CLR_NOMEM, 0, "no memory for %s", bins_kind.what);
    if (outcome == CLR_SCAN_DONE)
        *begun = made;
    else
        clr_request_release(&made->request);
    return outcome;
}

enum clr_scan_outcome clr_resident_bins(const struct clr_sharded *copy, const struct clr_bins *bins,
                                        uint64_t *counts, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_device_work *work,
                                        struct clr_status *status)
{
    const struct clr_division *division = clr_sharded_division(copy);
    struct bins_request *begun[CLR_MOST_SHARDS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE, one;
    int64_t i;
    int s;

    for (s = 0; s < division->count; s++) {
        one = begin(division->shards[s].device.worker, clr_sharded_resident(copy, s), bins,
                    &begun[s], status);
        if (outcome != CLR_SCAN_FAILED && one != CLR_SCAN_DONE)
            outcome = one;
    }
    memset(counts, 0, ((size_t)bins->count + 2) * sizeof *counts);
    for (s = 0; s < division->count; s++) {
        if (begun[s] == NULL)
            continue;
        if (outcome == CLR_SCAN_DONE)
            outcome = clr_request_end(&begun[s]->request, timeout_ms, watch, work, status);
        for (i = 0; outcome == CLR_SCAN_DONE && i < bins->count + 2; i++)
            counts[i] += begun[s]->counts[i];
        clr_request_release(&begun[s]->request);
    }
    return outcome;
}

/* Returns the kind of all shards of a copy, with all bytes, or CLR_TAG_MIXED if they are of
   several. */
static uint8_t kind_of(const struct clr_sharded *copy)
{
    const uint8_t kind = clr_sharded_resident(copy, 0)->kind;
    int s;

    for (s = 1; s < clr_sharded_division(copy)->count; s++) {
        if (clr_sharded_resident(copy, s)->kind != kind)
            return CLR_TAG_MIXED;
    }
    return clr_kind_wide(kind);
}

/* Finds the copies whose rows are all the values of each question, in one type. Returns false if
   there are none, or the bins are for the host. */
static bool find_copies(const struct clr_division *division, const struct clr_scan *scan,
                        struct clr_sharded *const *copies, const struct clr_sharded **found)
{
    uint8_t kinds[CLR_MOST_COLUMNS];
    int columns[2], i;

    for (i = 0; i < scan->column_count; i++)
        kinds[i] = kind_of(copies[i]);
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (!clr_tally_takes_whole_columns(scan, kinds, &scan->tallies[question->tally], columns) ||
            (kinds[columns[0]] != CLR_TAG_INTEGER && kinds[columns[0]] != CLR_TAG_REAL))
            return false;
        /* A bin's bounds take the host as long as to count a few values. If there is too little
           memory for the host as well, it is the host that says so. */
        if ((uint64_t)question->bins.count > scan->rows ||
            clr_resident_bins_memory(&question->bins) >
                scan->values_memory / (uint64_t)division->count)
            return false;
        found[i] = copies[columns[0]];
    }
    return true;
}

/* The tallies alone, for which nothing need be kept. */
static enum clr_scan_outcome scan_tallies(const struct clr_division *division,
                                          const struct clr_scan *scan,
                                          struct clr_sharded *const *copies, int64_t timeout_ms,
                                          const struct clr_watch *watch,
                                          struct clr_device_work *work, struct clr_status *status)
{
    struct clr_scan tallies_only = *scan;
    enum clr_scan_outcome outcome;
    int i;

    tallies_only.question_count = 0;
    tallies_only.tallies =
        clr_memory_alloc((size_t)scan->tally_count * sizeof *tallies_only.tallies);
    if (tallies_only.tallies == NULL) {
        clr_status_set(status, CLR_NOMEM, 0, "no memory for a scan");
        return CLR_SCAN_FAILED;
    }
    for (i = 0; i < scan->tally_count; i++) {
        tallies_only.tallies[i] = scan->tallies[i];
        tallies_only.tallies[i].operations &= ~(CLR_KEEP | CLR_BYTES);
    }
    outcome = clr_resident_scan(division, &tallies_only, copies, timeout_ms, watch, work, status);
    for (i = 0; i < scan->tally_count && outcome == CLR_SCAN_DONE; i++)
        scan->tallies[i].state = tallies_only.tallies[i].state;
    clr_memory_free(tallies_only.tallies);
    return outcome;
}

enum clr_scan_outcome clr_resident_histograms(const struct clr_division *division,
                                              struct clr_scan *scan,
                                              struct clr_sharded *const *copies, int64_t timeout_ms,
                                              const struct clr_watch *watch,
                                              struct clr_device_work *work,
                                              struct clr_status *status)
{
    const struct clr_sharded *found[CLR_MOST_QUESTIONS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    if (!find_copies(division, scan, copies, found))
        return CLR_SCAN_NOT_NOW;
    for (i = 0; i < scan->question_count && outcome == CLR_SCAN_DONE; i++)
        outcome = clr_resident_bins(found[i], &scan->questions[i].bins, scan->questions[i].counts,
                                    timeout_ms, watch, work, status);
    return outcome == CLR_SCAN_DONE
               ? scan_tallies(division, scan, copies, timeout_ms, watch, work, status)
               : outcome;
}
