#include "numeric/grouping/part.h"

#include "base/memory.h"
#include "numeric/filter/filter.h"
#include "numeric/scan/block_run.h"

#include <string.h>

/* Bytes of records that stay in a processor's cache without being fetched. */
enum { NEAR = 1 << 19 };

/* After TELLING rows of which nearly all are groups of their own, the others are expected to be.
   Where places are sorted in the end this is judged by SOME rows, and one in 16: if even more are,
   most groups have one or two rows, and they need not be looked for before. */
enum { TELLING = 1 << 16, SOME = 1 << 14 };

void clr_group_part_begin(struct clr_group_part *part)
{
    const struct clr_group_plan *plan = part->plan;
    const bool by_place = plan->numbering == CLR_NUMBERED_DIRECTLY;
    const size_t rows = part->most, record = plan->stride * sizeof(int64_t);
    enum clr_scan_outcome outcome =
        clr_group_numbers_init(&part->numbers, plan, part->memory, rows);
    uint64_t i;

    if (outcome == CLR_SCAN_DONE)
        outcome = clr_group_addends_init(&part->addends, plan, part->memory, rows, &part->doubts);
    if (outcome == CLR_SCAN_DONE && by_place) {
        part->capacity = (size_t)plan->places;
        outcome = clr_room_make(&part->records, part->memory, part->capacity * record);
    } else if (outcome == CLR_SCAN_DONE) {
        outcome = clr_room_reserve(&part->records, rows * record);
    }
    if (outcome == CLR_SCAN_DONE && by_place && plan->grouping.by_first) {
        outcome = clr_room_make(&part->first_rows, part->memory, part->capacity * sizeof i);
        for (i = 0; outcome == CLR_SCAN_DONE && i < plan->places; i++)
            ((uint64_t *)part->first_rows.start)[i] = CLR_NO_ROW;
    }
    part->outcome = outcome;
}

struct clr_group_part *clr_group_part_new(const struct clr_group_plan *plan,
                                          struct clr_group_memory *memory, uint64_t first,
                                          size_t most)
{
    struct clr_group_part *part = clr_memory_alloc_zero(sizeof *part);

    if (part == NULL)
        return NULL;
    part->plan = plan;
    part->memory = memory;
    part->first = first;
    part->most = most;
    return part;
}

void clr_group_part_free(struct clr_group_part *part)
{
    if (part == NULL)
        return;
    clr_group_numbers_free(&part->numbers);
    clr_group_addends_free(&part->addends);
    clr_room_free(&part->records, part->memory);
    clr_room_free(&part->first_rows, part->memory);
    clr_memory_free(part);
}

/* Lists the selected rows. Returns how many they are. The same ones as last time, all of them, need
   not be listed again. */
static size_t list_rows(struct clr_group_part *part, const uint64_t *selected)
{
    uint16_t *rows = part->rows;
    size_t count = 0, i;
    uint64_t word, all = UINT64_MAX;

    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        all &= selected[i];
    if (all == UINT64_MAX && part->all_rows)
        return CLR_BLOCK;
    part->all_rows = all == UINT64_MAX;
    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        for (word = selected[i]; word != 0; word &= word - 1)
            rows[count++] = (uint16_t)(i * 64 + (size_t)__builtin_ctzll(word));
    return count;
}

static void note_first_rows(struct clr_group_part *part, size_t count)
{
    const uint64_t first = part->first + part->seen;
    uint64_t *first_rows = part->first_rows.start;
    size_t i;

    for (i = 0; i < count; i++) {
        uint64_t *row = &first_rows[part->numbers.numbers[part->rows[i]]];
        if (*row == CLR_NO_ROW)
            *row = first + part->rows[i];
    }
}

/* Makes room for the records of all groups that have numbers. */
static enum clr_scan_outcome make_room(struct clr_group_part *part)
{
    const size_t most = part->most, count = clr_group_part_count(part);
    enum clr_scan_outcome outcome;
    size_t capacity;

    if (count <= part->capacity)
        return CLR_SCAN_DONE;
    capacity = count + count / 8 + CLR_BLOCK;
    capacity = capacity < most ? capacity : most;
    outcome = clr_room_take(&part->records, part->memory,
                            capacity * part->plan->stride * sizeof(int64_t));
    if (outcome == CLR_SCAN_DONE)
        part->capacity = capacity;
    return outcome;
}

bool clr_group_part_has_doubts(const struct clr_group_part *part)
{
    bool doubts = part->doubts.keys;
    int i;

    for (i = 0; i < part->plan->tally_count; i++)
        doubts = doubts || part->doubts.types[i] || part->doubts.window[i] ||
                 part->doubts.bounds[i] || part->doubts.fields[i];
    return doubts;
}

static void add(struct clr_group_part *part, const uint64_t *selected, size_t count, bool all,
                const int64_t *ahead)
{
    const struct clr_group_plan *plan = part->plan;
    const struct clr_group_adding adding = {
        .records = part->records.start,
        .stride = plan->stride,
        .words = part->addends.words,
        .adds = plan->adds,
        .all = plan->words,
        .numbers = part->numbers.numbers,
        .rows = all ? NULL : part->rows,
        .count = count,
        .selected = selected,
        .ahead = ahead,
        .fetches = clr_group_part_count(part) * plan->stride * sizeof(int64_t) > NEAR};

    part->addends.loops->add(&adding);
}

/* Whether there is memory for groups of all rows, in all parts, and for two items to sort of each.
 */
static bool has_room_for_all(const struct clr_group_part *part)
{
    const size_t group =
        part->plan->stride * sizeof(int64_t) + sizeof(uint64_t) + 2 * sizeof(struct clr_group_slot);
    const int64_t left = (int64_t)atomic_load(&part->memory->left);

    return left > 0 && part->plan->scan->rows <= (uint64_t)left / 2 / group;
}

/* Of rows in portions it is not known how many come. */
static void expect_groups(struct clr_group_part *part)
{
    const struct clr_group_plan *plan = part->plan;
    struct clr_group_table *table = &part->numbers.table;
    const bool sorts = clr_group_plan_sorts(plan);
    const size_t some = part->most / 16 / CLR_BLOCK * CLR_BLOCK;

    if (plan->numbering == CLR_NUMBERED_DIRECTLY || part->seen != (!sorts        ? TELLING
                                                                   : some < SOME ? SOME
                                                                                 : some))
        return;
    if (sorts && table->count > part->seen / 16 * 15 && has_room_for_all(part))
        clr_group_table_append(table);
    else if (table->count > part->seen / 8 * 7)
        clr_group_table_expect(table, part->most);
}

static enum clr_scan_outcome run_block(struct clr_group_part *part, struct clr_block *block)
{
    uint64_t selected[CLR_BLOCK_WORDS];
    enum clr_scan_outcome outcome;
    const int64_t *ahead;
    size_t count;

    if (!clr_filter_select(block, selected))
        return CLR_SCAN_UNSURE;
    count = list_rows(part, selected);
    if (count == 0)
        return CLR_SCAN_DONE;
    clr_block_run(block, CLR_STAGE_TALLIES);
    ahead = clr_block_ahead(block, NULL); /* for the loop that takes the longest */
    outcome = clr_group_numbers_find(&part->numbers, block, selected, part->rows, count,
                                     &part->doubts.keys);
    if (outcome == CLR_SCAN_DONE && !part->doubts.keys)
        outcome = make_room(part);
    if (outcome == CLR_SCAN_DONE && !part->doubts.keys)
        outcome = clr_group_addends_find(&part->addends, block, selected, part->numbers.numbers);
    if (outcome == CLR_SCAN_DONE && clr_group_part_has_doubts(part))
        outcome = CLR_SCAN_NOT_NOW;
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    if (part->first_rows.start != NULL)
        note_first_rows(part, count);
    add(part, selected, count, count == block->count, ahead);
    return CLR_SCAN_DONE;
}

void clr_group_part_take(struct clr_group_part *part, const struct clr_scan *scan, size_t first,
                         size_t last, const atomic_bool *stop)
{
    struct clr_block *block = part->outcome == CLR_SCAN_DONE ? clr_block_new(scan) : NULL;
    const bool is_whole = scan == part->plan->scan;

    if (part->outcome == CLR_SCAN_DONE && block == NULL)
        part->outcome = CLR_SCAN_FAILED;
    if (block != NULL && part->plan->by_codes)
        block->terms.stages[scan->grouping->keys[0]] = 0; /* nobody looks at its register */
    for (; first < last && part->outcome == CLR_SCAN_DONE; first += CLR_BLOCK) {
        const size_t rest = last - first, count = rest < CLR_BLOCK ? rest : CLR_BLOCK;

        if (atomic_load_explicit(stop, memory_order_relaxed)) {
            part->outcome = CLR_SCAN_STOPPED;
            break;
        }
        clr_block_set_rows(block, first, count);
        if (is_whole)
            expect_groups(part);
        part->outcome = run_block(part, block);
        part->seen += count;
    }
    clr_block_free(block);
}

void clr_group_part_end(struct clr_group_part *part)
{
    clr_room_free(&part->numbers.table.slots, part->memory); /* no more keys come */
}

void clr_group_part_run(struct clr_group_part *part, const atomic_bool *stop)
{
    const size_t first = (size_t)part->first;

    clr_group_part_begin(part);
    clr_group_part_take(part, part->plan->scan, first, first + part->most, stop);
    clr_group_part_end(part);
}
