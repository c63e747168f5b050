#include "opencl/scan/scanner.h"

#include "base/memory.h"
#include "numeric/scan/evaluate.h"
#include "numeric/values/column.h"
#include "opencl/core/calls.h"
#include "opencl/reduction/passes.h"
#include "opencl/reduction/reducer.h"
#include "opencl/scan/row_programs.h"

#include <string.h>

/*
 * Expressions are evaluated within the reduction, rather than gathered in memory first: that moves
 * fewer bytes than writing and reading every argument would, it needs no memory, however many the
 * rows, and the host has nothing to wait for in between. Steps that share a column share a pass.
 */
struct scan_launch {
    struct clr_scan_bundle bundle;
    const struct clr_program *program;  /* of a scan, or of one step's column as it lies there */
    struct clr_row_arguments arguments; /* of a scan */
};

/* The program of a bundle. */
struct scan_program {
    struct clr_row_program row; /* its trial is a struct clr_scan_trial */
    struct clr_program program;
};

/* A scan under way, and what it needs for itself: the launches and results of one. */
struct clr_scan_slot {
    bool is_taken;
    struct clr_passes passes; /* opened when they are first needed */
    uint64_t scan;            /* by its number, which its programs have as well */
    struct scan_launch launches[CLR_MOST_SCAN_STEPS];
    bool started[CLR_MOST_SCAN_STEPS]; /* of the launches, those of the batch under way */
    int launch_count;
    bool unsure, inexact;
};

struct clr_scanner {
    struct clr_row_programs programs; /* the queue is that of all slots: a lookup that one has sent
                                         is there for the next */
    cl_ulong ended;                   /* the last batch there, in the device's nanoseconds */
    struct clr_scan_slot slots[CLR_SCAN_SLOTS];
    /* Of the scan that is being begun. */
    struct clr_scan_key key;
    struct clr_row_text text;
    struct clr_scan_bundle bundles[CLR_MOST_SCAN_STEPS];
};

/* A planned scan with its columns, as the functions of scanners hand it on. */
struct scan_request {
    struct clr_device *device;
    struct clr_scanner *scanner;
    struct clr_scan_slot *slot;
    const struct clr_scan_plan *plan;
    struct clr_resident_column *const *columns;
};

/* ---- What is kept with the device. */

static void release_program(struct clr_row_program *program)
{
    clr_program_release(&((struct scan_program *)(void *)program)->program);
}

static void release(struct clr_device_part *attachment)
{
    struct clr_scanner *scanner = (struct clr_scanner *)(void *)attachment;
    int i;

    for (i = 0; i < CLR_SCAN_SLOTS; i++)
        clr_passes_close(&scanner->slots[i].passes);
    clr_row_programs_close(&scanner->programs);
}

static const struct clr_row_programs_kind scanner_kind;

static struct clr_scanner *scanner_of(const struct clr_device *device)
{
    return clr_device_find(device, &scanner_kind.part);
}

/* The programs of scans under way stay: of those from the oldest one on. */
static void keep_programs(struct clr_scanner *scanner)
{
    uint64_t oldest = UINT64_MAX;
    int i;

    for (i = 0; i < CLR_SCAN_SLOTS; i++) {
        if (scanner->slots[i].is_taken && scanner->slots[i].scan < oldest)
            oldest = scanner->slots[i].scan;
    }
    scanner->programs.kept_from = oldest;
}

/* Takes a free slot for the scan that is being begun. */
static enum clr_code take_slot(struct scan_request *request, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    struct clr_scan_slot *slot = scanner->slots;

    while (slot->is_taken)
        slot++;
    if (slot->passes.queue == NULL &&
        clr_passes_open(&slot->passes, request->device->context, scanner->programs.queue,
                        &request->device->info, CLR_MOST_SCAN_STEPS, status) != CLR_OK)
        return status->code;
    slot->passes.ended = &scanner->ended;
    slot->is_taken = true;
    slot->scan = ++scanner->programs.scan;
    slot->launch_count = 0;
    slot->unsure = slot->inexact = false;
    keep_programs(scanner);
    request->slot = slot;
    return CLR_OK;
}

/* Gives the slot back after all went well, or after what passes, when nothing is left under way. */
static void leave_slot(struct scan_request *request, struct clr_status *status)
{
    if (status->code == CLR_NOMEM)
        clr_passes_recover(&request->slot->passes, status);
    request->slot->is_taken = false;
    keep_programs(request->scanner);
}

/* ---- The launches of a scan, from their arguments to the states that take their results. */

static enum clr_code start_launch(const struct scan_request *request,
                                  const struct scan_launch *launch,
                                  const struct clr_kept_lookup *const *lookups,
                                  const struct clr_row_range *range, struct clr_status *status)
{
    struct clr_passes *passes = &request->slot->passes;
    struct clr_argument list[CLR_MOST_ROW_ARGUMENTS + 2 + CLR_PASSES_ARGUMENTS];
    const cl_ulong first = range->first, rows = range->rows;
    struct clr_row_bounds bounds;
    cl_uint count;

    if (!launch->program->scans) {
        const int column = request->plan->steps[launch->bundle.steps[0]].column;
        return clr_passes_start(passes, launch->program, request->columns[column]->values,
                                range->first, 0, range->rows, status);
    }
    /* What the generated text calls ROW_FORMALS, and the rows. */
    count = clr_row_arguments_list(&launch->arguments, request->plan->scan, request->columns,
                                   lookups, &bounds, list);
    list[count++] = CLR_VALUE(first);
    list[count++] = CLR_VALUE(rows);
    return clr_passes_start_rows(passes, launch->program, list, count, range->rows, status);
}

/* Whether a launch is one of those that always are, or, if_reals, of those that turned out to be
   needed. */
static bool is_due(const struct scan_request *request, const struct scan_launch *launch,
                   bool if_reals)
{
    const struct clr_scan_step *step = &request->plan->steps[launch->bundle.steps[0]];

    return step->if_reals == if_reals &&
           (!if_reals || request->plan->scan->tallies[step->tally].state.non_integers > 0);
}

/*
 * Starts those launches of the slot that are due, and the transfer of their results, after it has
 * brought the lookups: if_reals, those that the results of the others have shown to be needed.
 * Increases work by the bytes that were sent. Failure: CLR_NOMEM or CLR_DEVICE.
 */
static enum clr_code start_launches(const struct scan_request *request, bool if_reals,
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
    if (!any ||
        clr_lookup_cache_bring(&scanner->programs.lookup_cache, request->device,
                               scanner->programs.queue, scan, lookups, work, status) != CLR_OK)
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
static void finish_step(const struct scan_request *request, int step_number, bool counts,
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

/* Waits for the results of what was started, if anything was, and adds them to the states of the
   tallies. Increases work. Failure: CLR_NOMEM or CLR_DEVICE. */
static enum clr_code finish_launches(const struct scan_request *request,
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
        const struct scan_launch *launch = &slot->launches[i];
        for (j = 0; slot->started[i] && j < ranges.count; j++)
            for (k = 0; k < launch->bundle.count; k++)
                finish_step(request, launch->bundle.steps[k], launch->program->scans, j == 0,
                            number++);
    }
    return CLR_OK;
}

/* ---- Programs: found, or requested. */

/* Of a scan, the key is the bundle's. */
static void add_launch(struct scan_request *request, const struct clr_scan_bundle *bundle,
                       const struct clr_program *program)
{
    struct clr_scan_slot *slot = request->slot;
    struct scan_launch *launch = &slot->launches[slot->launch_count++];

    launch->bundle = *bundle;
    launch->program = program;
    if (program->scans)
        launch->arguments = request->scanner->key.row.arguments;
}

/* Has the bundle's steps launched one by one. Returns whether that can be done: if all of them
   reduce columns as they lie there. */
static bool launch_apart(struct scan_request *request, const struct clr_scan_bundle *bundle)
{
    int i;

    for (i = 0; i < bundle->count; i++) {
        const struct clr_scan_step *step = &request->plan->steps[bundle->steps[i]];
        if (step->column < 0 ||
            !clr_reducer_program(request->device, step->operation, step->element)->built)
            return false;
    }
    for (i = 0; i < bundle->count; i++) {
        const struct clr_scan_step *step = &request->plan->steps[bundle->steps[i]];
        const struct clr_scan_bundle alone = {.count = 1, .steps = {bundle->steps[i]}};
        add_launch(request, &alone,
                   clr_reducer_program(request->device, step->operation, step->element));
    }
    return true;
}

/* Finds a bundle's program, or requests it; NULL if its text would be too long, or while the scans
   under way have all the room for programs. */
static enum clr_code find_in_cache(struct scan_request *request,
                                   const struct clr_scan_bundle *bundle,
                                   struct scan_program **found, struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;

    clr_scan_key(&scanner->key, request->plan, bundle);
    *found =
        (struct scan_program *)(void *)clr_row_programs_find(&scanner->programs, &scanner->key.row);
    if (*found != NULL)
        return CLR_OK;
    clr_scan_text(&scanner->text, &scanner->key);
    if (scanner->text.complete)
        *found = (struct scan_program *)(void *)clr_row_programs_add(
            &scanner->programs, sizeof **found, clr_scan_trial_new(request->plan, bundle),
            &scanner->key.row, status);
    return status->code;
}

/* Finds the program of a bundle, or those of its steps; *ready is set to false if there are none
   now. */
static enum clr_code find_program(struct scan_request *request,
                                  const struct clr_scan_bundle *bundle, bool *ready,
                                  bool *requested, struct clr_status *status)
{
    struct scan_program *found;

    if (bundle->count == 1 && request->plan->steps[bundle->steps[0]].column >= 0) {
        *ready = launch_apart(request, bundle) && *ready;
        return CLR_OK;
    }
    if (find_in_cache(request, bundle, &found, status) != CLR_OK)
        return status->code;
    if (found != NULL && found->row.phase == CLR_ROW_PROGRAM_BUILT) {
        add_launch(request, bundle, &found->program);
        return CLR_OK;
    }
    *requested = *requested || (found != NULL && found->row.phase == CLR_ROW_PROGRAM_REQUESTED);
    *ready = launch_apart(request, bundle) && *ready;
    return CLR_OK;
}

static enum clr_code find_programs(struct scan_request *request, bool *ready, bool *requested,
                                   struct clr_status *status)
{
    struct clr_scanner *scanner = request->scanner;
    int i, count = clr_scan_bundles(request->plan, scanner->bundles);

    *ready = true;
    for (i = 0; i < count; i++) {
        if (find_program(request, &scanner->bundles[i], ready, requested, status) != CLR_OK)
            return status->code;
    }
    return CLR_OK;
}

/* ---- The examination of a scan's program. */

/* Returns the trial's number of the tally of the bundle's step number i, after adding it if need
   be. */
static int take_tally(struct clr_scan_trial *trial, const struct clr_scan_plan *plan,
                      const struct clr_scan_bundle *bundle, int i)
{
    const int tally = plan->steps[bundle->steps[i]].tally;
    int j;

    for (j = 0; j < i; j++) {
        if (plan->steps[bundle->steps[j]].tally == tally)
            return trial->plan.steps[j].tally;
    }
    trial->tallies[trial->made.scan.tally_count] = plan->scan->tallies[tally];
    return trial->made.scan.tally_count++;
}

struct clr_scan_trial *clr_scan_trial_new(const struct clr_scan_plan *plan,
                                          const struct clr_scan_bundle *bundle)
{
    struct clr_scan_trial *trial = clr_memory_alloc_zero(sizeof *trial);
    int i;

    if (trial == NULL)
        return NULL;
    clr_trial_scan_init(&trial->made, plan->scan, plan->kinds);
    trial->made.scan.tallies = trial->tallies;
    trial->plan.scan = &trial->made.scan;
    trial->plan.queued = plan->queued;
    memcpy(trial->plan.kinds, plan->kinds, sizeof plan->kinds);
    trial->plan.count = bundle->count;
    for (i = 0; i < bundle->count; i++) {
        trial->plan.steps[i] = plan->steps[bundle->steps[i]];
        trial->plan.steps[i].if_reals = false;
        trial->plan.steps[i].tally = take_tally(trial, plan, bundle, i);
    }
    return trial;
}

/* Whether what was added as doubles is the same. */
static bool same_reals(const struct clr_sum *a, const struct clr_sum *b)
{
    struct clr_sum sums[2] = {*a, *b};
    double rounded[2];
    int i;

    for (i = 0; i < 2; i++) {
        sums[i].integer = (struct clr_int192){0, 0, 0};
        rounded[i] = clr_sum_round(&sums[i], 1);
    }
    return memcmp(&rounded[0], &rounded[1], sizeof rounded[0]) == 0;
}

/* Whether a step found what the host did. */
static bool same_step(const struct clr_scan_step *step, const struct clr_state *found,
                      const struct clr_state *expected)
{
    if (found->count != expected->count || found->non_integers != expected->non_integers)
        return false;
    if (!step->takes)
        return true;
    if (step->operation == CLR_EXTREMES)
        return step->element == CLR_REAL
                   ? clr_test_same_range(&found->reals, &expected->reals)
                   : clr_test_same_range(&found->integers, &expected->integers);
    return step->element == CLR_REAL ? same_reals(&found->sum, &expected->sum)
                                     : memcmp(&found->sum.integer, &expected->sum.integer,
                                              sizeof found->sum.integer) == 0;
}

static bool same(const struct clr_scan_trial *trial, enum clr_scan_outcome outcome, bool unsure,
                 const struct clr_state *expected)
{
    int i;

    if (unsure || outcome == CLR_SCAN_UNSURE)
        return unsure == (outcome == CLR_SCAN_UNSURE);
    for (i = 0; i < trial->plan.count; i++) {
        const struct clr_scan_step *step = &trial->plan.steps[i];
        if (!same_step(step, &trial->tallies[step->tally].state, &expected[step->tally]))
            return false;
    }
    return true;
}

static enum clr_code compare(struct clr_scan_trial *trial, const struct clr_scan_run *run,
                             const struct clr_trial_table *table, struct clr_status *status)
{
    struct clr_state expected[CLR_MOST_BUNDLE];
    enum clr_scan_outcome outcome;
    bool unsure = false, inexact = false;
    atomic_bool stop = false;
    int i;

    for (i = 0; i < trial->made.scan.tally_count; i++)
        clr_state_clear(&trial->tallies[i].state);
    outcome = clr_evaluate(&trial->made.scan, 0, CLR_TRIAL_ROWS, expected, NULL, &stop);
    if (outcome == CLR_SCAN_FAILED)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (run->run(run->context, &trial->plan, table->there, &unsure, &inexact, status) == CLR_OK &&
        !inexact && !same(trial, outcome, unsure, expected))
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's result of a scan differs from the host's");
    return status->code;
}

static enum clr_code run_round(struct clr_device *device, struct clr_scan_trial *trial,
                               enum clr_trial_kind kind, const struct clr_scan_run *run,
                               struct clr_status *status)
{
    const struct clr_trial_round round = {kind, CLR_TYPE(CLR_TAG_NULL) | CLR_TYPE(CLR_TAG_INTEGER) |
                                                    CLR_TYPE(CLR_TAG_REAL)};
    struct clr_trial_table table;

    if (clr_trial_table_make(device, &trial->made, &round, &table, status) == CLR_OK)
        compare(trial, run, &table, status);
    clr_trial_table_free(clr_device_unless_lost(device, status), &trial->made, &table);
    return status->code;
}

enum clr_code clr_scan_test(struct clr_device *device, struct clr_scan_trial *trial,
                            const struct clr_scan_run *run, struct clr_status *status)
{
    int kinds = CLR_TRIAL_OTHERS, kind, i;

    for (i = 0; i < trial->made.scan.column_count; i++) {
        if (clr_kind_wide(trial->plan.kinds[i]) == CLR_TAG_MIXED)
            kinds = CLR_TRIAL_ERRORS;
    }
    for (i = 0; i < trial->made.scan.lookup_count; i++) {
        if (trial->made.lookups[i].kind == CLR_TAG_MIXED)
            kinds = CLR_TRIAL_KINDS;
    }
    for (kind = 0; kind < kinds && status->code == CLR_OK; kind++)
        run_round(device, trial, (enum clr_trial_kind)kind, run, status);
    return status->code;
}

/* ---- The building of programs, which are tested before they serve. */

/* Makes the key of all of a plan's steps. */
static struct clr_scan_bundle key_of_all(struct clr_scanner *scanner,
                                         const struct clr_scan_plan *plan)
{
    struct clr_scan_bundle bundle = {.count = plan->count};
    int i;

    for (i = 0; i < plan->count; i++)
        bundle.steps[i] = i;
    clr_scan_key(&scanner->key, plan, &bundle);
    return bundle;
}

static enum clr_code compile(struct clr_device *device, struct clr_row_program *program, char **log,
                             struct clr_status *status)
{
    const struct clr_scan_trial *trial = program->trial;
    struct clr_scanner *scanner = scanner_of(device);

    key_of_all(scanner, &trial->plan);
    clr_scan_text(&scanner->text, &scanner->key);
    return clr_program_build(&((struct scan_program *)(void *)program)->program, device->context,
                             &device->info, scanner->key.steps, scanner->key.step_count,
                             scanner->text.text, log, status);
}

/* What a trial's run needs besides what it is given. */
struct trial {
    struct clr_device *device;
    const struct clr_program *program;
};

/* Runs a program for all of a plan's steps: as the function of struct clr_scan_run. */
static enum clr_code run_trial(void *context, const struct clr_scan_plan *plan,
                               struct clr_resident_column *const *columns, bool *unsure,
                               bool *inexact, struct clr_status *status)
{
    const struct trial *trial = context;
    struct clr_scanner *scanner = scanner_of(trial->device);
    struct scan_request request = {trial->device, scanner, NULL, plan, columns};
    struct clr_device_work work = {0};
    struct clr_scan_bundle bundle;

    if (take_slot(&request, status) != CLR_OK)
        return status->code;
    bundle = key_of_all(scanner, plan);
    add_launch(&request, &bundle, trial->program);
    if (start_launches(&request, false, &work, status) == CLR_OK)
        finish_launches(&request, &work, status);
    *unsure = request.slot->unsure;
    *inexact = request.slot->inexact;
    leave_slot(&request, status);
    return status->code;
}

static enum clr_code test(struct clr_device *device, struct clr_row_program *program,
                          struct clr_status *status)
{
    struct trial trial = {device, &((struct scan_program *)(void *)program)->program};
    const struct clr_scan_run run = {&trial, run_trial};

    return clr_scan_test(device, program->trial, &run, status);
}

static const struct clr_row_programs_kind scanner_kind = {
    .part = {sizeof(struct clr_scanner), "a scan", release, clr_row_programs_build},
    .compile = compile,
    .test = test,
    .release = release_program};

/* ---- All of it. */

enum clr_code clr_scanner_begin(struct clr_device *device, const struct clr_scan_plan *plan,
                                struct clr_resident_column *const *columns,
                                struct clr_scan_slot **slot, enum clr_scan_outcome *outcome,
                                bool *requested, struct clr_device_work *work,
                                struct clr_status *status)
{
    struct scan_request request = {.device = device, .plan = plan, .columns = columns};
    bool ready;

    *slot = NULL;
    *outcome = CLR_SCAN_NOT_NOW;
    *requested = false;
    request.scanner = clr_row_programs_open(device, &scanner_kind, status);
    if (request.scanner == NULL || take_slot(&request, status) != CLR_OK)
        return status->code;
    if (find_programs(&request, &ready, requested, status) == CLR_OK && ready &&
        start_launches(&request, false, work, status) == CLR_OK)
        *slot = request.slot;
    else
        leave_slot(&request, status);
    return status->code;
}

enum clr_code clr_scanner_end(struct clr_device *device, struct clr_scan_slot *slot,
                              const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns,
                              enum clr_scan_outcome *outcome, struct clr_device_work *work,
                              struct clr_status *status)
{
    struct scan_request request = {device, scanner_of(device), slot, plan, columns};

    *outcome = CLR_SCAN_NOT_NOW;
    if (finish_launches(&request, work, status) == CLR_OK && !slot->unsure &&
        start_launches(&request, true, work, status) == CLR_OK)
        finish_launches(&request, work, status);
    leave_slot(&request, status);
    if (status->code != CLR_OK)
        return status->code;
    if (slot->unsure)
        *outcome = CLR_SCAN_UNSURE;
    else if (!slot->inexact)
        *outcome = CLR_SCAN_DONE;
    return CLR_OK;
}
