#include "numeric/grouping/addends_private.h"

#include "base/memory.h"
#include "numeric/filter/filter.h"
#include "numeric/filter/row_set.h"

#include <string.h>

static const int64_t zeros[CLR_BLOCK];

enum clr_scan_outcome clr_group_addends_init(struct clr_group_addends *addends,
                                             const struct clr_group_plan *plan,
                                             struct clr_group_memory *memory, size_t rows,
                                             struct clr_group_doubts *doubts)
{
    const size_t words = (size_t)plan->words, tallies = (size_t)plan->scan->tally_count;

    memset(addends, 0, sizeof *addends);
    addends->plan = plan;
    addends->loops = clr_group_loops_choose(0);
    addends->memory = memory;
    addends->rows = rows;
    addends->doubts = doubts;
    addends->words = clr_memory_alloc(words * sizeof *addends->words);
    addends->own = clr_memory_alloc((words + 1) * CLR_BLOCK * sizeof *addends->own);
    if (addends->words != NULL)
        addends->words[0] = NULL;
    addends->lists = clr_memory_alloc_zero(tallies * CLR_LISTS * sizeof *addends->lists + 1);
    return addends->words != NULL && addends->own != NULL && addends->lists != NULL
               ? CLR_SCAN_DONE
               : CLR_SCAN_FAILED;
}

void clr_group_addends_free(struct clr_group_addends *addends)
{
    int i;

    if (addends->plan == NULL)
        return;
    for (i = 0; addends->lists != NULL && i < addends->plan->scan->tally_count * CLR_LISTS; i++)
        clr_group_list_free(&addends->lists[i], addends->memory);
    clr_group_spills_free(&addends->spills, addends->memory);
    clr_memory_free(addends->lists);
    clr_memory_free(addends->own);
    clr_memory_free(addends->words);
}

/* Has a word count the selected rows that are not among these. */
static void count_others(const struct clr_addend_task *task, int word, const uint64_t *rows)
{
    uint64_t others[CLR_BLOCK_WORDS];
    size_t i;

    if (word < 0)
        return;
    if (clr_addend_same_rows(rows, task->selected)) {
        clr_addend_set_word(task, word, zeros);
        return;
    }
    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        others[i] = task->selected[i] & ~rows[i];
    task->block->loops->spread_bits(others, clr_addend_own_word(task, word));
    clr_addend_set_word(task, word, clr_addend_own_word(task, word));
}

/* ---- Lists. */

static enum clr_scan_outcome list_rows(const struct clr_addend_task *task, const uint64_t *rows,
                                       enum clr_tag x_tag, enum clr_tag y_tag,
                                       enum clr_group_list_kind kind)
{
    struct clr_group_list *list = &task->addends->lists[task->number * CLR_LISTS + (int)kind];
    const bool pairs = task->kept->pairs;
    uint64_t of_x[CLR_BLOCK_WORDS], found[CLR_BLOCK_WORDS], word;
    enum clr_scan_outcome outcome;
    size_t i;

    if (!clr_row_set_find(task->block->loops, task->x, x_tag, rows, of_x) ||
        !clr_row_set_find(task->block->loops, pairs ? task->y : task->x, pairs ? y_tag : x_tag,
                          of_x, found))
        return CLR_SCAN_DONE;
    outcome = clr_group_list_make_room(
        list, task->addends->memory, task->block->loops->count(found), task->addends->rows, pairs);
    if (outcome == CLR_SCAN_DONE && task->block->loops->count(found) == CLR_BLOCK) {
        clr_group_list_add_block(list, task->numbers, task->x->values,
                                 pairs ? task->y->values : NULL);
        return CLR_SCAN_DONE;
    }
    for (i = 0; i < CLR_BLOCK_WORDS && outcome == CLR_SCAN_DONE; i++) {
        for (word = found[i]; word != 0; word &= word - 1) {
            const size_t row = i * 64 + (size_t)__builtin_ctzll(word);
            clr_group_list_add(list, task->numbers[row], task->x->values[row],
                               pairs ? task->y->values[row] : 0);
        }
    }
    return outcome;
}

/* Pairs of an INTEGER and a REAL: as REALs if the INTEGER is one, else their product straight to
   the sum. */
static enum clr_scan_outcome list_mixed_pairs(const struct clr_addend_task *task,
                                              const uint64_t *rows, bool integer_first)
{
    struct clr_group_list *list = &task->addends->lists[task->number * CLR_LISTS + CLR_LIST_REALS];
    const uint8_t x_tag = integer_first ? CLR_TAG_INTEGER : CLR_TAG_REAL;
    const uint8_t y_tag = integer_first ? CLR_TAG_REAL : CLR_TAG_INTEGER;
    uint64_t of_x[CLR_BLOCK_WORDS], found[CLR_BLOCK_WORDS], word;
    enum clr_scan_outcome outcome;
    size_t i;

    if (!clr_row_set_find(task->block->loops, task->x, (enum clr_tag)x_tag, rows, of_x) ||
        !clr_row_set_find(task->block->loops, task->y, (enum clr_tag)y_tag, of_x, found))
        return CLR_SCAN_DONE;
    outcome = clr_group_list_make_room(list, task->addends->memory,
                                       task->block->loops->count(found), task->addends->rows, true);
    for (i = 0; i < CLR_BLOCK_WORDS && outcome == CLR_SCAN_DONE; i++) {
        for (word = found[i]; word != 0 && outcome == CLR_SCAN_DONE; word &= word - 1) {
            const size_t row = i * 64 + (size_t)__builtin_ctzll(word);
            int64_t pair[2] = {task->x->values[row], task->y->values[row]};
            int64_t *integer = &pair[!integer_first];
            const double real = (double)*integer;

            if (clr_sum_fits_double(*integer)) {
                memcpy(integer, &real, sizeof real);
                clr_group_list_add(list, task->numbers[row], pair[0], pair[1]);
            } else {
                outcome = clr_addend_spill(task, row, x_tag, y_tag);
            }
        }
    }
    return outcome;
}

static enum clr_scan_outcome list(const struct clr_addend_task *task, const uint64_t *rows)
{
    enum clr_scan_outcome outcome =
        list_rows(task, rows, CLR_TAG_INTEGER, CLR_TAG_INTEGER, CLR_LIST_INTEGERS);

    if (outcome == CLR_SCAN_DONE)
        outcome = list_rows(task, rows, CLR_TAG_REAL, CLR_TAG_REAL, CLR_LIST_REALS);
    if (outcome == CLR_SCAN_DONE && task->kept->pairs)
        outcome = list_mixed_pairs(task, rows, true);
    if (outcome == CLR_SCAN_DONE && task->kept->pairs)
        outcome = list_mixed_pairs(task, rows, false);
    return outcome;
}

/* ---- Tallies: see collector.c, whose rules these are. */

/* Takes the NULLs of an argument out of the rows. Returns false if it is unsure in one of them. */
static bool drop_nulls(const struct clr_addend_task *task, const struct clr_register *argument,
                       uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];
    size_t i;

    if (clr_row_set_find(task->block->loops, argument, CLR_TAG_UNSURE, rows, found) ||
        (task->tally->operations != 0 &&
         clr_row_set_find(task->block->loops, argument, CLR_TAG_BYTES, rows, found)))
        return false;
    if (clr_row_set_find(task->block->loops, argument, CLR_TAG_NULL, rows, found))
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            rows[i] &= ~found[i];
    return true;
}

/* Whether the rows have other types than planned. */
static bool is_other(const struct clr_addend_task *task, const struct clr_register *values,
                     unsigned types, const uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];
    int tag;

    for (tag = CLR_TAG_INTEGER; tag <= CLR_TAG_BYTES; tag++)
        if (!(types & CLR_TYPE(tag)) &&
            clr_row_set_find(task->block->loops, values, (enum clr_tag)tag, rows, found))
            return true;
    return false;
}

static void find_integers(const struct clr_addend_task *task, const uint64_t *rows,
                          uint64_t *integers)
{
    const struct clr_loops *loops = task->block->loops;
    uint64_t of_x[CLR_BLOCK_WORDS];

    if (!clr_row_set_find(loops, task->x, CLR_TAG_INTEGER, rows, of_x) ||
        !clr_row_set_find(loops, task->y != NULL ? task->y : task->x, CLR_TAG_INTEGER, of_x,
                          integers))
        memset(integers, 0, CLR_BLOCK_WORDS * sizeof *integers);
}

static enum clr_scan_outcome take(const struct clr_addend_task *task)
{
    const struct clr_group_tally *kept = task->kept;
    const struct clr_register *x = task->x, *y = task->y;
    uint64_t rows[CLR_BLOCK_WORDS], integers[CLR_BLOCK_WORDS], others[CLR_BLOCK_WORDS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t i;

    memcpy(rows, task->selected, sizeof rows);
    if ((kept->filter >= 0 &&
         !clr_filter_keep_true(task->block, &task->block->registers[kept->filter], rows)) ||
        (y != NULL && clr_row_set_find(task->block->loops, y, CLR_TAG_UNSURE, rows, others)) ||
        (x != NULL && !drop_nulls(task, x, rows)) || (y != NULL && !drop_nulls(task, y, rows)))
        return CLR_SCAN_UNSURE;
    if ((kept->missing < 0 && !clr_addend_same_rows(rows, task->selected)) ||
        (x != NULL && is_other(task, x, kept->x_types, rows)) ||
        (y != NULL && is_other(task, y, kept->y_types, rows))) {
        task->addends->doubts->types[task->number] = true;
        return CLR_SCAN_DONE;
    }
    count_others(task, kept->missing, rows);
    if (x == NULL)
        return CLR_SCAN_DONE;
    find_integers(task, rows, integers);
    if (kept->others >= 0) {
        for (i = 0; i < CLR_BLOCK_WORDS; i++) /* those that count_others() leaves out */
            others[i] = (task->selected[i] & ~rows[i]) | integers[i];
        count_others(task, kept->others, others);
    }
    if (kept->gathers && kept->gathered_by == task->number)
        outcome = list(task, rows);
    if (outcome == CLR_SCAN_DONE && clr_tally_does(task->tally, CLR_SUM) && y != NULL &&
        !clr_row_set_find(task->block->loops, x, CLR_TAG_INTEGER, rows, integers))
        memset(integers, 0, sizeof integers);
    if (outcome == CLR_SCAN_DONE && !kept->gathers_sum)
        outcome = clr_addend_sum(task, rows, integers);
    clr_addend_find_extremes(task, rows, CLR_TAG_INTEGER, kept->extremes);
    clr_addend_find_extremes(task, rows, CLR_TAG_REAL, kept->extremes + 2);
    return outcome;
}

enum clr_scan_outcome clr_group_addends_find(struct clr_group_addends *addends,
                                             struct clr_block *block, const uint64_t *selected,
                                             const uint32_t *numbers)
{
    const struct clr_scan *scan = addends->plan->scan;
    struct clr_addend_task task = {
        .addends = addends, .block = block, .selected = selected, .numbers = numbers};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    for (i = 0; i < scan->tally_count && outcome == CLR_SCAN_DONE; i++) {
        task.tally = &scan->tallies[i];
        task.kept = &addends->plan->tallies[i];
        task.number = i;
        task.x = task.tally->x < 0 ? NULL : &block->registers[task.tally->x];
        task.y = task.tally->y < 0 ? NULL : &block->registers[task.tally->y];
        outcome = take(&task);
    }
    return outcome;
}
