#include "engine/host/host_groups.h"

#include "base/memory.h"
#include "engine/host/host_scan.h"

#include <string.h>

/* STEP: rows, at multiples of which parts start, so that no block but the last one is short. */
enum { STEP = 4096, SOME_PLACES = 65536 };

/* Where any thread may take any rows, it takes so many at a time, or, of fewer rows, so that there
   are PIECES for each thread. */
enum { MOST_TAKEN = 16 * STEP, PIECES = 8 };

/* Parts that come in portions number their rows from the part's number times 2^PART_BITS on. */
enum { PART_BITS = 48 };

/* More rows have no numbers of 32 bits. */
#define MOST_ROWS ((size_t)1 << 31)

/* Less than this for each thread is not worth starting it; less than that, no watching either. */
enum { ROWS_PER_THREAD = 1 << 17, ROWS_ALONE = 1 << 18 };

/* Plans that take into account what has been found out; then one does that doubts all. */
enum { DOUBTFUL = 4 };

/* ---- Parts. */

/* What groups are not made of: see the comments there. */
static bool is_unsure(const struct clr_scan *scan)
{
    int i;

    for (i = 0; i < scan->column_count; i++)
        if (scan->longest != 0 && clr_column_longest(scan->columns[i]) > scan->longest)
            return true;
    for (i = 0; i < scan->tally_count; i++) {
        const struct clr_tally *tally = &scan->tallies[i];

        if ((tally->y >= 0 &&
             (((tally->operations & CLR_KEEP) != 0 && clr_tally_does(tally, CLR_DOT)) ||
              clr_tally_does(tally, CLR_EXTREMES))) ||
            (clr_tally_does(tally, CLR_DOT) && (tally->y < 0 || clr_tally_does(tally, CLR_SUM))))
            return true;
    }
    return false;
}

/* Returns the first row of one of so many parts. */
static size_t find_start(const struct clr_groups *groups, int part, int parts)
{
    const size_t rows = groups->rows, steps = (rows + STEP - 1) / STEP;
    const size_t start = steps * (size_t)part / (size_t)parts * STEP;

    return start < rows ? start : rows;
}

/* Whether a part may have any of the rows: records of places know nothing of their order. */
static bool is_in_pieces(const struct clr_groups *groups)
{
    const struct clr_group_plan *plan = &groups->plan;
    int i;

    for (i = 0; i < plan->tally_count; i++) {
        if (plan->tallies[i].gathers)
            return false;
    }
    return plan->numbering == CLR_NUMBERED_DIRECTLY && !plan->grouping.by_first;
}

/* Parts that are run, each by a thread. */
struct running {
    struct clr_groups *groups;
    size_t piece;       /* rows of a piece; 0: each part has its own rows alone */
    atomic_size_t next; /* piece to take */
};

static size_t find_piece(size_t rows, int parts)
{
    const size_t pieces = (size_t)parts * PIECES, piece = (rows + pieces - 1) / pieces;

    return piece < MOST_TAKEN ? (piece + STEP - 1) / STEP * STEP : MOST_TAKEN;
}

/* Takes the piece of the part's number, and then others as they are left, so that a thread that
   starts late or is slow has fewer. */
static void run_part(void *argument, int number, const atomic_bool *stop)
{
    struct running *running = argument;
    struct clr_group_part *part = running->groups->parts[number];
    const size_t rows = running->groups->rows, piece = running->piece;
    size_t taken = (size_t)number;

    if (piece == 0) {
        clr_group_part_run(part, stop);
        return;
    }
    clr_group_part_begin(part, NULL);
    while (part->outcome == CLR_SCAN_DONE && taken * piece < rows) {
        const size_t first = taken * piece;
        clr_group_part_take(part, part->plan->scan, first,
                            rows - first < piece ? rows : first + piece, stop);
        taken = atomic_fetch_add(&running->next, 1);
    }
    clr_group_part_end(part);
}

/* The most telling outcome of the parts: a value that is unsure settles the scan, and a plan that
   will not do the attempt, if nothing else has ended it. */
static enum clr_scan_outcome find_outcome(const struct clr_groups *groups,
                                          struct clr_group_doubts *doubts)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int part, i;

    for (part = 0; part < groups->part_count; part++) {
        const struct clr_group_part *from = groups->parts[part];

        if (from->outcome == CLR_SCAN_UNSURE)
            return CLR_SCAN_UNSURE;
        if (outcome == CLR_SCAN_DONE ||
            (outcome == CLR_SCAN_NOT_NOW && from->outcome != CLR_SCAN_DONE))
            outcome = from->outcome;
        doubts->any = doubts->any || from->doubts.any;
        doubts->keys = doubts->keys || from->doubts.keys;
        for (i = 0; i < groups->plan.tally_count; i++)
            doubts->tallies[i] |= from->doubts.tallies[i];
    }
    return outcome;
}

/* How many parts are worth it, of so many at most: each with all places takes its time to bring
   together. */
static int count_parts(const struct clr_groups *groups, int most)
{
    const struct clr_group_plan *plan = &groups->plan;
    int parts = most < CLR_GROUP_PARTS ? most : CLR_GROUP_PARTS;

    if (plan->numbering != CLR_NUMBERED_DIRECTLY)
        return parts;
    while (parts > 1 &&
           ((uint64_t)parts * plan->places > 4 * groups->rows + SOME_PLACES ||
            (uint64_t)parts * plan->places * plan->stride > groups->limit / sizeof(int64_t) / 2))
        parts--;
    return parts;
}

static void drop_parts(struct clr_groups *groups)
{
    while (groups->part_count > 0)
        clr_group_part_free(groups->parts[--groups->part_count]);
}

/* Opens a part for rows from the first one on, and stores it behind the others. */
static enum clr_scan_outcome open_part(struct clr_groups *groups, uint64_t first, size_t rows)
{
    struct clr_group_part *part = clr_group_part_new(&groups->plan, &groups->memory, first, rows);

    if (part == NULL)
        return CLR_SCAN_FAILED;
    groups->parts[groups->part_count++] = part;
    return CLR_SCAN_DONE;
}

/* Opens parts for others to fill, whose rows end there. Returns CLR_SCAN_DONE, CLR_SCAN_FAILED, or
   CLR_SCAN_NOT_NOW: so many are not worth it. */
static enum clr_scan_outcome open_parts(struct clr_groups *groups, int count, const size_t *ends)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t first = 0;
    int i;

    if (count_parts(groups, count) < count)
        return CLR_SCAN_NOT_NOW;
    for (i = 0; i < count && outcome == CLR_SCAN_DONE; first = ends[i++])
        outcome = open_part(groups, first, ends[i] - first);
    return outcome;
}

/* Has the team's threads, which are at least as many as are worth it, go through all rows, in parts
   that take the place of those that there are. Returns CLR_SCAN_DONE: the parts have outcomes;
   CLR_SCAN_STOPPED or CLR_SCAN_FAILED. */
static enum clr_scan_outcome run_parts(struct clr_groups *groups, const struct clr_group_team *team)
{
    struct running running = {.groups = groups, .piece = 0};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int parts, i;

    drop_parts(groups);
    /* The plan may have been a device's. */
    groups->plan.stride = clr_group_plan_stride(&groups->plan, CLR_GROUPS_OF_COLUMNS);
    parts = count_parts(groups, team->size);
    if (is_in_pieces(groups))
        running.piece = find_piece(groups->rows, parts);
    atomic_init(&running.next, (size_t)parts);
    for (i = 0; i < parts && outcome == CLR_SCAN_DONE; i++) {
        const size_t start = find_start(groups, i, parts);
        outcome = open_part(groups, start, find_start(groups, i + 1, parts) - start);
    }
    if (outcome == CLR_SCAN_DONE && !team->run(team->context, parts, run_part, &running))
        outcome = CLR_SCAN_STOPPED;
    return outcome;
}

/* Frees what only the making of groups takes. */
static void finish(struct clr_groups *groups)
{
    int part;

    for (part = 0; part < groups->part_count; part++) {
        struct clr_group_part *from = groups->parts[part];

        clr_group_addends_free(&from->addends);
        from->addends.plan = NULL;
        clr_room_free(&from->first_rows, &groups->memory);
        clr_room_free(&groups->merged[part], &groups->memory);
        if (part > 0 && groups->plan.numbering == CLR_NUMBERED_DIRECTLY)
            clr_room_free(&from->records, &groups->memory);
    }
    clr_room_free(&groups->finals, &groups->memory);
    groups->plan.scan = NULL;
}

/* Brings together what the parts have found, in this order. */
static enum clr_scan_outcome complete(struct clr_groups *groups, const struct clr_group_team *team)
{
    enum clr_scan_outcome outcome = clr_groups_merge(groups, team);

    if (outcome == CLR_SCAN_DONE)
        outcome = clr_groups_gather(groups, team);
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_groups_add_spilled(groups, team);
    if (outcome == CLR_SCAN_DONE)
        finish(groups);
    return outcome;
}

/* Makes groups that have a plan, for so many rows at most, of which the scan has some. */
static enum clr_scan_outcome plan_groups(const struct clr_scan *scan, size_t rows,
                                         enum clr_group_runner runner,
                                         const struct clr_group_doubts *doubts,
                                         struct clr_groups **made)
{
    struct clr_groups *groups = clr_memory_alloc_zero(sizeof *groups);

    *made = groups;
    if (groups == NULL)
        return CLR_SCAN_FAILED;
    groups->rows = rows;
    groups->limit = scan->values_memory < INT64_MAX ? scan->values_memory : INT64_MAX;
    atomic_init(&groups->memory.left, (int64_t)groups->limit);
    return clr_group_plan_make(&groups->plan, scan, rows, runner, doubts);
}

/* Groups that are brought together in less time than a thread takes to start, so that nobody need
   be asked meanwhile whether to stop. */
enum { FEW_GROUPS = 4096 };

/* Whether there are no more, in all parts, and no lists. */
static bool are_few(const struct clr_groups *groups)
{
    size_t count = 0;
    int i;

    for (i = 0; i < groups->plan.tally_count; i++) {
        if (groups->plan.tallies[i].gathers)
            return false;
    }
    for (i = 0; i < groups->part_count; i++)
        count += clr_group_part_count(groups->parts[i]) + groups->parts[i]->addends.spills.count;
    return count <= FEW_GROUPS;
}

/* Completes the groups when the parts have run, as clr_host_groups_end() does. */
static enum clr_scan_outcome end(struct clr_groups *groups, const struct clr_group_team *team,
                                 struct clr_group_doubts *doubts)
{
    const enum clr_scan_outcome outcome = find_outcome(groups, doubts);
    const struct clr_group_team alone = {1, team->run, NULL};
    size_t rows = 0;
    int part;

    if (outcome != CLR_SCAN_DONE)
        return outcome;
    for (part = 0; part < groups->part_count; part++) {
        clr_group_part_end(groups->parts[part]);
        rows += groups->parts[part]->seen;
    }
    return rows < MOST_ROWS ? complete(groups, are_few(groups) ? &alone : team) : CLR_SCAN_LIMIT;
}

/* ---- Attempts, on devices or by threads. */

/* Returns so many threads, for so many rows. */
static struct clr_group_team make_team(int size, size_t rows, const struct clr_watch *watch)
{
    return (struct clr_group_team){size, clr_team_run_portions,
                                   rows < ROWS_ALONE ? NULL : (void *)(uintptr_t)watch};
}

/* Has devices fill the parts. Returns whether they have, or know that the plan will not do; else
   threads are to do it. */
static bool group_on_device(struct clr_device_scan *device, struct clr_groups *groups)
{
    const struct clr_division *division = device->division;
    struct clr_group_part *const *parts = groups->parts;
    size_t ends[CLR_MOST_SHARDS];
    bool has_doubts = false;
    int i;

    for (i = 0; i < division->count; i++)
        ends[i] = division->shards[i].first + division->shards[i].rows;
    if (open_parts(groups, division->count, ends) != CLR_SCAN_DONE)
        return false;
    clr_resident_group(device, parts);
    for (i = 0; i < division->count; i++) {
        parts[i]->outcome = device->outcome;
        has_doubts = has_doubts || parts[i]->doubts.any;
    }
    return device->outcome != CLR_SCAN_FAILED &&
           (device->outcome != CLR_SCAN_NOT_NOW || has_doubts);
}

/* Returns CLR_SCAN_NOT_NOW if the plan will not do. */
static enum clr_scan_outcome attempt(const struct clr_scan *scan,
                                     const struct clr_group_team *threads,
                                     struct clr_device_scan *device,
                                     struct clr_group_doubts *doubts, struct clr_groups **groups)
{
    enum clr_scan_outcome outcome = CLR_SCAN_LIMIT;

    *groups = NULL;
    if (is_unsure(scan))
        return CLR_SCAN_UNSURE;
    if (scan->rows < MOST_ROWS)
        outcome = plan_groups(scan, scan->rows,
                              device != NULL ? CLR_GROUPS_ON_DEVICE : CLR_GROUPS_OF_COLUMNS, doubts,
                              groups);
    if (outcome == CLR_SCAN_DONE && (device == NULL || !group_on_device(device, *groups)))
        outcome = run_parts(*groups, threads);
    if (outcome == CLR_SCAN_DONE)
        outcome = end(*groups, threads, doubts);
    if (outcome != CLR_SCAN_DONE) {
        clr_groups_free(*groups);
        *groups = NULL;
    }
    return outcome;
}

enum clr_scan_outcome clr_group_scan(const struct clr_scan *scan,
                                     const struct clr_group_team *threads,
                                     struct clr_device_scan *device, struct clr_groups **groups)
{
    enum clr_scan_outcome outcome = CLR_SCAN_NOT_NOW;
    struct clr_group_doubts doubts;
    int i;

    memset(&doubts, 0, sizeof doubts);
    if (device != NULL)
        device->outcome = CLR_SCAN_NOT_NOW;
    for (i = 0; i <= DOUBTFUL && outcome == CLR_SCAN_NOT_NOW; i++) {
        if (i == DOUBTFUL)
            clr_group_doubt_all(&doubts);
        outcome = attempt(scan, threads, device, &doubts, groups);
    }
    return outcome;
}

enum clr_scan_outcome clr_host_group(const struct clr_scan *scan, const struct clr_watch *watch,
                                     struct clr_device_scan *device, struct clr_groups **groups)
{
    const size_t most = clr_host_guess_loaded(scan) / ROWS_PER_THREAD + 1;
    const int size = clr_team_size();
    const struct clr_group_team threads =
        make_team(most < (size_t)size ? (int)most : size, scan->rows, watch);

    return clr_group_scan(scan, &threads, device, groups);
}

/* ---- In portions. */

/* Makes the parts, and begins them: also those that will have no rows. A group, and a value that is
   listed, take eight bytes at least of what the groups may take. */
static enum clr_scan_outcome begin_parts(struct clr_groups *groups, int most)
{
    const uint64_t room = groups->limit / sizeof(int64_t);
    const size_t rows = groups->rows < room ? groups->rows : (size_t)room;
    const int parts = count_parts(groups, most);

    while (groups->part_count < parts) {
        const int number = groups->part_count;

        if (open_part(groups, (uint64_t)number << PART_BITS, rows) != CLR_SCAN_DONE)
            return CLR_SCAN_FAILED;
        clr_group_part_begin(groups->parts[number], NULL);
        if (groups->parts[number]->outcome != CLR_SCAN_DONE)
            return groups->parts[number]->outcome;
    }
    return CLR_SCAN_DONE;
}

enum clr_scan_outcome clr_groups_begin(const struct clr_scan *sample, size_t rows, int parts,
                                       const struct clr_group_doubts *doubts,
                                       struct clr_groups **groups)
{
    enum clr_scan_outcome outcome;

    *groups = NULL;
    if (is_unsure(sample))
        return CLR_SCAN_UNSURE;
    outcome = plan_groups(sample, rows, CLR_GROUPS_OF_PORTIONS, doubts, groups);
    return outcome == CLR_SCAN_DONE ? begin_parts(*groups, parts) : outcome;
}

enum clr_scan_outcome clr_host_groups_end(struct clr_groups *groups, size_t rows,
                                          const struct clr_watch *watch,
                                          struct clr_group_doubts *doubts)
{
    const struct clr_group_team threads = make_team(groups->part_count, rows, watch);

    return end(groups, &threads, doubts);
}
