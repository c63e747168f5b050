#include "numeric/groups/groups.h"

#include "base/memory.h"
#include "numeric/groups/groups_private.h"

static void free_sums(struct clr_groups *groups, struct clr_kept_sums *sums)
{
    const struct clr_kept_sum *kept = sums->sums.start;
    size_t i;

    for (i = 0; kept != NULL && i < sums->count; i++)
        if (kept[i].form == CLR_KEPT_FULL)
            clr_memory_free(kept[i].as.full);
    clr_room_free(&sums->sums, &groups->memory);
    clr_room_free(&sums->groups, &groups->memory);
}

void clr_groups_free(struct clr_groups *groups)
{
    int i;

    if (groups == NULL)
        return;
    for (i = 0; i < groups->part_count; i++)
        clr_group_part_free(groups->parts[i]);
    for (i = 0; i < CLR_GROUP_PARTS; i++)
        clr_room_free(&groups->merged[i], &groups->memory);
    for (i = 0; i < CLR_MOST_TALLIES; i++)
        free_sums(groups, &groups->sums[i]);
    for (i = 0; i < CLR_MOST_QUESTIONS; i++) {
        clr_room_free(&groups->answers[i].values, &groups->memory);
        clr_room_free(&groups->answers[i].counts, &groups->memory);
    }
    clr_room_free(&groups->places, &groups->memory);
    clr_room_free(&groups->entries, &groups->memory);
    clr_room_free(&groups->ranks, &groups->memory);
    clr_room_free(&groups->finals, &groups->memory);
    clr_memory_free(groups);
}

/* The value of the only key, where places are codes. */
static struct clr_scalar rank_of(const struct clr_groups *groups, size_t group)
{
    const uint32_t code = ((const uint32_t *)groups->places.start)[group];
    const uint32_t rank = ((const uint32_t *)groups->ranks.start)[code];

    return rank == 0 ? (struct clr_scalar){CLR_TAG_NULL, 0}
                     : (struct clr_scalar){CLR_TAG_INTEGER, (int64_t)rank - 1};
}

size_t clr_groups_count(const struct clr_groups *groups)
{
    return groups->count;
}

uint64_t clr_groups_size(const struct clr_groups *groups)
{
    return groups->limit - (uint64_t)atomic_load(&groups->memory.left);
}

struct clr_scalar clr_groups_key(const struct clr_groups *groups, size_t group, int key)
{
    const struct clr_group_plan *plan = &groups->plan;
    const struct clr_group_entry *entries = groups->entries.start;

    switch (plan->numbering) {
    case CLR_NUMBERED_DIRECTLY:
        if (plan->by_codes)
            return rank_of(groups, group);
        return clr_group_key_at_place(plan, ((const uint32_t *)groups->places.start)[group], key);
    case CLR_NUMBERED_BY_PLACE:
        return clr_group_key_at_place(plan, entries[group].key, key);
    default:
        return clr_group_key_of_words((const uint64_t *)(uintptr_t)entries[group].key,
                                      plan->grouping.key_count, key);
    }
}

void clr_groups_fetch(const struct clr_groups *groups, size_t group)
{
    __builtin_prefetch(clr_groups_record(groups, group));
}

/* Returns the sum that is kept of the group, or NULL: its record has it. */
static const struct clr_kept_sum *find_sum(const struct clr_kept_sums *sums, size_t group)
{
    const struct clr_kept_sum *kept = sums->sums.start;
    const uint32_t *numbers = sums->groups.start;
    size_t low = 0, high = sums->count;

    if (kept == NULL || numbers == NULL)
        return kept == NULL ? NULL : &kept[group];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (numbers[middle] < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sums->count && numbers[low] == group ? &kept[low] : NULL;
}

void clr_groups_state(const struct clr_groups *groups, size_t group, int tally,
                      struct clr_state *state)
{
    const struct clr_kept_sum *kept = find_sum(&groups->sums[tally], group);

    clr_group_record_state(&groups->plan, tally, clr_groups_record(groups, group), state);
    if (kept == NULL)
        return;
    clr_sum_clear(&state->sum);
    clr_kept_sum_load(kept, &state->sum);
}

struct clr_value clr_groups_answer(const struct clr_groups *groups, size_t group, int question,
                                   const uint64_t **counts)
{
    const struct clr_gathered_answer *answer = &groups->answers[question];

    *counts = NULL;
    if (answer->counts.start != NULL) {
        *counts = (const uint64_t *)answer->counts.start + group * (answer->bins + 2);
        return (struct clr_value){.kind = CLR_KIND_NONE};
    }
    return ((const struct clr_value *)answer->values.start)[group];
}
