/* What is known of groups: their keys, and the states of their tallies, with what was spilled. */
#include "numeric/groups/group_scan.h"

#include "base/memory.h"

#include <string.h>

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
        clr_room_free(&groups->answers[i].lists, &groups->memory);
        clr_room_free(&groups->answers[i].numbers, &groups->memory);
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

/* Returns the value of a key at a place. */
static struct clr_scalar key_at_place(const struct clr_group_plan *plan, uint64_t place, int key)
{
    const struct clr_grouping *grouping = &plan->grouping;
    const struct clr_group_key *at = &plan->keys[key];
    /* A division takes as long as all else. */
    uint64_t number = grouping->key_count == 1 ? place : place / at->factor % at->size;

    if (grouping->descending[key] && !grouping->by_first)
        number = at->size - 1 - number;
    if (number == 0)
        return (struct clr_scalar){CLR_TAG_NULL, 0};
    return (struct clr_scalar){CLR_TAG_INTEGER, (int64_t)((uint64_t)at->first + number - 1)};
}

struct clr_scalar clr_groups_key(const struct clr_groups *groups, size_t group, int key)
{
    const struct clr_group_plan *plan = &groups->plan;
    const struct clr_group_entry *entries = groups->entries.start;

    switch (plan->numbering) {
    case CLR_NUMBERED_DIRECTLY:
        if (plan->by_codes)
            return rank_of(groups, group);
        return key_at_place(plan, ((const uint32_t *)groups->places.start)[group], key);
    case CLR_NUMBERED_BY_PLACE:
        return key_at_place(plan, entries[group].key, key);
    default:
        return clr_group_key_of_words((const uint64_t *)(uintptr_t)entries[group].key,
                                      plan->grouping.key_count, key);
    }
}

static void set_cell(const struct clr_group_cells *cells, size_t number, struct clr_scalar value)
{
    cells->bits[number * cells->step] = value.bits;
    cells->tags[number * cells->step] = value.tag;
}

void clr_groups_keys(const struct clr_groups *groups, int key, size_t first, size_t count,
                     const struct clr_group_cells *cells)
{
    size_t i;

    for (i = 0; i < count; i++)
        set_cell(cells, i, clr_groups_key(groups, first + i, key));
}

void clr_groups_fetch(const struct clr_groups *groups, size_t first, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        __builtin_prefetch(clr_groups_record(groups, first + i));
}

/* ---- What is known of a group. */

/* What is known of one type's extremes by their words, if any such value was seen. */
static void set_range(const int64_t *record, const int words[2], bool seen, struct clr_range *range)
{
    range->seen = seen && (words[0] >= 0 || words[1] >= 0);
    if (!range->seen)
        return;
    if (words[0] >= 0)
        range->least = clr_group_least_of((uint64_t)record[words[0]]);
    if (words[1] >= 0)
        range->greatest = clr_group_greatest_of((uint64_t)record[words[1]]);
    /* Nobody has asked for what has not been found. */
    if (words[0] < 0)
        range->least = range->greatest;
    if (words[1] < 0)
        range->greatest = range->least;
}

static void set_integer(const struct clr_group_tally *kept, const int64_t *record,
                        struct clr_sum *sum)
{
    clr_i128 value;

    /* The lower halves are a sum of fewer than 2^32 numbers below 2^32. */
    if (kept->integer_high >= 0)
        value = (clr_i128)record[kept->integer_high] * ((clr_i128)1 << 32) +
                (uint64_t)record[kept->integer];
    else
        value = clr_group_field_get(&kept->field, record[kept->integer]);
    clr_int192_add_i128(&sum->integer, value);
}

/* Returns how many of the group's rows count. */
static int64_t count_of(const struct clr_group_plan *plan, const struct clr_group_tally *kept,
                        const int64_t *record)
{
    return clr_group_row_count(plan, record) - (kept->missing < 0 ? 0 : record[kept->missing]);
}

/* Stores what is known by a group's record: the sum too, unless it is made of listed values. */
static void record_state(const struct clr_group_plan *plan, int tally, const int64_t *record,
                         struct clr_state *state)
{
    const struct clr_group_tally *kept = &plan->tallies[tally];
    const unsigned others = CLR_TYPE(CLR_TAG_REAL) | CLR_TYPE(CLR_TAG_BYTES);

    clr_state_clear(state);
    state->count = count_of(plan, kept, record);
    if (kept->others >= 0)
        state->non_integers = record[kept->others];
    else if (kept->has_x && ((kept->x_types | kept->y_types) & others) != 0)
        state->non_integers = state->count;
    if (kept->integer >= 0)
        set_integer(kept, record, &state->sum);
    if (kept->real_high >= 0)
        clr_window_sum(&kept->window, record[kept->real_high], record[kept->real_low], &state->sum);
    set_range(record, kept->extremes, state->count > state->non_integers, &state->integers);
    if (kept->is_bounded && state->count > 0)
        state->integers = (struct clr_range){true, -kept->integer_limit, kept->integer_limit};
    set_range(record, kept->extremes + 2, state->non_integers > 0, &state->reals);
}

enum clr_scan_outcome clr_kept_sum_store(struct clr_kept_sum *kept, struct clr_group_memory *memory,
                                         struct clr_sum *sum)
{
    const bool integer = !clr_int192_is_zero(&sum->integer);
    const bool terms = sum->term[0] != 0.0 || sum->term[1] != 0.0 || sum->term[2] != 0.0;

    if (!sum->wide_used && !clr_sum_is_unusual(sum) && !(integer && terms)) {
        kept->form = integer ? CLR_KEPT_INTEGER : CLR_KEPT_TERMS;
        if (integer)
            kept->as.integer = sum->integer;
        else
            memcpy(kept->as.term, sum->term, sizeof sum->term);
        return CLR_SCAN_DONE;
    }
    if (!clr_group_memory_take(memory, sizeof *sum))
        return CLR_SCAN_LIMIT;
    kept->as.full = clr_memory_alloc(sizeof *sum);
    if (kept->as.full == NULL) {
        clr_group_memory_return(memory, sizeof *sum);
        return CLR_SCAN_FAILED;
    }
    kept->form = CLR_KEPT_FULL;
    clr_sum_clear(kept->as.full);
    clr_sum_merge(kept->as.full, sum);
    return CLR_SCAN_DONE;
}

/* Adds what is stored to a sum. */
static void load_sum(const struct clr_kept_sum *kept, struct clr_sum *sum)
{
    int i;

    switch (kept->form) {
    case CLR_KEPT_TERMS:
        for (i = 0; i < CLR_EXPANSION_TERMS; i++)
            clr_sum_add(sum, kept->as.term[i], 1);
        break;
    case CLR_KEPT_INTEGER:
        clr_int192_add(&sum->integer, &kept->as.integer);
        break;
    case CLR_KEPT_FULL:
        clr_sum_merge(sum, kept->as.full);
        break;
    }
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

    record_state(&groups->plan, tally, clr_groups_record(groups, group), state);
    if (kept == NULL)
        return;
    clr_sum_clear(&state->sum);
    load_sum(kept, &state->sum);
}

/* ---- Numbers that records have as they are. */

/* Whether all values that count are of that type. */
static bool has_only(const struct clr_group_tally *kept, uint8_t tag)
{
    const unsigned types = kept->x_types | kept->y_types;

    return kept->has_x && kept->others < 0 &&
           (types & ~(unsigned)CLR_TYPE(CLR_TAG_NULL)) == CLR_TYPE(tag);
}

/* Returns which of an extreme's words has it. */
static int extreme_of(const struct clr_group_tally *kept, enum clr_group_number number)
{
    return kept->extremes[(has_only(kept, CLR_TAG_REAL) ? 2 : 0) + (number == CLR_GROUP_GREATEST)];
}

bool clr_groups_may_read(const struct clr_groups *groups, int tally, enum clr_group_number number)
{
    const struct clr_group_tally *kept = &groups->plan.tallies[tally];
    const bool integers = has_only(kept, CLR_TAG_INTEGER), reals = has_only(kept, CLR_TAG_REAL);

    if (number == CLR_GROUP_COUNT)
        return true;
    if (number >= CLR_GROUP_LEAST)
        return (integers || reals) && extreme_of(kept, number) >= 0;
    return !kept->gathers_sum && ((integers && kept->integer >= 0 && kept->integer_high < 0) ||
                                  (reals && kept->real_high >= 0));
}

bool clr_groups_sums_are_within(const struct clr_groups *groups, int tally, int64_t most)
{
    const struct clr_group_tally *kept = &groups->plan.tallies[tally];

    return kept->is_bounded && has_only(kept, CLR_TAG_INTEGER) &&
           (clr_i128)kept->integer_limit * (clr_i128)groups->rows <= most;
}

/* Returns the sum, or the average of so many. */
static struct clr_scalar read_sum(const struct clr_group_tally *kept, const int64_t *record,
                                  enum clr_group_number number, int64_t count)
{
    struct clr_sum sum;

    if (number == CLR_GROUP_SUM && kept->real_high < 0)
        return (struct clr_scalar){CLR_TAG_INTEGER,
                                   clr_group_field_get(&kept->field, record[kept->integer])};
    if (number == CLR_GROUP_SUM)
        return (struct clr_scalar){
            CLR_TAG_REAL, clr_bits_of(clr_window_round(&kept->window, record[kept->real_high],
                                                       record[kept->real_low]))};
    clr_sum_clear(&sum);
    if (kept->real_high < 0)
        set_integer(kept, record, &sum);
    else
        clr_window_sum(&kept->window, record[kept->real_high], record[kept->real_low], &sum);
    return (struct clr_scalar){CLR_TAG_REAL, clr_bits_of(clr_sum_round(&sum, (uint64_t)count))};
}

static struct clr_scalar read_extreme(const struct clr_group_tally *kept, const int64_t *record,
                                      enum clr_group_number number)
{
    const uint64_t word = (uint64_t)record[extreme_of(kept, number)];
    const int64_t value =
        number == CLR_GROUP_LEAST ? clr_group_least_of(word) : clr_group_greatest_of(word);

    return has_only(kept, CLR_TAG_REAL) ? (struct clr_scalar){CLR_TAG_REAL, clr_real_to_key(value)}
                                        : (struct clr_scalar){CLR_TAG_INTEGER, value};
}

static struct clr_scalar read_number(const struct clr_groups *groups, size_t group, int tally,
                                     enum clr_group_number number)
{
    const struct clr_group_tally *kept = &groups->plan.tallies[tally];
    const int64_t *record = clr_groups_record(groups, group);
    const int64_t count = count_of(&groups->plan, kept, record);

    if (number == CLR_GROUP_COUNT)
        return (struct clr_scalar){CLR_TAG_INTEGER, count};
    if (count == 0)
        return (struct clr_scalar){CLR_TAG_NULL, 0};
    if (number >= CLR_GROUP_LEAST)
        return read_extreme(kept, record, number);
    if (find_sum(&groups->sums[tally], group) == NULL)
        return read_sum(kept, record, number, count);
    return (struct clr_scalar){CLR_TAG_UNSURE, 0};
}

bool clr_groups_read(const struct clr_groups *groups, int tally, enum clr_group_number number,
                     size_t first, size_t count, const struct clr_group_cells *cells)
{
    bool has_all = true;
    size_t i;

    for (i = 0; i < count; i++) {
        const struct clr_scalar value = read_number(groups, first + i, tally, number);

        set_cell(cells, i, value);
        has_all &= value.tag != CLR_TAG_UNSURE;
    }
    return has_all;
}

/* ---- Answers. */

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

const int64_t *clr_groups_values(const struct clr_groups *groups, size_t group, int question,
                                 size_t *count)
{
    const struct clr_gathered_answer *answer = &groups->answers[question];
    const struct clr_listed *listed = (const struct clr_listed *)answer->lists.start + group;

    *count = listed->count;
    return (const int64_t *)answer->numbers.start + listed->first;
}

/* ---- Spills. */

/* All that are spilled, in the order of their tallies and groups. */
struct spilled {
    struct clr_groups *groups;
    struct clr_group_item *items; /* keys: the tally, and the group; numbers: of a part's spills */
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
        add_spill(
            &groups->parts[spilled->items[i].part]->addends.spills.spills[spilled->items[i].number],
            &state.sum);
    if (groups->plan.tallies[tally].gathers_sum && kept->form == CLR_KEPT_FULL) {
        clr_memory_free(kept->as.full);
        clr_group_memory_return(&groups->memory, sizeof *kept->as.full);
        kept->form = CLR_KEPT_TERMS;
    }
    *outcome = clr_kept_sum_store(kept, &groups->memory, &state.sum);
    return i;
}

/* Adds the spills of a tally. Where its groups' records have the sums, some are kept for the groups
   with spills, else all groups' are kept already. */
static enum clr_scan_outcome add_tally(const struct spilled *spilled, size_t first, size_t end,
                                       size_t group_count, const atomic_bool *stop)
{
    struct clr_groups *groups = spilled->groups;
    const int tally = tally_of(&spilled->items[first]);
    const bool all = groups->plan.tallies[tally].gathers_sum;
    struct clr_kept_sums made = {.count = 0}, *sums = &groups->sums[tally];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (!all)
        outcome =
            clr_room_make(&made.sums, &groups->memory, group_count * sizeof(struct clr_kept_sum));
    if (!all && outcome == CLR_SCAN_DONE)
        outcome = clr_room_make(&made.groups, &groups->memory, group_count * sizeof(uint32_t));
    while (first < end && outcome == CLR_SCAN_DONE && !clr_portion_stops(stop)) {
        const uint32_t group = (uint32_t)spilled->items[first].key;
        struct clr_kept_sum *kept = all ? (struct clr_kept_sum *)sums->sums.start + group
                                        : (struct clr_kept_sum *)made.sums.start + made.count;

        if (!all)
            ((uint32_t *)made.groups.start)[made.count] = group;
        first = add_group(spilled, first, kept, &outcome);
        made.count += outcome == CLR_SCAN_DONE;
    }
    if (!all)
        *sums = made;
    return outcome;
}

static enum clr_scan_outcome add_all(const struct spilled *spilled, const atomic_bool *stop)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t first = 0, end, count;

    for (; first < spilled->count && outcome == CLR_SCAN_DONE; first = end) {
        count = count_groups(spilled, first, &end);
        outcome = add_tally(spilled, first, end, count, stop);
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

            spilled->items[n] = (struct clr_group_item){(uint64_t)spill->tally << 32 | final,
                                                        (uint32_t)i, (uint32_t)part};
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
    struct clr_room items;
    enum clr_scan_outcome outcome;
    int part;

    for (part = 0; part < groups->part_count; part++)
        spilled.count += groups->parts[part]->addends.spills.count;
    if (spilled.count == 0)
        return CLR_SCAN_DONE;
    if (spilled.count > UINT32_MAX)
        return CLR_SCAN_LIMIT;
    outcome = clr_room_make(&items, &groups->memory, 2 * spilled.count * sizeof *spilled.items);
    if (outcome == CLR_SCAN_DONE) {
        spilled.items = items.start;
        outcome =
            team->run(team->context, 1, add_spilled, &spilled) ? spilled.outcome : CLR_SCAN_STOPPED;
    }
    clr_room_free(&items, &groups->memory);
    return outcome;
}
