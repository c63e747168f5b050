#include "numeric/groups/group_scan.h"

#include "base/memory.h"

#include <string.h>

/* STEP: rows, at multiples of which parts start, so that no block but the last one is short.
   DOUBTFUL: plans that take into account what has been found out; then one does that doubts all. */
enum { STEP = 4096, DOUBTFUL = 4, SOME_PLACES = 65536 };

/* More rows have no numbers of 32 bits. */
#define MOST_ROWS ((size_t)1 << 31)

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
             ((tally->operations & CLR_KEEP) != 0 || clr_tally_does(tally, CLR_EXTREMES))) ||
            (clr_tally_does(tally, CLR_DOT) && (tally->y < 0 || clr_tally_does(tally, CLR_SUM))))
            return true;
    }
    return false;
}

static size_t find_start(const struct clr_groups *groups, int part)
{
    const size_t rows = groups->plan.scan->rows, steps = (rows + STEP - 1) / STEP;
    const size_t start = steps * (size_t)part / (size_t)groups->part_count * STEP;

    return start < rows ? start : rows;
}

static void run_part(void *argument, int part, const atomic_bool *stop)
{
    struct clr_groups *groups = argument;

    clr_group_part_run(groups->parts[part], stop);
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
        doubts->keys = doubts->keys || from->doubts.keys;
        for (i = 0; i < groups->plan.tally_count; i++) {
            doubts->types[i] = doubts->types[i] || from->doubts.types[i];
            doubts->window[i] = doubts->window[i] || from->doubts.window[i];
        }
    }
    return outcome;
}

/* How many parts are worth it: each with all places takes its time to bring together. */
static int count_parts(const struct clr_groups *groups, const struct clr_group_team *team)
{
    const struct clr_group_plan *plan = &groups->plan;
    int parts = team->size < CLR_GROUP_PARTS ? team->size : CLR_GROUP_PARTS;

    if (plan->numbering != CLR_NUMBERED_DIRECTLY)
        return parts;
    while (parts > 1 &&
           ((uint64_t)parts * plan->places > 4 * plan->scan->rows + SOME_PLACES ||
            (uint64_t)parts * plan->places * plan->stride > groups->limit / sizeof(int64_t) / 2))
        parts--;
    return parts;
}

static enum clr_scan_outcome run_parts(struct clr_groups *groups, const struct clr_group_team *team,
                                       struct clr_group_doubts *doubts)
{
    const int parts = count_parts(groups, team);
    int i;

    groups->part_count = parts;
    for (i = 0; i < parts; i++) {
        groups->parts[i] = clr_group_part_new(&groups->plan, &groups->memory, find_start(groups, i),
                                              find_start(groups, i + 1));
        if (groups->parts[i] == NULL) {
            groups->part_count = i;
            return CLR_SCAN_FAILED;
        }
    }
    if (!team->run(team->context, parts, run_part, groups))
        return CLR_SCAN_STOPPED;
    return find_outcome(groups, doubts);
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

/* Returns CLR_SCAN_NOT_NOW if the plan will not do. */
static enum clr_scan_outcome attempt(const struct clr_scan *scan, const struct clr_group_team *team,
                                     struct clr_group_doubts *doubts, struct clr_groups **made)
{
    struct clr_groups *groups = clr_memory_alloc_zero(sizeof *groups);
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;

    if (groups == NULL)
        return CLR_SCAN_FAILED;
    groups->limit = scan->values_memory < INT64_MAX ? scan->values_memory : INT64_MAX;
    groups->question_count = scan->question_count;
    atomic_init(&groups->memory.left, (int64_t)groups->limit);
    outcome = clr_group_plan_make(&groups->plan, scan, doubts);
    if (outcome == CLR_SCAN_DONE)
        outcome = run_parts(groups, team, doubts);
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_groups_merge(groups, team);
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_groups_gather(groups, team);
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_groups_add_spilled(groups, team);
    if (outcome == CLR_SCAN_DONE) {
        finish(groups);
        *made = groups;
    } else {
        clr_groups_free(groups);
    }
    return outcome;
}

enum clr_scan_outcome clr_group_scan(const struct clr_scan *scan, const struct clr_group_team *team,
                                     struct clr_groups **groups)
{
    struct clr_group_doubts doubts;
    enum clr_scan_outcome outcome = CLR_SCAN_NOT_NOW;
    int i;

    *groups = NULL;
    if (is_unsure(scan))
        return CLR_SCAN_UNSURE;
    if (scan->rows >= MOST_ROWS)
        return CLR_SCAN_LIMIT;
    memset(&doubts, 0, sizeof doubts);
    for (i = 0; i < DOUBTFUL && outcome == CLR_SCAN_NOT_NOW; i++)
        outcome = attempt(scan, team, &doubts, groups);
    if (outcome != CLR_SCAN_NOT_NOW)
        return outcome;
    doubts.keys = true;
    for (i = 0; i < CLR_MOST_TALLIES; i++)
        doubts.types[i] = doubts.window[i] = true;
    return attempt(scan, team, &doubts, groups);
}
