#include "numeric/groups/groups_private.h"

#include "base/memory.h"

/* All that are spilled, in the order of their tallies and groups. */
struct spilled {
    struct clr_groups *groups;
    const struct clr_group_spill **spills;
    struct clr_group_item *items; /* keys: the tally, and the group; numbers: of spills */
    size_t count;
    enum clr_scan_outcome outcome;
};

static void add_spill(const struct clr_group_spill *spill, struct clr_sum *sum)
{
    if (spill->y_tag == CLR_TAG_NULL && spill->x_tag == CLR_TAG_REAL)
        clr_sum_add(sum, clr_real_of(spill->x), 1);
    else if (spill->y_tag == CLR_TAG_NULL)
        clr_sum_add_integer(sum, spill->x, 1);
    else if (spill->x_tag == CLR_TAG_INTEGER && spill->y_tag == CLR_TAG_INTEGER)
        clr_sum_add_integer(sum, (clr_i128)spill->x * spill->y, 1);
    else if (spill->x_tag == CLR_TAG_INTEGER)
        clr_sum_add_mixed_product(sum, spill->x, clr_real_of(spill->y), 1);
    else
        clr_sum_add_mixed_product(sum, spill->y, clr_real_of(spill->x), 1);
}

static int tally_of(const struct clr_group_item *item)
{
    return (int)(item->key >> 32);
}

/* Returns how many groups a tally's items have, which begin here; stores where they end. */
static size_t count_groups(const struct spilled *spilled, size_t first, size_t *end)
{
    size_t groups = 0, i;

    for (i = first;
         i < spilled->count && tally_of(&spilled->items[i]) == tally_of(&spilled->items[first]);
         i++)
        groups += i == first || spilled->items[i].key != spilled->items[i - 1].key;
    *end = i;
    return groups;
}

/* Adds the spills of one group, from this one on, to its sum, and stores it. Returns where the next
   group's begin; *outcome is the outcome. */
static size_t add_group(const struct spilled *spilled, size_t i, struct clr_kept_sum *kept,
                        enum clr_scan_outcome *outcome)
{
    const uint64_t key = spilled->items[i].key;
    const int tally = (int)(key >> 32);
    struct clr_groups *groups = spilled->groups;
    struct clr_state state;

    clr_groups_state(groups, (uint32_t)key, tally, &state);
    for (; i < spilled->count && spilled->items[i].key == key; i++)
        add_spill(spilled->spills[spilled->items[i].number], &state.sum);
    if (groups->plan.tallies[tally].gathers_sum && kept->form == CLR_KEPT_FULL) {
        clr_memory_free(kept->as.full);
        clr_group_memory_return(&groups->memory, sizeof *kept->as.full);
        kept->form = CLR_KEPT_TERMS;
    }
    *outcome = clr_kept_sum_store(kept, &groups->memory, &state.sum);
    return i;
}

/* Adds the spills of a tally whose groups all have sums. */
static enum clr_scan_outcome add_to_all(const struct spilled *spilled, size_t first, size_t end,
                                        const atomic_bool *stop)
{
    struct clr_kept_sums *sums = &spilled->groups->sums[tally_of(&spilled->items[first])];
    struct clr_kept_sum *kept = sums->sums.start;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    while (first < end && outcome == CLR_SCAN_DONE && !clr_portion_stops(stop))
        first = add_group(spilled, first, &kept[(uint32_t)spilled->items[first].key], &outcome);
    return outcome;
}

/* The same where records have them: sums are kept for groups with spills. */
static enum clr_scan_outcome add_to_some(const struct spilled *spilled, size_t first, size_t end,
                                         size_t count, const atomic_bool *stop)
{
    struct clr_groups *groups = spilled->groups;
    struct clr_kept_sums made = {.count = 0};
    enum clr_scan_outcome outcome =
        clr_room_make(&made.sums, &groups->memory, count * sizeof(struct clr_kept_sum));
    const int tally = tally_of(&spilled->items[first]);

    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_make(&made.groups, &groups->memory, count * sizeof(uint32_t));
    while (first < end && outcome == CLR_SCAN_DONE && !clr_portion_stops(stop)) {
        struct clr_kept_sum *kept = (struct clr_kept_sum *)made.sums.start + made.count;

        ((uint32_t *)made.groups.start)[made.count] = (uint32_t)spilled->items[first].key;
        first = add_group(spilled, first, kept, &outcome);
        made.count += outcome == CLR_SCAN_DONE;
    }
    groups->sums[tally] = made;
    return outcome;
}

static enum clr_scan_outcome add_all(const struct spilled *spilled, const atomic_bool *stop)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t first = 0, end, count;

    for (; first < spilled->count && outcome == CLR_SCAN_DONE; first = end) {
        count = count_groups(spilled, first, &end);
        outcome = spilled->groups->plan.tallies[tally_of(&spilled->items[first])].gathers_sum
                      ? add_to_all(spilled, first, end, stop)
                      : add_to_some(spilled, first, end, count, stop);
    }
    return outcome;
}

static void list_spills(struct spilled *spilled)
{
    const struct clr_groups *groups = spilled->groups;
    size_t n = 0, i;
    int part;

    for (part = 0; part < groups->part_count; part++) {
        const struct clr_group_spills *spills = &groups->parts[part]->addends.spills;
        for (i = 0; i < spills->count; i++, n++) {
            const struct clr_group_spill *spill = &spills->spills[i];
            const uint32_t final = clr_groups_final(groups, part, spill->number);

            spilled->spills[n] = spill;
            spilled->items[n] =
                (struct clr_group_item){(uint64_t)spill->tally << 32 | final, (uint32_t)n, 0};
        }
    }
}

static void add_spilled(void *argument, int worker, const atomic_bool *stop)
{
    struct spilled *spilled = argument;

    (void)worker;
    list_spills(spilled);
    spilled->outcome =
        clr_group_sort(spilled->items, spilled->items + spilled->count, spilled->count, stop);
    if (spilled->outcome == CLR_SCAN_DONE)
        spilled->outcome = add_all(spilled, stop);
}

enum clr_scan_outcome clr_groups_add_spilled(struct clr_groups *groups,
                                             const struct clr_group_team *team)
{
    struct spilled spilled = {.groups = groups};
    struct clr_room items = {NULL, 0, NULL, NULL}, pointers = items;
    enum clr_scan_outcome outcome;
    int part;

    for (part = 0; part < groups->part_count; part++)
        spilled.count += groups->parts[part]->addends.spills.count;
    if (spilled.count == 0)
        return CLR_SCAN_DONE;
    if (spilled.count > UINT32_MAX)
        return CLR_SCAN_LIMIT;
    outcome = clr_room_make(&items, &groups->memory, 2 * spilled.count * sizeof *spilled.items);
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_room_make(&pointers, &groups->memory, spilled.count * sizeof *spilled.spills);
    if (outcome == CLR_SCAN_DONE) {
        spilled.items = items.start;
        spilled.spills = pointers.start;
        outcome =
            team->run(team->context, 1, add_spilled, &spilled) ? spilled.outcome : CLR_SCAN_STOPPED;
    }
    clr_room_free(&items, &groups->memory);
    clr_room_free(&pointers, &groups->memory);
    return outcome;
}
