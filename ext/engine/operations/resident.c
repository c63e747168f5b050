#include "engine/operations/resident.h"

#include "base/memory.h"
#include "engine/operations/request.h"
#include "numeric/filter/filter_terms.h"
#include "opencl/bins/binner.h"
#include "opencl/groups/grouper.h"
#include "opencl/scan/scanner.h"

#include <string.h>

/* ---- Shards. */

/* What is asked of all shards. */
struct question {
    struct clr_device_scan *asked;
    /* Makes the request of a shard, which is not begun yet. Returns NULL with why there is none in
     *outcome, and in the status if that is CLR_SCAN_FAILED. */
    struct clr_request *(*make)(const struct question *question, int shard,
                                enum clr_scan_outcome *outcome);
    /* Takes what a shard's request has found. */
    enum clr_scan_outcome (*take)(const struct question *question, int shard,
                                  struct clr_request *done);
    /* What differs. */
    struct clr_scan *scan;
    struct clr_group_part *const *parts;
    const struct clr_bins *bins;
    uint64_t *counts;
};

/* Begins a shard's request, or returns NULL with why there is none in *outcome. */
static struct clr_request *begin(const struct question *question, int shard,
                                 enum clr_scan_outcome *outcome)
{
    struct clr_request *made;

    *outcome = CLR_SCAN_FAILED;
    made = question->make(question, shard, outcome);
    if (made == NULL)
        return NULL;
    *outcome = CLR_SCAN_DONE;
    if (clr_worker_post(made->worker, &made->task) == CLR_READY)
        return made;
    *outcome = CLR_SCAN_NOT_NOW;
    clr_request_release(made);
    return NULL;
}

/*
 * Waits for a shard's request. Returns CLR_SCAN_DONE; CLR_SCAN_NOT_NOW if the worker builds
 * something first, and CLR_SCAN_STOPPED, after both of which it may still be under way;
 * CLR_SCAN_FAILED; or another outcome that the step has set.
 */
static enum clr_scan_outcome await(struct clr_request *request, struct clr_device_scan *asked)
{
    switch (clr_worker_await(request->worker, &request->task, asked->timeout_ms, asked->watch,
                             &asked->status)) {
    case CLR_TASK_DONE:
        break;
    case CLR_TASK_PENDING:
        return CLR_SCAN_STOPPED;
    case CLR_TASK_IDLE:
        return CLR_SCAN_NOT_NOW;
    default:
        return CLR_SCAN_FAILED;
    }
    clr_device_work_add(&asked->work, &request->work);
    return request->outcome;
}

static enum clr_scan_outcome on_each_shard(const struct question *question)
{
    struct clr_device_scan *asked = question->asked;
    struct clr_request *begun[CLR_MOST_SHARDS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE, one;
    int s;

    clr_status_clear(&asked->status);
    /* All of them, so that after the first query all devices are building what they need. */
    for (s = 0; s < asked->division->count; s++) {
        begun[s] = begin(question, s, &one);
        if (outcome != CLR_SCAN_FAILED && one != CLR_SCAN_DONE)
            outcome = one;
    }
    for (s = 0; s < asked->division->count; s++) {
        if (begun[s] == NULL)
            continue;
        if (outcome == CLR_SCAN_DONE)
            outcome = await(begun[s], asked);
        if (outcome == CLR_SCAN_DONE)
            outcome = question->take(question, s, begun[s]);
        clr_request_release(begun[s]);
    }
    asked->outcome = outcome;
    return outcome;
}

/* ---- Copies of scans, which a device's worker goes through while whoever asked for them may have
   given them up. */

/* Blocks that are left out between two ranges: about as many as take a GPU longer than a launch. */
enum { LEAST_GAP = 1024 };

struct scan_copy {
    struct clr_scan scan; /* its arrays are below, and have no columns */
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_task *residents[CLR_MOST_COLUMNS];          /* with references */
    struct clr_resident_column *columns[CLR_MOST_COLUMNS]; /* theirs */
    struct clr_instruction instructions[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_scalar constants[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_tally tallies[CLR_MOST_SCAN_TALLIES];
    struct clr_lookup lookups[CLR_MOST_LOOKUPS]; /* with references to their results */
    struct clr_row_ranges ranges;                /* in the place of its blocks */
};

/* Returns a scan of a shard's rows: of one shard with the scan's blocks, and of each of several
   with all of its rows, for blocks are of whole columns. */
static struct clr_scan scan_of_shard(const struct question *question, int shard)
{
    struct clr_scan part = *question->scan;

    if (question->asked->division->count > 1) {
        part.rows = question->asked->division->shards[shard].rows;
        part.blocks = NULL;
    }
    return part;
}

/* Copies a scan of a shard's rows, which fits: see clr_scan_plan_fits(). most_ranges: of rows, 1 or
   more. clear_scan_copy() is due. */
static void copy_scan(struct scan_copy *copy, const struct question *question,
                      const struct clr_scan *scan, int shard, int most_ranges)
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
        struct clr_resident *resident = clr_sharded_resident(question->asked->copies[i], shard);

        copy->residents[i] = clr_task_retain(&resident->task);
        copy->columns[i] = resident->copy;
        copy->kinds[i] = resident->kind;
    }
    for (i = 0; i < scan->lookup_count; i++)
        clr_lookup_copy(&copy->lookups[i], &scan->lookups[i]);
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

/* Drops the references. */
static void clear_scan_copy(struct scan_copy *copy)
{
    int i;

    for (i = 0; i < copy->scan.column_count; i++)
        clr_task_release(copy->residents[i]);
    for (i = 0; i < copy->scan.lookup_count; i++)
        clr_lookup_free(&copy->lookups[i]);
}

/* ---- Scans. */

struct scan_request {
    struct clr_request request;
    struct scan_copy copy;
    struct clr_scan_plan plan;
    struct clr_scan_slot *slot; /* NULL until the device is at it */
};

static void clear_scan(struct clr_task *task)
{
    clear_scan_copy(&((struct scan_request *)(void *)task)->copy);
}

static bool step_scan(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct scan_request *scan = (struct scan_request *)(void *)task;

    if (scan->slot != NULL) {
        scan->request.wants_build = false;
        clr_scanner_end(device, scan->slot, &scan->plan, scan->copy.columns, &scan->request.outcome,
                        &scan->request.work, status);
        return false;
    }
    clr_scanner_begin(device, &scan->plan, scan->copy.columns, &scan->slot, &scan->request.outcome,
                      &scan->request.wants_build, &scan->request.work, status);
    task->is_under_way = scan->slot != NULL;
    return task->is_under_way;
}

static const struct clr_request_kind scan_kind = {
    .what = "a scan", .turn = CLR_TASK_URGENT, .step = step_scan, .clear = clear_scan};

/* Asks for the programs of operations that reduce columns as they lie there, as far as the plan has
   such steps, and returns whether they are there. What computes, or filters, has programs of its
   own, which are tested as well: it does not wait for these. */
static bool is_ready(struct clr_worker *worker, const struct clr_scan_plan *plan)
{
    bool ready = true;
    int i;

    for (i = 0; i < plan->count; i++) {
        if (plan->steps[i].column >= 0 && clr_worker_readiness(worker, plan->steps[i].operation,
                                                               plan->steps[i].element) != CLR_READY)
            ready = false;
    }
    return ready;
}

static struct clr_request *make_scan(const struct question *question, int shard,
                                     enum clr_scan_outcome *outcome)
{
    struct clr_worker *worker = question->asked->division->shards[shard].device.worker;
    const struct clr_scan part = scan_of_shard(question, shard);
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_scan_plan plan;
    struct scan_request *made;
    int i;

    *outcome = CLR_SCAN_NOT_NOW;
    if (!clr_scan_plan_fits(&part))
        return NULL;
    for (i = 0; i < part.column_count; i++)
        kinds[i] = clr_sharded_resident(question->asked->copies[i], shard)->kind;
    clr_scan_plan(&part, kinds, &plan);
    if (!is_ready(worker, &plan))
        return NULL;
    *outcome = CLR_SCAN_FAILED;
    made = clr_request_new(&scan_kind, sizeof *made, worker, NULL, &question->asked->status);
    if (made == NULL)
        return NULL;
    /* Each step has a result of each range. */
    copy_scan(&made->copy, question, &part, shard,
              plan.count > 0 ? CLR_MOST_SCAN_STEPS / plan.count : 1);
    made->plan = plan;
    made->plan.scan = &made->copy.scan;
    return &made->request;
}

static enum clr_scan_outcome take_scan(const struct question *question, int shard,
                                       struct clr_request *done)
{
    struct scan_request *scan = (struct scan_request *)(void *)done;
    int i;

    for (i = 0; i < question->scan->tally_count; i++) {
        struct clr_state *state = &question->scan->tallies[i].state;

        /* Planning has stored there what it knew. */
        if (shard == 0)
            clr_state_clear(state);
        clr_state_merge(state, &scan->copy.tallies[i].state);
    }
    return CLR_SCAN_DONE;
}

static enum clr_scan_outcome scan_alone(struct clr_device_scan *asked, struct clr_scan *scan)
{
    const struct question question = {
        .asked = asked, .make = make_scan, .take = take_scan, .scan = scan};

    return on_each_shard(&question);
}

/* ---- Groups. */

struct group_request {
    struct clr_request request;
    struct scan_copy copy;
    struct clr_group_plan plan;
    struct clr_group_result result;
};

static void clear_group(struct clr_task *task)
{
    struct group_request *group = (struct group_request *)(void *)task;

    clear_scan_copy(&group->copy);
    clr_memory_free(group->result.records);
    clr_memory_free(group->result.spills);
}

static bool step_group(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct group_request *group = (struct group_request *)(void *)task;

    clr_grouper_run(device, &group->plan, group->copy.kinds, group->copy.columns, &group->result,
                    &group->request.outcome, &group->request.wants_build, &group->request.work,
                    status);
    /* What is doubtful is an answer too: it has been found out, and is not for later. */
    if (group->request.outcome == CLR_SCAN_NOT_NOW && group->result.doubts.any)
        group->request.outcome = CLR_SCAN_DONE;
    return false;
}

static const struct clr_request_kind group_kind = {
    .what = "groups", .turn = CLR_TASK_URGENT, .step = step_group, .clear = clear_group};

static struct clr_request *make_group(const struct question *question, int shard,
                                      enum clr_scan_outcome *outcome)
{
    const struct clr_chosen_device *device = &question->asked->division->shards[shard].device;
    const struct clr_group_plan *plan = question->parts[0]->plan;
    const struct clr_scan part = scan_of_shard(question, shard);
    struct group_request *made;

    if (!clr_grouper_fits(device->info, plan)) {
        *outcome = CLR_SCAN_NOT_NOW;
        return NULL;
    }
    made =
        clr_request_new(&group_kind, sizeof *made, device->worker, NULL, &question->asked->status);
    if (made == NULL)
        return NULL;
    copy_scan(&made->copy, question, &part, shard, CLR_MOST_LAUNCHED_RANGES);
    made->plan = *plan;
    made->plan.scan = &made->copy.scan;
    /* All is written to: memory that the process has had before is as good as one of zeros, and its
       pages are there. */
    made->result.records =
        clr_memory_alloc((size_t)plan->places * plan->stride * sizeof *made->result.records);
    if (made->result.records != NULL)
        return &made->request;
    clr_status_set(&question->asked->status, CLR_NOMEM, 0, "no memory for groups");
    clr_request_release(&made->request);
    return NULL;
}

/* What is doubtful in one shard is told, and the others are not needed. */
static enum clr_scan_outcome take_group(const struct question *question, int shard,
                                        struct clr_request *done)
{
    struct clr_group_result *result = &((struct group_request *)(void *)done)->result;
    struct clr_group_part *part = question->parts[shard];
    enum clr_scan_outcome outcome;
    size_t i;

    if (result->doubts.any) {
        part->doubts = result->doubts;
        return CLR_SCAN_NOT_NOW;
    }
    clr_group_part_begin(part, &result->records);
    outcome = part->outcome;
    for (i = 0; i < result->spill_count && outcome == CLR_SCAN_DONE; i++)
        outcome = clr_group_spills_add(&part->addends.spills, part->memory, &result->spills[i]);
    return outcome;
}

enum clr_scan_outcome clr_resident_group(struct clr_device_scan *asked,
                                         struct clr_group_part *const *parts)
{
    struct clr_scan scan = *parts[0]->plan->scan;
    const struct question question = {
        .asked = asked, .make = make_group, .take = take_group, .scan = &scan, .parts = parts};

    return on_each_shard(&question);
}

/* ---- Bins. */

/* The counting of the values of the resident that the request holds. */
struct bins_request {
    struct clr_request request;
    struct clr_bin_bounds bounds;
    uint64_t counts[];
};

static void clear_bins(struct clr_task *task)
{
    clr_bin_bounds_clear(&((struct bins_request *)(void *)task)->bounds);
}

static bool step_bins(struct clr_task *task, struct clr_device *device, struct clr_status *status)
{
    struct bins_request *bins = (struct bins_request *)(void *)task;
    struct clr_request *request = &bins->request;

    clr_binner_run(device, ((struct clr_resident *)(void *)request->held)->copy, &bins->bounds,
                   bins->counts, &request->outcome, &request->wants_build, &request->work, status);
    return false;
}

static const struct clr_request_kind bins_kind = {
    .what = "a histogram", .turn = CLR_TASK_URGENT, .step = step_bins, .clear = clear_bins};

size_t clr_resident_bins_memory(const struct clr_bins *bins)
{
    return ((size_t)bins->count + 2) * sizeof(uint64_t) + clr_bin_bounds_size(bins->count);
}

static struct clr_request *make_bins(const struct question *question, int shard,
                                     enum clr_scan_outcome *outcome)
{
    struct clr_resident *resident = clr_sharded_resident(question->asked->copies[0], shard);
    const size_t counts_size = ((size_t)question->bins->count + 2) * sizeof(uint64_t);
    const uint8_t kind = clr_kind_wide(resident->kind);
    struct bins_request *made;

    if (kind != CLR_TAG_INTEGER && kind != CLR_TAG_REAL) {
        clr_status_set(&question->asked->status, CLR_INVALID, 0,
                       "the column is not of one type of numbers");
        return NULL;
    }
    if (clr_sharded_state(question->asked->copies[0]) != CLR_RESIDENT_READY) {
        *outcome = CLR_SCAN_NOT_NOW;
        return NULL;
    }
    made = clr_request_new(&bins_kind, sizeof *made + counts_size,
                           question->asked->division->shards[shard].device.worker, &resident->task,
                           &question->asked->status);
    if (made == NULL)
        return NULL;
    if (clr_bin_bounds_init(&made->bounds, question->bins,
                            kind == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER))
        return &made->request;
    clr_status_set(&question->asked->status, CLR_NOMEM, 0, "no memory for %s", bins_kind.what);
    clr_request_release(&made->request);
    return NULL;
}

static enum clr_scan_outcome take_bins(const struct question *question, int shard,
                                       struct clr_request *done)
{
    const struct bins_request *bins = (const struct bins_request *)(void *)done;
    int64_t i;

    (void)shard;
    for (i = 0; i < question->bins->count + 2; i++)
        question->counts[i] += bins->counts[i];
    return CLR_SCAN_DONE;
}

enum clr_scan_outcome clr_resident_bins(struct clr_device_scan *asked, const struct clr_bins *bins,
                                        uint64_t *counts)
{
    const struct question question = {
        .asked = asked, .make = make_bins, .take = take_bins, .bins = bins, .counts = counts};

    memset(counts, 0, ((size_t)bins->count + 2) * sizeof *counts);
    return on_each_shard(&question);
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

/* Finds the columns whose rows are all the values of each question, in one type. Returns false if
   there are none, or the bins are for the host. */
static bool find_counted(const struct clr_device_scan *asked, const struct clr_scan *scan,
                         int *found)
{
    uint8_t kinds[CLR_MOST_COLUMNS];
    int columns[2], i;

    for (i = 0; i < scan->column_count; i++)
        kinds[i] = kind_of(asked->copies[i]);
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (!clr_tally_takes_whole_columns(scan, kinds, &scan->tallies[question->tally], columns) ||
            (kinds[columns[0]] != CLR_TAG_INTEGER && kinds[columns[0]] != CLR_TAG_REAL))
            return false;
        /* A bin's bounds take the host as long as to count a few values. If there is too little
           memory for the host as well, it is the host that says so. */
        if ((uint64_t)question->bins.count > scan->rows ||
            clr_resident_bins_memory(&question->bins) >
                scan->values_memory / (uint64_t)asked->division->count)
            return false;
        found[i] = columns[0];
    }
    return true;
}

/* The tallies alone, for which nothing need be kept. */
static enum clr_scan_outcome scan_tallies(struct clr_device_scan *asked,
                                          const struct clr_scan *scan)
{
    struct clr_scan tallies_only = *scan;
    enum clr_scan_outcome outcome;
    int i;

    tallies_only.question_count = 0;
    tallies_only.tallies =
        clr_memory_alloc((size_t)scan->tally_count * sizeof *tallies_only.tallies);
    if (tallies_only.tallies == NULL) {
        clr_status_set(&asked->status, CLR_NOMEM, 0, "no memory for a scan");
        return CLR_SCAN_FAILED;
    }
    for (i = 0; i < scan->tally_count; i++) {
        tallies_only.tallies[i] = scan->tallies[i];
        tallies_only.tallies[i].operations &= ~(CLR_KEEP | CLR_BYTES);
    }
    outcome = scan_alone(asked, &tallies_only);
    for (i = 0; i < scan->tally_count && outcome == CLR_SCAN_DONE; i++)
        scan->tallies[i].state = tallies_only.tallies[i].state;
    clr_memory_free(tallies_only.tallies);
    return outcome;
}

/* For a scan whose questions are all CLR_ASK_BINS. */
static enum clr_scan_outcome scan_and_count(struct clr_device_scan *asked, struct clr_scan *scan)
{
    struct clr_sharded *const *const copies = asked->copies;
    int found[CLR_MOST_QUESTIONS], i;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (!find_counted(asked, scan, found))
        return CLR_SCAN_NOT_NOW;
    for (i = 0; i < scan->question_count && outcome == CLR_SCAN_DONE; i++) {
        asked->copies = copies + found[i];
        outcome = clr_resident_bins(asked, &scan->questions[i].bins, scan->questions[i].counts);
    }
    asked->copies = copies;
    return outcome == CLR_SCAN_DONE ? scan_tallies(asked, scan) : outcome;
}

enum clr_scan_outcome clr_resident_scan(struct clr_device_scan *asked, struct clr_scan *scan)
{
    asked->outcome =
        scan->question_count > 0 ? scan_and_count(asked, scan) : scan_alone(asked, scan);
    return asked->outcome;
}
