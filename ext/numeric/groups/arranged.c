#include "numeric/groups/arranged.h"

#include "base/memory.h"

#include <string.h>

/* PIECE: values between two looks at whether to stop. SOME: counts that are always fine. AHEAD: how
   many values ahead places are fetched. */
enum { PIECE = 4096, SOME = 65536, AHEAD = 16 };

/* What workers share: each has some of the parts, and counts for all groups. */
struct arranging {
    struct clr_groups *groups;
    int tally;
    enum clr_group_list_kind kind;
    int workers;
    struct clr_room counts; /* uint32_t */
    struct clr_arranged_list *list;
};

static struct clr_group_list *list_of(const struct arranging *arranging, int part)
{
    return &arranging->groups->parts[part]
                ->addends.lists[arranging->tally * CLR_LISTS + (int)arranging->kind];
}

static int first_part(const struct arranging *arranging, int worker)
{
    return arranging->groups->part_count * worker / arranging->workers;
}

static uint32_t *counts_of(const struct arranging *arranging, int worker)
{
    return (uint32_t *)arranging->counts.start + (size_t)worker * arranging->groups->count;
}

/* Counts the values of each group, and gives them the groups' final numbers. */
static void count_values(void *argument, int worker, const atomic_bool *stop)
{
    struct arranging *arranging = argument;
    uint32_t *counts = counts_of(arranging, worker);
    int part;
    size_t i;

    for (part = first_part(arranging, worker); part < first_part(arranging, worker + 1); part++) {
        const struct clr_group_list *list = list_of(arranging, part);
        uint32_t *numbers = list->numbers.start;

        for (i = 0; i < list->count; i++) {
            if (i % PIECE == 0 && clr_portion_stops(stop))
                return;
            numbers[i] = clr_groups_final(arranging->groups, part, numbers[i]);
            counts[numbers[i]]++;
        }
    }
}

/* Makes of the counts where each worker puts its values. */
static void find_starts(void *argument, int worker, const atomic_bool *stop)
{
    struct arranging *arranging = argument;
    uint32_t *starts = arranging->list->starts.start, next = 0;
    size_t group;
    int w;

    (void)worker;
    for (group = 0; group < arranging->groups->count; group++) {
        if (group % PIECE == 0 && clr_portion_stops(stop))
            return;
        starts[group] = next;
        for (w = 0; w < arranging->workers; w++) {
            uint32_t *count = counts_of(arranging, w) + group;
            const uint32_t here = *count;
            *count = next;
            next += here;
        }
    }
    starts[group] = next;
}

static void put_values(void *argument, int worker, const atomic_bool *stop)
{
    struct arranging *arranging = argument;
    uint32_t *next = counts_of(arranging, worker);
    int64_t *x = arranging->list->x.start, *y = arranging->list->y.start;
    int part;
    size_t i;

    for (part = first_part(arranging, worker); part < first_part(arranging, worker + 1); part++) {
        const struct clr_group_list *list = list_of(arranging, part);
        const uint32_t *numbers = list->numbers.start;
        const int64_t *from_x = list->x.start, *from_y = list->y.start;

        for (i = 0; i < list->count; i++) {
            const uint32_t place = next[numbers[i]]++;

            if (i + AHEAD < list->count)
                __builtin_prefetch(&x[next[numbers[i + AHEAD]]], 1);
            if (i % PIECE == 0 && clr_portion_stops(stop))
                return;
            x[place] = from_x[i];
            if (y != NULL)
                y[place] = from_y[i];
        }
    }
}

static enum clr_scan_outcome run(struct arranging *arranging, const struct clr_group_team *team,
                                 int workers, clr_portion_work *work)
{
    return team->run(team->context, workers, work, arranging) ? CLR_SCAN_DONE : CLR_SCAN_STOPPED;
}

/* Makes room for so many values, and puts them there. */
static enum clr_scan_outcome arrange(struct arranging *arranging, size_t total,
                                     const struct clr_group_team *team)
{
    struct clr_groups *groups = arranging->groups;
    struct clr_group_memory *memory = &groups->memory;
    struct clr_arranged_list *list = arranging->list;
    const bool pairs = groups->plan.tallies[arranging->tally].pairs;
    enum clr_scan_outcome outcome;

    arranging->workers = groups->part_count;
    while (arranging->workers > 1 &&
           (uint64_t)arranging->workers * groups->count > 4 * (uint64_t)total + SOME)
        arranging->workers--;
    outcome = clr_room_make(&arranging->counts, memory,
                            (size_t)arranging->workers * groups->count * sizeof(uint32_t));
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_make(&list->starts, memory, (groups->count + 1) * sizeof(uint32_t));
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_make(&list->x, memory, total * sizeof(int64_t));
    if (outcome == CLR_SCAN_DONE && pairs)
        outcome = clr_room_make(&list->y, memory, total * sizeof(int64_t));
    if (outcome == CLR_SCAN_DONE)
        outcome = run(arranging, team, arranging->workers, count_values);
    if (outcome == CLR_SCAN_DONE)
        outcome = run(arranging, team, 1, find_starts);
    if (outcome == CLR_SCAN_DONE)
        outcome = run(arranging, team, arranging->workers, put_values);
    clr_room_free(&arranging->counts, memory);
    return outcome;
}

enum clr_scan_outcome clr_arranged_make(struct clr_arranged *arranged, struct clr_groups *groups,
                                        int tally, const struct clr_group_team *team)
{
    struct arranging arranging = {.groups = groups, .tally = tally};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int kind, part;

    memset(arranged, 0, sizeof *arranged);
    for (kind = 0; kind < CLR_LISTS && outcome == CLR_SCAN_DONE; kind++) {
        size_t total = 0;

        arranging.kind = (enum clr_group_list_kind)kind;
        arranging.list = &arranged->lists[kind];
        for (part = 0; part < groups->part_count; part++)
            total += list_of(&arranging, part)->count;
        if (total == 0)
            continue;
        outcome = arrange(&arranging, total, team);
        for (part = 0; part < groups->part_count; part++)
            clr_group_list_free(list_of(&arranging, part), &groups->memory);
    }
    return outcome;
}

void clr_arranged_free(struct clr_arranged *arranged, struct clr_group_memory *memory)
{
    int kind;

    for (kind = 0; kind < CLR_LISTS; kind++) {
        clr_room_free(&arranged->lists[kind].starts, memory);
        clr_room_free(&arranged->lists[kind].x, memory);
        clr_room_free(&arranged->lists[kind].y, memory);
    }
}
