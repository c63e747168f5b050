#include "engine/host/host_scan.h"

#include "base/memory.h"
#include "engine/host/questions.h"
#include "numeric/scan/evaluate.h"

/* Less than this for each thread is not worth starting it; less than that, no watching either. */
enum { ROWS_PER_THREAD = 65536, ROWS_ALONE = 1 << 20 };

/* What the threads work on: parts of the rows, each with states and shares of its own. */
struct work {
    const struct clr_scan *scan;
    int parts;
    struct clr_state *states; /* tally_count for each part */
    struct clr_share *shares; /* likewise; NULL: nothing is kept */
    enum clr_scan_outcome *outcomes;
    struct clr_column *rooms[CLR_MOST_TALLIES]; /* for the values that a tally keeps, or NULL */
    struct clr_column *other_rooms[CLR_MOST_TALLIES]; /* for addresses, likewise */
    atomic_int_fast64_t left;                         /* bytes that may be put into them */
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
    const size_t first = (size_t)part * (size_t)work->scan->tally_count;

    work->outcomes[part] = clr_evaluate(work->scan, find_start(work, part),
                                        find_start(work, part + 1), work->states + first,
                                        work->shares == NULL ? NULL : work->shares + first, stop);
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

/* Gives each part its place in a room for the values of all rows, of which those that are not
   needed cost address space only. */
static bool make_rooms(struct work *work)
{
    const struct clr_scan *scan = work->scan;
    int i, part;

    for (i = 0; i < scan->tally_count; i++) {
        if (!(scan->tallies[i].operations & CLR_KEEP))
            continue;
        work->rooms[i] = clr_column_new(scan->rows);
        if (work->rooms[i] == NULL)
            return false;
        if (scan->tallies[i].operations & CLR_BYTES) {
            work->other_rooms[i] = clr_column_new(scan->rows);
            if (work->other_rooms[i] == NULL)
                return false;
        }
        for (part = 0; part < work->parts; part++) {
            struct clr_share *share = &work->shares[part * scan->tally_count + i];
            share->room = work->rooms[i]->values + find_start(work, part);
            share->room_end = work->rooms[i]->values + find_start(work, part + 1);
            share->left = &work->left;
            if (work->other_rooms[i] != NULL)
                share->other_room = work->other_rooms[i]->values + find_start(work, part);
        }
    }
    return true;
}

static void free_rooms(struct work *work)
{
    int i;

    for (i = 0; i < work->scan->tally_count; i++) {
        clr_column_release(work->rooms[i]);
        clr_column_release(work->other_rooms[i]);
    }
}

static enum clr_scan_outcome run(struct work *work, struct clr_scan *scan,
                                 const struct clr_watch *watch)
{
    const bool alone = work->parts == 1 && scan->rows < ROWS_ALONE;
    atomic_bool stop = false;
    enum clr_scan_outcome outcome;

    if (alone)
        run_part(work, 0, &stop);
    else if (!clr_team_run(work->parts, run_part, work, watch))
        return CLR_SCAN_STOPPED;
    outcome = merge_outcomes(work);
    if (outcome == CLR_SCAN_DONE)
        merge_states(work, scan);
    if (outcome == CLR_SCAN_DONE && scan->question_count > 0)
        outcome = clr_questions_answer(scan, work->shares, work->parts, alone,
                                       (uint64_t)atomic_load(&work->left), watch);
    return outcome;
}

enum clr_scan_outcome clr_host_scan(struct clr_scan *scan, const struct clr_watch *watch)
{
    size_t most = scan->rows / ROWS_PER_THREAD + 1;
    int team = clr_team_size();
    struct work work = {.scan = scan, .parts = most < (size_t)team ? (int)most : team};
    size_t states = (size_t)work.parts * (size_t)scan->tally_count;
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    const bool keeps = scan->question_count > 0;

    atomic_init(&work.left,
                scan->values_memory < INT64_MAX ? (int64_t)scan->values_memory : INT64_MAX);
    work.states = clr_memory_alloc(states * sizeof *work.states + 1);
    work.outcomes = clr_memory_alloc((size_t)work.parts * sizeof *work.outcomes);
    if (keeps)
        work.shares = clr_memory_alloc_zero(states * sizeof *work.shares);
    if (work.states != NULL && work.outcomes != NULL &&
        (!keeps || (work.shares != NULL && make_rooms(&work))))
        outcome = run(&work, scan, watch);
    free_rooms(&work);
    clr_memory_free(work.states);
    clr_memory_free(work.outcomes);
    clr_memory_free(work.shares);
    return outcome;
}
