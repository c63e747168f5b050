#include "numeric/groups/counted.h"

#include "numeric/values/narrow.h"

#include <string.h>

/* PIECE: values between two looks at whether to stop. MOST: counts of a part that a cache holds. */
enum { PIECE = 1 << 16, MOST = 1 << 19 };

/* What the workers share, of which each has a part. */
struct counting {
    struct clr_counted *counted;
    struct clr_groups *groups;
    int tally;
    struct clr_frame bounds[CLR_GROUP_PARTS];
};

static struct clr_group_list *list_of(const struct clr_groups *groups, int part, int tally,
                                      enum clr_group_list_kind kind)
{
    return &groups->parts[part]->addends.lists[tally * CLR_LISTS + (int)kind];
}

/* Whether positions are all that is asked of the tallies whose values are those of the lister. */
static bool asks_for_positions(const struct clr_groups *groups, int lister)
{
    const struct clr_scan *scan = groups->plan.scan;
    int i;

    for (i = lister; i < groups->plan.tally_count; i++) {
        const struct clr_group_tally *tally = &groups->plan.tallies[i];

        if (tally->gathers && tally->gathered_by == lister && tally->gathers_sum)
            return false;
    }
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];

        if (groups->plan.tallies[question->tally].gathered_by == lister &&
            question->kind != CLR_ASK_BETWEEN && question->kind != CLR_ASK_AT)
            return false;
    }
    return true;
}

static void find_range(void *argument, int part, const atomic_bool *stop)
{
    struct counting *counting = argument;
    const struct clr_group_list *list =
        list_of(counting->groups, part, counting->tally, CLR_LIST_INTEGERS);
    const int64_t *x = list->x.start;
    struct clr_frame bounds = CLR_FRAME_OF_NONE;
    size_t i, count;

    for (i = 0; i < list->count && !clr_portion_stops(stop); i += count) {
        count = list->count - i < PIECE ? list->count - i : PIECE;
        clr_frame_add(&bounds, x + i, count);
    }
    counting->bounds[part] = bounds;
}

static uint32_t *counts_of(const struct clr_counted *counted, int part, size_t group)
{
    return (uint32_t *)counted->room.start + (size_t)part * counted->stride +
           group * counted->range;
}

static void count_values(void *argument, int part, const atomic_bool *stop)
{
    struct counting *counting = argument;
    const struct clr_counted *counted = counting->counted;
    const struct clr_group_list *list =
        list_of(counting->groups, part, counting->tally, CLR_LIST_INTEGERS);
    const uint32_t *numbers = list->numbers.start;
    const int64_t *x = list->x.start;
    uint32_t *counts = counts_of(counted, part, 0);
    size_t i;

    for (i = 0; i < list->count; i++) {
        if (i % PIECE == 0 && clr_portion_stops(stop))
            return;
        counts[clr_groups_final(counting->groups, part, numbers[i]) * counted->range +
               (size_t)(x[i] - counted->first)]++;
    }
}

/* Stores the range of the values, unless it is too large for so few, count of them: the counts take
   no more than the values would. */
static void choose_range(const struct counting *counting, size_t count)
{
    struct clr_counted *counted = counting->counted;
    const size_t groups = counting->groups->count, enough = 2 * count / (size_t)counted->parts;
    const size_t most = enough < MOST ? enough : MOST;
    struct clr_frame bounds = CLR_FRAME_OF_NONE;
    int64_t least, greatest;
    int part;

    for (part = 0; part < counted->parts; part++)
        clr_frame_join(&bounds, &counting->bounds[part]);
    least = bounds.known_least;
    greatest = bounds.known_greatest;
    if (least > greatest || groups == 0 || (uint64_t)greatest - (uint64_t)least >= most / groups)
        return;
    counted->first = least;
    counted->range = (size_t)((uint64_t)greatest - (uint64_t)least) + 1;
    counted->stride = groups * counted->range;
}

enum clr_scan_outcome clr_counted_make(struct clr_counted *counted, struct clr_groups *groups,
                                       int lister, const struct clr_group_team *team)
{
    struct counting counting = {.counted = counted, .groups = groups, .tally = lister};
    enum clr_scan_outcome outcome;
    size_t count = 0;
    int part;

    *counted = (struct clr_counted){.parts = groups->part_count};
    for (part = 0; part < groups->part_count; part++) {
        if (list_of(groups, part, lister, CLR_LIST_REALS)->count > 0)
            return CLR_SCAN_DONE;
        count += list_of(groups, part, lister, CLR_LIST_INTEGERS)->count;
    }
    if (groups->count > MOST || !asks_for_positions(groups, lister))
        return CLR_SCAN_DONE;
    if (!team->run(team->context, groups->part_count, find_range, &counting))
        return CLR_SCAN_STOPPED;
    choose_range(&counting, count);
    if (counted->range == 0)
        return CLR_SCAN_DONE;
    outcome = clr_room_make(&counted->room, &groups->memory,
                            (size_t)counted->parts * counted->stride * sizeof(uint32_t));
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    if (!team->run(team->context, groups->part_count, count_values, &counting))
        return CLR_SCAN_STOPPED;
    for (part = 0; part < groups->part_count; part++)
        clr_group_list_free(list_of(groups, part, lister, CLR_LIST_INTEGERS), &groups->memory);
    return CLR_SCAN_DONE;
}

void clr_counted_free(struct clr_counted *counted, struct clr_group_memory *memory)
{
    clr_room_free(&counted->room, memory);
}

/* Returns how often a group has the value that lies so far from the first. */
static size_t count_of(const struct clr_counted *counted, size_t group, size_t value)
{
    size_t count = 0;
    int part;

    for (part = 0; part < counted->parts; part++)
        count += counts_of(counted, part, group)[value];
    return count;
}

size_t clr_counted_total(const struct clr_counted *counted, size_t group)
{
    size_t total = 0, value;

    for (value = 0; value < counted->range; value++)
        total += count_of(counted, group, value);
    return total;
}

void clr_counted_select(const struct clr_counted *counted, size_t group, size_t rank,
                        struct clr_value pair[2])
{
    size_t seen = 0, value, i;

    for (i = 0; i < 2; i++)
        pair[i] = (struct clr_value){.kind = CLR_KIND_NONE};
    for (value = 0; value < counted->range && pair[1].kind == CLR_KIND_NONE; value++) {
        seen += count_of(counted, group, value);
        for (i = 0; i < 2; i++)
            if (pair[i].kind == CLR_KIND_NONE && seen > rank + i)
                pair[i] =
                    (struct clr_value){.kind = CLR_KIND_INTEGER,
                                       .as.integer = (int64_t)((uint64_t)counted->first + value)};
    }
    if (pair[1].kind == CLR_KIND_NONE)
        pair[1] = pair[0];
}
