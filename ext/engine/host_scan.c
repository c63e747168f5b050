#include "engine/host_scan.h"

#include "base/memory.h"
#include "numeric/evaluate.h"

/* Less than this for each thread is not worth starting it; less than that, no watching either. */
enum { ROWS_PER_THREAD = 65536, ROWS_ALONE = 1 << 20 };

/* What the threads work on: parts of the rows, each with states of its own. */
struct work {
    const struct clr_scan *scan;
    int parts;
    struct clr_state *states; /* tally_count for each part */
    enum clr_scan_outcome *outcomes;
};

/* Parts start at multiples of this, so that no block but the last one is short. */
static const size_t step = 4096;

static size_t find_start(const struct work *work, int part)
{
    size_t steps = (work->scan->rows + step - 1) / step;
    size_t start = steps * (size_t)part / (size_t)work->parts * step;
    return start < work->scan->rows ? start : work->scan->rows;
}

static void run_part(void *argument, int part, const atomic_bool *stop)
{
    struct work *work = argument;

    work->outcomes[part] =
        clr_evaluate(work->scan, find_start(work, part), find_start(work, part + 1),
                     work->states + (size_t)part * (size_t)work->scan->tally_count, stop);
}

/* The most telling outcome of the parts: a value that is unsure settles the scan. */
static enum clr_scan_outcome merge_outcomes(const struct work *work)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int part;

    for (part = 0; part < work->parts; part++) {
        if (work->outcomes[part] == CLR_SCAN_UNSURE)
            return CLR_SCAN_UNSURE;
        if (work->outcomes[part] != CLR_SCAN_DONE)
            outcome = work->outcomes[part];
    }
    return outcome;
}

static void merge_states(const struct work *work, struct clr_scan *scan)
{
    int count = scan->tally_count, part, i;

    for (i = 0; i < count; i++)
        clr_state_clear(&scan->tallies[i].state);
    for (part = 0; part < work->parts; part++)
        for (i = 0; i < count; i++)
            clr_state_merge(&scan->tallies[i].state, &work->states[part * count + i]);
}

static enum clr_scan_outcome run(struct work *work, struct clr_scan *scan,
                                 const struct clr_watch *watch)
{
    atomic_bool stop = false;
    enum clr_scan_outcome outcome;

    if (work->parts == 1 && scan->rows < ROWS_ALONE)
        run_part(work, 0, &stop);
    else if (!clr_team_run(work->parts, run_part, work, watch))
        return CLR_SCAN_STOPPED;
    outcome = merge_outcomes(work);
    if (outcome == CLR_SCAN_DONE)
        merge_states(work, scan);
    return outcome;
}

enum clr_scan_outcome clr_host_scan(struct clr_scan *scan, const struct clr_watch *watch)
{
    size_t most = scan->rows / ROWS_PER_THREAD + 1;
    int team = clr_team_size();
    struct work work = {.scan = scan, .parts = most < (size_t)team ? (int)most : team};
    size_t parts = (size_t)work.parts;
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;

    work.states = clr_memory_alloc(parts * (size_t)scan->tally_count * sizeof *work.states + 1);
    work.outcomes = clr_memory_alloc(parts * sizeof *work.outcomes);
    if (work.states != NULL && work.outcomes != NULL)
        outcome = run(&work, scan, watch);
    clr_memory_free(work.states);
    clr_memory_free(work.outcomes);
    return outcome;
}
