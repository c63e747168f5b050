#include "numeric/grouping/runs.h"

#include <string.h>

/* ---- Groups of rows, by what is kept of their keys. */

/* Returns the code of a key, a lookup, in a row of the columns; or, if all rows of the block are of
   one group, in one of these, which its zone tells without a look at the rows. */
static uint32_t code_of(const struct clr_block *block, int key, size_t row, bool all)
{
    return all ? (uint32_t)clr_block_zone(block, key)->least
               : clr_column_code(clr_block_column(block, key), row);
}

/* Returns the value of such a key, or of one that is a column. */
static struct clr_scalar value_of(const struct clr_block *block, int key, size_t row, bool all)
{
    const struct clr_instruction *instruction = &block->scan->instructions[key];
    const struct clr_column *column = clr_block_column(block, key);
    const struct clr_lookup *lookup;
    uint32_t code;

    if (instruction->opcode == CLR_OP_COLUMN && all)
        return clr_block_zone(block, key)->types == CLR_TYPE(CLR_TAG_NULL)
                   ? (struct clr_scalar){.tag = CLR_TAG_NULL}
                   : (struct clr_scalar){CLR_TAG_INTEGER, clr_block_zone(block, key)->least};
    if (instruction->opcode == CLR_OP_COLUMN)
        return (struct clr_scalar){column->kind, clr_column_value(column, row)};
    lookup = &block->scan->lookups[instruction->b];
    code = code_of(block, key, row, all);
    return (struct clr_scalar){clr_lookup_tag(lookup, code), lookup->values[code]};
}

/* Stores the number of the group of a row of the columns, or, if all rows of the block are of one,
   of that one. Keys are plain. Returns false if it has none. */
static bool find_group(const struct clr_group_plan *plan, const struct clr_block *block, size_t row,
                       bool all, uint64_t *number)
{
    const struct clr_grouping *grouping = &plan->grouping;
    struct clr_scalar value;
    int i;

    *number = plan->by_codes ? code_of(block, grouping->keys[0], row, all) : 0;
    for (i = 0; i < grouping->key_count && !plan->by_codes; i++) {
        value = value_of(block, grouping->keys[i], row, all);
        if ((value.tag != CLR_TAG_INTEGER && value.tag != CLR_TAG_NULL) ||
            clr_group_add_place(&plan->keys[i], grouping->descending[i] && !grouping->by_first,
                                value.tag == CLR_TAG_NULL, value.bits, number))
            return false;
    }
    return true;
}

/* Whether all rows of a block, which has not run, have the same value of a key, as zones tell. */
static bool has_only_value(const struct clr_block *block, int key)
{
    enum { FEW_CODES = 64 };
    const struct clr_instruction *instruction = &block->scan->instructions[key];
    const struct clr_zone *zone = clr_block_zone(block, key);
    const struct clr_lookup *lookup;
    int64_t code;

    if (zone == NULL)
        return false;
    if (instruction->opcode == CLR_OP_COLUMN)
        return zone->types == CLR_TYPE(CLR_TAG_NULL) ||
               (zone->types == CLR_TYPE(CLR_TAG_INTEGER) && zone->least == zone->greatest);
    lookup = &block->scan->lookups[instruction->b];
    if (zone->greatest - zone->least >= FEW_CODES)
        return false;
    for (code = zone->least + 1; code <= zone->greatest; code++)
        if (clr_lookup_tag(lookup, (uint32_t)code) !=
                clr_lookup_tag(lookup, (uint32_t)zone->least) ||
            lookup->values[code] != lookup->values[zone->least])
            return false;
    return true;
}

bool clr_group_has_plain_keys(const struct clr_group_plan *plan, const struct clr_block *block)
{
    const struct clr_grouping *grouping = &plan->grouping;
    int i;

    for (i = 0; i < grouping->key_count; i++) {
        const enum clr_opcode opcode = block->scan->instructions[grouping->keys[i]].opcode;

        if (opcode != CLR_OP_COLUMN && opcode != CLR_OP_LOOKUP)
            return false;
    }
    return plan->numbering == CLR_NUMBERED_DIRECTLY;
}

bool clr_group_find_only(const struct clr_group_plan *plan, const struct clr_block *block,
                         uint64_t *number)
{
    int i;

    for (i = 0; i < plan->grouping.key_count; i++)
        if (!has_only_value(block, plan->grouping.keys[i]))
            return false;
    return find_group(plan, block, block->first, true, number);
}

/* ---- Runs. */

/* A run of so many rows of a block is found by what the others leave of it: their sums are then
   found twice. */
enum { REST_ROWS = CLR_BLOCK / 8 * 3 };

/* Stores which rows of a full block are followed by another value of a key, as it is kept, and
   perhaps the last one. Returns false if what is kept does not tell, no row follows the block, or
   they are many. */
static bool find_ends_of_key(const struct clr_block *block, int key, uint64_t *ends)
{
    const struct clr_column *column = clr_block_column(block, key);
    const char *kept = column->codes != NULL             ? column->codes
                       : column->kind == CLR_TAG_INTEGER ? column->words
                                                         : NULL;
    const size_t width = clr_column_width(column);

    if (kept == NULL || block->first + CLR_BLOCK >= column->rows)
        return false;
    return block->loops->find_ends(kept + block->first * width, (int)width, CLR_MOST_RUNS, ends);
}

/* Stores the last rows of runs of a full block: behind them what is kept of a key is another one.
   Returns false if it does not tell, or they are many. */
static bool find_ends_of_keys(const struct clr_group_plan *plan, const struct clr_block *block,
                              uint64_t *ends)
{
    uint64_t of_key[CLR_BLOCK_WORDS];
    size_t i;
    int key;

    memset(ends, 0, CLR_BLOCK_WORDS * sizeof *ends);
    for (key = 0; key < plan->grouping.key_count; key++) {
        if (!find_ends_of_key(block, plan->grouping.keys[key], of_key))
            return false;
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            ends[i] |= of_key[i];
    }
    ends[CLR_BLOCK_WORDS - 1] |= (uint64_t)1 << 63;
    return block->loops->count(ends) <= CLR_MOST_RUNS;
}

/* The rows of a run: of the block those from one to another. */
struct run {
    size_t row, end;
};

/* Takes its rows out of a set. */
static void drop_rows(uint64_t *rows, const struct run *run)
{
    const size_t last = (run->end - 1) / 64;
    uint64_t mask = UINT64_MAX << run->row % 64;
    size_t i;

    for (i = run->row / 64; i < last; i++, mask = UINT64_MAX)
        rows[i] &= ~mask;
    rows[last] &= ~(mask & UINT64_MAX >> (63 - (run->end - 1) % 64));
}

/* What takes runs of a block. */
struct taker {
    const struct clr_group_plan *plan;
    struct clr_group_addends *addends;
    int64_t *records;
    const struct clr_block *block;
};

static void add_record(const struct taker *taker, uint64_t number, const int64_t *words)
{
    clr_group_record_add(taker->plan, words, taker->records + number * taker->plan->stride);
}

/* Takes a run, if its group and its sums are told, out of the rows that are left. */
static void take_run(const struct taker *taker, const struct run *run, uint64_t *left)
{
    const size_t first = taker->block->first + run->row;
    const int64_t *found;
    uint64_t number;

    if (!find_group(taker->plan, taker->block, first, false, &number))
        return;
    found = clr_group_addends_of_run(taker->addends, taker->block, first, run->end - run->row);
    if (found == NULL)
        return;
    add_record(taker, number, found);
    drop_rows(left, run);
}

/* Stores the long runs. Returns how many they are. */
static size_t find_runs(const uint64_t *ends, struct run runs[CLR_BLOCK / CLR_LONG_RUN])
{
    size_t count = 0, row = 0, end, i;
    uint64_t word;

    for (i = 0; i < CLR_BLOCK_WORDS; i++) {
        for (word = ends[i]; word != 0; word &= word - 1, row = end) {
            end = i * 64 + (size_t)__builtin_ctzll(word) + 1;
            if (end - row >= CLR_LONG_RUN)
                runs[count++] = (struct run){row, end};
        }
    }
    return count;
}

bool clr_group_take_runs(const struct clr_group_plan *plan, struct clr_group_addends *addends,
                         int64_t *records, const struct clr_block *block, uint64_t *left,
                         size_t *count)
{
    const struct taker taker = {plan, addends, records, block};
    struct run runs[CLR_BLOCK / CLR_LONG_RUN], longest = {0, 0};
    uint64_t ends[CLR_BLOCK_WORDS], number;
    const int64_t *rest = NULL;
    size_t run_count, i;

    if (plan->grouping.by_first || block->count < CLR_BLOCK ||
        !clr_group_addends_tell_runs(addends, block) || !find_ends_of_keys(plan, block, ends))
        return false;
    run_count = find_runs(ends, runs);
    for (i = 0; i < run_count; i++)
        if (runs[i].end - runs[i].row > longest.end - longest.row)
            longest = runs[i];
    if (longest.end - longest.row >= REST_ROWS &&
        find_group(plan, block, block->first + longest.row, false, &number))
        rest = clr_group_addends_of_rest(addends, block, longest.row, longest.end);
    memset(left, -1, CLR_BLOCK_WORDS * sizeof *left);
    if (rest != NULL) {
        add_record(&taker, number, rest);
        drop_rows(left, &longest);
    }
    for (i = 0; i < run_count; i++)
        if (rest == NULL || runs[i].row != longest.row)
            take_run(&taker, &runs[i], left);
    *count = block->loops->count(left);
    return true;
}
