#include "numeric/filter/row_set.h"
#include "numeric/grouping/addends_private.h"

/* Returns the values, and 0 for those of the selected rows that are not among these. */
static const int64_t *mask(const struct clr_addend_task *task, const int64_t *values,
                           const uint64_t *rows, int64_t *room)
{
    size_t i;

    if (clr_addend_same_rows(rows, task->selected))
        return values;
    task->block->loops->spread_bits(rows, room);
    for (i = 0; i < CLR_BLOCK; i++)
        room[i] = values[i] & -room[i];
    return room;
}

enum clr_scan_outcome clr_addend_spill(const struct clr_addend_task *task, size_t row,
                                       uint8_t x_tag, uint8_t y_tag)
{
    const struct clr_group_spill spill = {task->numbers[row],
                                          (uint16_t)task->number,
                                          x_tag,
                                          y_tag,
                                          task->x->values[row],
                                          task->y == NULL ? 0 : task->y->values[row]};

    return clr_group_spills_add(&task->addends->spills, task->addends->memory, &spill);
}

/* ---- Sums. */

/* Whether the sum of INTEGERs shares its word with others. */
static bool is_packed(const struct clr_group_tally *kept)
{
    return kept->integer_limit != 0 && kept->field.bits < CLR_WORD_BITS;
}

/* Returns room for the INTEGERs of a sum: their word, or what is left beside the words. */
static int64_t *own_values(const struct clr_addend_task *task)
{
    const int word = is_packed(task->kept) ? task->addends->plan->words : task->kept->integer;

    return clr_addend_own_word(task, word);
}

/* Takes the rows whose digits could not be cut, or whose INTEGERs are too large, out of the words
   and to the spills. */
static enum clr_scan_outcome spill_rows(const struct clr_addend_task *task, const uint64_t *rows,
                                        const uint8_t *outside, uint8_t x_tag, uint8_t y_tag)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    struct clr_group_doubts *doubts = task->addends->doubts;
    size_t *spilled = &task->addends->spilled[task->number], row;
    const bool packed = x_tag == CLR_TAG_INTEGER && is_packed(task->kept);

    for (row = 0; row < task->block->count && outcome == CLR_SCAN_DONE; row++) {
        if (!outside[row] || !(rows[row / 64] >> row % 64 & 1))
            continue;
        outcome = clr_addend_spill(task, row, x_tag, y_tag);
        ++*spilled;
    }
    if (*spilled > 0 && task->kept->is_bounded)
        *(packed ? &doubts->fields[task->number] : &doubts->bounds[task->number]) = true;
    if (*spilled > clr_group_most_spilled(task->addends->rows))
        *(packed ? &doubts->fields[task->number] : &doubts->window[task->number]) = true;
    return outcome;
}

static enum clr_scan_outcome sum_reals(const struct clr_addend_task *task, const uint64_t *rows)
{
    const struct clr_group_tally *kept = task->kept;
    int64_t *high = clr_addend_own_word(task, kept->real_high),
            *low = clr_addend_own_word(task, kept->real_low);
    const int64_t *values;
    uint8_t outside[CLR_BLOCK];

    values = mask(task, task->x->values, rows, high);
    clr_addend_set_word(task, kept->real_high, high);
    clr_addend_set_word(task, kept->real_low, low);
    if (task->addends->loops->cut(&kept->window, values, high, low,
                                  clr_block_ahead(task->block, values)))
        return CLR_SCAN_DONE;
    values = mask(task, task->x->values, rows, high);
    task->addends->loops->cut_carefully(&kept->window, values, high, low, outside);
    return spill_rows(task, rows, outside, CLR_TAG_REAL, CLR_TAG_NULL);
}

/* Adds INTEGERs to their part of a word. Those that are too large are taken out again. */
static enum clr_scan_outcome add_to_field(const struct clr_addend_task *task, const int64_t *values,
                                          const uint64_t *rows)
{
    const struct clr_group_plan *plan = task->addends->plan;
    const struct clr_group_tally *kept = task->kept;
    const bool counts = kept->integer == 0;
    const struct clr_group_packing packing = {.limit = kept->integer_limit,
                                              .shift = kept->field.shift,
                                              .first = kept->field.shift ==
                                                       (counts ? plan->count.bits : 0),
                                              .start = counts};
    const struct clr_group_loops *loops = task->addends->loops;
    int64_t *word = clr_addend_own_word(task, kept->integer);
    int64_t limited[CLR_BLOCK];
    uint8_t outside[CLR_BLOCK];
    size_t i;

    clr_addend_set_word(task, kept->integer, word);
    if (loops->pack(&packing, values, word, clr_block_ahead(task->block, values)))
        return CLR_SCAN_DONE;
    loops->limit(values, kept->integer_limit, limited, outside);
    for (i = 0; i < CLR_BLOCK; i++)
        word[i] =
            (int64_t)((uint64_t)word[i] - ((uint64_t)(values[i] - limited[i]) << packing.shift));
    return spill_rows(task, rows, outside, CLR_TAG_INTEGER, CLR_TAG_NULL);
}

static enum clr_scan_outcome sum_integers(const struct clr_addend_task *task, const uint64_t *rows)
{
    const struct clr_group_tally *kept = task->kept;
    int64_t *own = own_values(task);
    const int64_t *values = mask(task, task->x->values, rows, own);
    uint8_t outside[CLR_BLOCK];

    if (is_packed(kept))
        return add_to_field(task, values, rows);
    if (kept->integer_limit == 0) {
        task->addends->loops->split(values, own, clr_addend_own_word(task, kept->integer_high));
        clr_addend_set_word(task, kept->integer, own);
        clr_addend_set_word(task, kept->integer_high,
                            clr_addend_own_word(task, kept->integer_high));
        return CLR_SCAN_DONE;
    }
    clr_addend_set_word(task, kept->integer, values);
    if (task->addends->loops->within(values, kept->integer_limit,
                                     clr_block_ahead(task->block, values)))
        return CLR_SCAN_DONE;
    task->addends->loops->limit(values, kept->integer_limit, own, outside);
    clr_addend_set_word(task, kept->integer, own);
    return spill_rows(task, rows, outside, CLR_TAG_INTEGER, CLR_TAG_NULL);
}

/* Products of INTEGERs, in one limb. */
static enum clr_scan_outcome sum_products(const struct clr_addend_task *task, const uint64_t *rows)
{
    const struct clr_group_tally *kept = task->kept;
    int64_t *own = own_values(task);
    const int64_t *x = mask(task, task->x->values, rows, own);
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    uint8_t outside[CLR_BLOCK];

    if (!task->addends->loops->multiply(x, task->y->values, kept->integer_limit, own, outside))
        outcome = spill_rows(task, rows, outside, CLR_TAG_INTEGER, CLR_TAG_INTEGER);
    if (outcome == CLR_SCAN_DONE && is_packed(kept))
        return add_to_field(task, own, rows);
    clr_addend_set_word(task, kept->integer, own);
    return outcome;
}

enum clr_scan_outcome clr_addend_sum(const struct clr_addend_task *task, const uint64_t *rows,
                                     const uint64_t *integers)
{
    const struct clr_group_tally *kept = task->kept;
    uint64_t found[CLR_BLOCK_WORDS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (kept->integer >= 0)
        outcome = clr_tally_does(task->tally, CLR_DOT) ? sum_products(task, integers)
                                                       : sum_integers(task, integers);
    if (outcome == CLR_SCAN_DONE && kept->real_high >= 0) {
        if (!clr_row_set_find(task->block->loops, task->x, CLR_TAG_REAL, rows, found))
            memset(found, 0, sizeof found);
        outcome = sum_reals(task, found);
    }
    return outcome;
}

/* ---- Extremes. */

void clr_addend_find_extremes(const struct clr_addend_task *task, const uint64_t *rows,
                              enum clr_tag tag, const int words[2])
{
    int64_t *ends[2] = {NULL, NULL}, masks[CLR_BLOCK];
    const int64_t *values = task->x->values;
    uint64_t found[CLR_BLOCK_WORDS];
    bool all;
    int i;

    if (words[0] < 0 && words[1] < 0)
        return;
    for (i = 0; i < 2; i++) {
        if (words[i] < 0)
            continue;
        ends[i] = clr_addend_own_word(task, words[i]);
        clr_addend_set_word(task, words[i], ends[i]);
    }
    if (!clr_row_set_find(task->block->loops, task->x, tag, rows, found))
        memset(found, 0, sizeof found);
    all = clr_addend_same_rows(found, task->selected);
    if (!all)
        task->block->loops->spread_bits(found, masks);
    task->addends->loops->find_extremes(values, all ? NULL : masks, tag == CLR_TAG_REAL, ends[0],
                                        ends[1], clr_block_ahead(task->block, values));
}
