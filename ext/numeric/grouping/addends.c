#include "numeric/grouping/addends.h"

#include "base/memory.h"
#include "numeric/scan/evaluate.h"

#include <math.h>
#include <string.h>

/* A tally, and a block's rows. */
struct task {
    struct clr_group_addends *addends;
    struct clr_block *block;
    const struct clr_tally *tally;
    const struct clr_group_tally *kept;
    int number;
    const uint64_t *selected;
    const uint32_t *numbers;
    const struct clr_register *x, *y;
};

static int64_t *own_word(const struct task *task, int word)
{
    return task->addends->own + (size_t)word * CLR_BLOCK;
}

static void set_word(const struct task *task, int word, const int64_t *values)
{
    task->addends->words[word] = values;
}

static bool same_rows(const uint64_t *a, const uint64_t *b)
{
    return memcmp(a, b, CLR_BLOCK_WORDS * sizeof *a) == 0;
}

enum clr_scan_outcome clr_group_addends_init(struct clr_group_addends *addends,
                                             const struct clr_group_plan *plan,
                                             struct clr_group_memory *memory, size_t rows,
                                             struct clr_group_doubts *doubts)
{
    const size_t words = (size_t)plan->words;

    memset(addends, 0, sizeof *addends);
    addends->plan = plan;
    addends->loops = clr_group_loops_choose(0);
    addends->memory = memory;
    addends->rows = rows;
    addends->doubts = doubts;
    addends->words = clr_memory_alloc(words * sizeof *addends->words);
    addends->own = clr_memory_alloc((words + 1) * CLR_BLOCK * sizeof *addends->own);
    addends->of_block = clr_memory_alloc(2 * words * sizeof *addends->of_block);
    if (addends->of_block != NULL)
        addends->of_run = addends->of_block + words;
    if (addends->words != NULL)
        addends->words[0] = NULL;
    addends->list_count = plan->tally_count * CLR_LISTS;
    addends->lists =
        clr_memory_alloc_zero((size_t)addends->list_count * sizeof *addends->lists + 1);
    return addends->words != NULL && addends->own != NULL && addends->of_block != NULL &&
                   addends->lists != NULL
               ? CLR_SCAN_DONE
               : CLR_SCAN_FAILED;
}

void clr_group_addends_free(struct clr_group_addends *addends)
{
    int i;

    if (addends->plan == NULL)
        return;
    for (i = 0; addends->lists != NULL && i < addends->list_count; i++)
        clr_group_list_free(&addends->lists[i], addends->memory);
    clr_group_memory_return(addends->memory,
                            addends->spills.capacity * sizeof *addends->spills.spills);
    clr_memory_free(addends->spills.spills);
    addends->spills = (struct clr_group_spills){NULL, 0, 0};
    clr_memory_free(addends->lists);
    clr_memory_free(addends->of_block);
    clr_memory_free(addends->own);
    clr_memory_free(addends->words);
}

/* Has a word count the selected rows that are not among these. */
static void count_others(const struct task *task, int word, const uint64_t *rows)
{
    uint64_t others[CLR_BLOCK_WORDS];
    size_t i;

    if (word < 0)
        return;
    if (same_rows(rows, task->selected)) {
        set_word(task, word, clr_group_zeros);
        return;
    }
    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        others[i] = task->selected[i] & ~rows[i];
    task->block->loops->spread_bits(others, own_word(task, word));
    set_word(task, word, own_word(task, word));
}

/* Returns the values, and 0 for those of the selected rows that are not among these. */
static const int64_t *mask(const struct task *task, const int64_t *values, const uint64_t *rows,
                           int64_t *room)
{
    size_t i;

    if (same_rows(rows, task->selected))
        return values;
    task->block->loops->spread_bits(rows, room);
    for (i = 0; i < CLR_BLOCK; i++)
        room[i] = values[i] & -room[i];
    return room;
}

static enum clr_scan_outcome spill(const struct task *task, size_t row, uint8_t x_tag,
                                   uint8_t y_tag)
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
static int64_t *own_values(const struct task *task)
{
    const int word =
        task->kept->integer_limit != 0 ? task->addends->plan->words : task->kept->integer;

    return own_word(task, word);
}

/* Takes the rows whose digits could not be cut, or whose INTEGERs are too large, out of the words
   and to the spills. */
static enum clr_scan_outcome spill_rows(const struct task *task, const uint64_t *rows,
                                        const uint8_t *outside, uint8_t x_tag, uint8_t y_tag)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    struct clr_group_doubts *doubts = task->addends->doubts;
    size_t *spilled = &task->addends->spilled[task->number], row;
    const bool packed = x_tag == CLR_TAG_INTEGER && is_packed(task->kept);

    for (row = 0; row < task->block->count && outcome == CLR_SCAN_DONE; row++) {
        if (!outside[row] || !(rows[row / 64] >> row % 64 & 1))
            continue;
        outcome = spill(task, row, x_tag, y_tag);
        ++*spilled;
    }
    if (*spilled > 0 && task->kept->is_bounded)
        clr_group_doubt(doubts, task->number, packed ? CLR_DOUBT_FIELD : CLR_DOUBT_BOUNDS);
    if (*spilled > clr_group_most_spilled(task->addends->rows))
        clr_group_doubt(doubts, task->number, packed ? CLR_DOUBT_FIELD : CLR_DOUBT_WINDOW);
    return outcome;
}

/* Whether a tally takes sums of REALs, or INTEGERs, that lie within these bounds: the sums of all
   may be too large otherwise. */
static bool takes_sums(const struct clr_group_tally *kept, bool real, int64_t least,
                       int64_t greatest)
{
    const int64_t limit = kept->integer_limit;

    if (real)
        return kept->real_high >= 0 && clr_real_of(least) > -kept->window.limit &&
               clr_real_of(greatest) < kept->window.limit;
    return kept->integer >= 0 && (limit == 0 || (least >= -limit && greatest <= limit));
}

/* Returns the column of a tally's argument if its values have not been asked for, and all selected
   rows count; else NULL. */
static const struct clr_column *narrow_column(const struct task *task, const uint64_t *rows)
{
    return task->x->values == NULL && same_rows(rows, task->selected)
               ? clr_block_column(task->block, task->tally->x)
               : NULL;
}

/* Cuts the decimals of a narrow column. Returns false if some may lie outside of the window. */
static bool cut_words(const struct task *task, const struct clr_column *column, int64_t *high,
                      int64_t *low)
{
    const struct clr_frame *frame = &column->frame;

    return frame->power != 0.0 &&
           takes_sums(task->kept, true, clr_frame_bits(frame, frame->known_least),
                      clr_frame_bits(frame, frame->known_greatest)) &&
           task->addends->loops->cut_words(&task->kept->window, frame,
                                           clr_block_words(task->block, column), high, low);
}

static enum clr_scan_outcome sum_reals(const struct task *task, const uint64_t *rows)
{
    const struct clr_group_tally *kept = task->kept;
    const struct clr_column *column = narrow_column(task, rows);
    int64_t *high = own_word(task, kept->real_high), *low = own_word(task, kept->real_low);
    const int64_t *values;
    uint8_t outside[CLR_BLOCK];

    set_word(task, kept->real_high, high);
    set_word(task, kept->real_low, low);
    if (column != NULL && cut_words(task, column, high, low))
        return CLR_SCAN_DONE;
    clr_block_widen(task->block, task->tally->x);
    values = mask(task, task->x->values, rows, high);
    if (task->addends->loops->cut(&kept->window, values, high, low,
                                  clr_block_ahead(task->block, values)))
        return CLR_SCAN_DONE;
    values = mask(task, task->x->values, rows, high);
    task->addends->loops->cut_carefully(&kept->window, values, high, low, outside);
    return spill_rows(task, rows, outside, CLR_TAG_REAL, CLR_TAG_NULL);
}

/* Returns how INTEGERs are added to their part of a word, which may be all of it. The first ones
   come with a row's count, if the word has that. */
static struct clr_group_packing packing_of(const struct task *task)
{
    const struct clr_group_plan *plan = task->addends->plan;
    const struct clr_group_tally *kept = task->kept;
    const bool counts = kept->integer == 0;
    const bool first = kept->field.shift == (counts ? plan->count.bits : 0);

    return (struct clr_group_packing){.limit = kept->integer_limit,
                                      .shift = kept->field.shift,
                                      .first = first,
                                      .start = first && counts};
}

/* Adds INTEGERs to their part of a word. Those that are too large are taken out again. */
static enum clr_scan_outcome add_to_field(const struct task *task, const int64_t *values,
                                          const uint64_t *rows)
{
    const struct clr_group_tally *kept = task->kept;
    const struct clr_group_packing packing = packing_of(task);
    const struct clr_group_loops *loops = task->addends->loops;
    int64_t *word = own_word(task, kept->integer);
    int64_t limited[CLR_BLOCK];
    uint8_t outside[CLR_BLOCK];
    size_t i;

    set_word(task, kept->integer, word);
    if (loops->pack(&packing, values, word, clr_block_ahead(task->block, values)))
        return CLR_SCAN_DONE;
    loops->limit(values, kept->integer_limit, limited, outside);
    for (i = 0; i < CLR_BLOCK; i++)
        word[i] =
            (int64_t)((uint64_t)word[i] - ((uint64_t)(values[i] - limited[i]) << packing.shift));
    return spill_rows(task, rows, outside, CLR_TAG_INTEGER, CLR_TAG_NULL);
}

/* Does the same with the INTEGERs of a narrow column. Returns false unless all of them are within
   the limit. */
static bool add_words_to_field(const struct task *task, const struct clr_column *column)
{
    const struct clr_group_tally *kept = task->kept;
    const struct clr_frame *frame = &column->frame;
    struct clr_group_packing packing = packing_of(task);
    int64_t *word = own_word(task, kept->integer);

    if (kept->integer_limit == 0 ||
        !takes_sums(kept, false, frame->known_least, frame->known_greatest))
        return false;
    packing.start = (int64_t)((uint64_t)packing.start + ((uint64_t)frame->least << packing.shift));
    set_word(task, kept->integer, word);
    task->addends->loops->pack_words(&packing, clr_block_words(task->block, column), frame->bytes,
                                     word);
    return true;
}

static enum clr_scan_outcome sum_integers(const struct task *task, const uint64_t *rows)
{
    const struct clr_group_tally *kept = task->kept;
    const struct clr_column *column = narrow_column(task, rows);
    int64_t *own = own_values(task);
    const int64_t *values;

    if (column != NULL && add_words_to_field(task, column))
        return CLR_SCAN_DONE;
    clr_block_widen(task->block, task->tally->x);
    values = mask(task, task->x->values, rows, own);
    if (kept->integer_limit != 0)
        return add_to_field(task, values, rows);
    task->addends->loops->split(values, own, own_word(task, kept->integer_high));
    set_word(task, kept->integer, own);
    set_word(task, kept->integer_high, own_word(task, kept->integer_high));
    return CLR_SCAN_DONE;
}

/* Products of INTEGERs, in one limb. */
static enum clr_scan_outcome sum_products(const struct task *task, const uint64_t *rows)
{
    const struct clr_group_tally *kept = task->kept;
    int64_t *own = own_values(task);
    const int64_t *x = mask(task, task->x->values, rows, own);
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    uint8_t outside[CLR_BLOCK];

    if (!task->addends->loops->multiply(x, task->y->values, kept->integer_limit, own, outside))
        outcome = spill_rows(task, rows, outside, CLR_TAG_INTEGER, CLR_TAG_INTEGER);
    return outcome == CLR_SCAN_DONE ? add_to_field(task, own, rows) : outcome;
}

static enum clr_scan_outcome sum(const struct task *task, const uint64_t *rows,
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

static void find_extremes(const struct task *task, const uint64_t *rows, enum clr_tag tag,
                          const int words[2])
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
        ends[i] = own_word(task, words[i]);
        set_word(task, words[i], ends[i]);
    }
    if (!clr_row_set_find(task->block->loops, task->x, tag, rows, found))
        memset(found, 0, sizeof found);
    all = same_rows(found, task->selected);
    if (!all)
        task->block->loops->spread_bits(found, masks);
    task->addends->loops->find_extremes(values, all ? NULL : masks, tag == CLR_TAG_REAL, ends[0],
                                        ends[1], clr_block_ahead(task->block, values));
}

/* ---- Lists. */

/* Makes room for more values behind the others, of a list of at most so many. Returns
   CLR_SCAN_DONE, CLR_SCAN_LIMIT or CLR_SCAN_FAILED. */
static enum clr_scan_outcome make_room(struct clr_group_list *list, struct clr_group_memory *memory,
                                       size_t more, size_t most, bool pairs)
{
    const size_t bytes = more * (sizeof(uint32_t) + (pairs ? 2 : 1) * sizeof(int64_t));
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;

    if (!list->begun) {
        list->begun = true;
        outcome = clr_room_reserve(&list->numbers, most * sizeof(uint32_t));
        if (outcome == CLR_SCAN_DONE)
            outcome = clr_room_reserve(&list->x, most * sizeof(int64_t));
        if (outcome == CLR_SCAN_DONE && pairs)
            outcome = clr_room_reserve(&list->y, most * sizeof(int64_t));
    }
    if (outcome == CLR_SCAN_DONE && !clr_group_memory_take(memory, bytes))
        outcome = CLR_SCAN_LIMIT;
    if (outcome == CLR_SCAN_DONE)
        list->x.taken += bytes;
    return outcome;
}

static void add_value(struct clr_group_list *list, uint32_t number, int64_t x, int64_t y)
{
    ((uint32_t *)list->numbers.start)[list->count] = number;
    ((int64_t *)list->x.start)[list->count] = x;
    if (list->y.start != NULL)
        ((int64_t *)list->y.start)[list->count] = y;
    list->count++;
}

/* Lists a pair of an INTEGER and a REAL: as REALs if the INTEGER is one, else its product goes
   straight to the sum. */
static enum clr_scan_outcome list_mixed(const struct task *task, struct clr_group_list *list,
                                        size_t row, enum clr_tag x_tag)
{
    int64_t pair[2] = {task->x->values[row], task->y->values[row]};
    int64_t *integer = &pair[x_tag != CLR_TAG_INTEGER];

    if (!clr_sum_fits_double(*integer))
        return spill(task, row, (uint8_t)x_tag,
                     x_tag == CLR_TAG_INTEGER ? CLR_TAG_REAL : CLR_TAG_INTEGER);
    *integer = clr_bits_of((double)*integer);
    add_value(list, task->numbers[row], pair[0], pair[1]);
    return CLR_SCAN_DONE;
}

/* Lists the rows whose x, and y of pairs, have these tags. */
static enum clr_scan_outcome list_rows(const struct task *task, const uint64_t *rows,
                                       enum clr_tag x_tag, enum clr_tag y_tag)
{
    const bool pairs = task->kept->pairs, mixed = pairs && x_tag != y_tag;
    const bool reals = mixed || x_tag == CLR_TAG_REAL;
    struct clr_group_list *list =
        &task->addends
             ->lists[task->number * CLR_LISTS + (reals ? CLR_LIST_REALS : CLR_LIST_INTEGERS)];
    uint64_t of_x[CLR_BLOCK_WORDS], found[CLR_BLOCK_WORDS], word;
    enum clr_scan_outcome outcome;
    size_t i;

    if (!clr_row_set_find(task->block->loops, task->x, x_tag, rows, of_x) ||
        !clr_row_set_find(task->block->loops, pairs ? task->y : task->x, pairs ? y_tag : x_tag,
                          of_x, found))
        return CLR_SCAN_DONE;
    outcome = make_room(list, task->addends->memory, task->block->loops->count(found),
                        task->addends->rows, pairs);
    for (i = 0; i < CLR_BLOCK_WORDS && outcome == CLR_SCAN_DONE; i++) {
        for (word = found[i]; word != 0 && outcome == CLR_SCAN_DONE; word &= word - 1) {
            const size_t row = i * 64 + (size_t)__builtin_ctzll(word);
            if (mixed)
                outcome = list_mixed(task, list, row, x_tag);
            else
                add_value(list, task->numbers[row], task->x->values[row],
                          pairs ? task->y->values[row] : 0);
        }
    }
    return outcome;
}

static enum clr_scan_outcome list(const struct task *task, const uint64_t *rows)
{
    static const enum clr_tag tags[][2] = {{CLR_TAG_INTEGER, CLR_TAG_INTEGER},
                                           {CLR_TAG_REAL, CLR_TAG_REAL},
                                           {CLR_TAG_INTEGER, CLR_TAG_REAL},
                                           {CLR_TAG_REAL, CLR_TAG_INTEGER}};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    for (i = 0; i < (task->kept->pairs ? 4 : 2) && outcome == CLR_SCAN_DONE; i++)
        outcome = list_rows(task, rows, tags[i][0], tags[i][1]);
    return outcome;
}

/* ---- Tallies. */

/* Whether the rows have other types than planned. */
static bool is_other(const struct task *task, const struct clr_register *values, unsigned types,
                     const uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];
    int tag;

    for (tag = CLR_TAG_INTEGER; tag <= CLR_TAG_BYTES; tag++)
        if (!(types & CLR_TYPE(tag)) &&
            clr_row_set_find(task->block->loops, values, (enum clr_tag)tag, rows, found))
            return true;
    return false;
}

static enum clr_scan_outcome take(const struct task *task)
{
    const struct clr_group_tally *kept = task->kept;
    const struct clr_register *x = task->x, *y = task->y;
    uint64_t rows[CLR_BLOCK_WORDS], integers[CLR_BLOCK_WORDS], others[CLR_BLOCK_WORDS];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t i;

    if (!clr_tally_rows_find(task->block, task->tally, kept->filter, task->selected, rows,
                             integers))
        return CLR_SCAN_UNSURE;
    if ((kept->missing < 0 && !same_rows(rows, task->selected)) ||
        (x != NULL && is_other(task, x, kept->x_types, rows)) ||
        (y != NULL && is_other(task, y, kept->y_types, rows))) {
        clr_group_doubt(task->addends->doubts, task->number, CLR_DOUBT_TYPES);
        return CLR_SCAN_DONE;
    }
    count_others(task, kept->missing, rows);
    if (x == NULL)
        return CLR_SCAN_DONE;
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
        outcome = sum(task, rows, integers);
    find_extremes(task, rows, CLR_TAG_INTEGER, kept->extremes);
    find_extremes(task, rows, CLR_TAG_REAL, kept->extremes + 2);
    return outcome;
}

enum clr_scan_outcome clr_group_addends_find(struct clr_group_addends *addends,
                                             struct clr_block *block, const uint64_t *selected,
                                             const uint32_t *numbers)
{
    const struct clr_scan *scan = addends->plan->scan;
    struct task task = {
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

/* ---- Whole blocks, and runs of rows. */

/* Stores the digits of a sum of REALs, two doubles. Returns false if they are too few. */
static bool find_digits(const struct clr_window *window, const int64_t parts[2], int64_t *high,
                        int64_t *low)
{
    int64_t upper, lower;
    int i;

    *high = *low = 0;
    for (i = 0; i < 2; i++) {
        const double part = clr_real_of(parts[i]);

        /* below 2^50 units, of which window->high has 1.5 * 2^52 */
        if (!(fabs(part) * 6.0 < window->high) ||
            clr_window_split(window, part, &upper, &lower) != 0)
            return false;
        *high += upper;
        *low += lower;
    }
    return true;
}

/* Stores what a sum, of REALs or INTEGERs, adds to the words of a tally that takes it. Returns
   false if it has too many digits. */
static bool find_sum(const struct clr_group_tally *kept, bool real, const int64_t parts[2],
                     int64_t *words)
{
    if (real)
        return find_digits(&kept->window, parts, &words[kept->real_high], &words[kept->real_low]);
    if (kept->integer_limit != 0) {
        words[kept->integer] =
            (int64_t)((uint64_t)words[kept->integer] + ((uint64_t)parts[0] << kept->field.shift));
    } else {
        words[kept->integer] = parts[0] & UINT32_MAX;
        words[kept->integer_high] = parts[0] >> 32;
    }
    return true;
}

/* Stores the words of a block's extremes. */
static void find_ends(const struct clr_group_tally *kept, const struct clr_zone *zone,
                      int64_t *words)
{
    const bool real = (zone->types & CLR_TYPE(CLR_TAG_REAL)) != 0;
    const int *ends = kept->extremes + (real ? 2 : 0);

    if (ends[0] >= 0)
        words[ends[0]] =
            (int64_t)clr_group_word_of_least(real ? clr_real_to_key(zone->least) : zone->least);
    if (ends[1] >= 0)
        words[ends[1]] = (int64_t)clr_group_word_of_greatest(real ? clr_real_to_key(zone->greatest)
                                                                  : zone->greatest);
}

/* Stores what a block adds to the words of a tally. Returns false if zones do not tell. */
static bool find_words(const struct clr_group_tally *kept, const struct clr_tally *tally,
                       const struct clr_block *block, int64_t *words)
{
    const struct clr_zone_sum *sum;
    const struct clr_zone *zone;
    bool real;

    if (kept->filter >= 0 || kept->gathers || !clr_block_find_sum(block, tally, &sum))
        return false;
    if (sum == NULL)
        return true;
    zone = clr_block_zone(block, tally->x);
    real = (zone->types & CLR_TYPE(CLR_TAG_REAL)) != 0;
    if (sum->numbers < block->count && kept->missing < 0)
        return false;
    if (kept->missing >= 0)
        words[kept->missing] = (int64_t)(block->count - sum->numbers);
    if (sum->numbers == 0)
        return true;
    if ((zone->types & ~(kept->x_types | CLR_TYPE(CLR_TAG_NULL))) != 0)
        return false;
    if (kept->others >= 0)
        words[kept->others] = real ? (int64_t)sum->numbers : 0;
    find_ends(kept, zone, words);
    return !clr_tally_does(tally, CLR_SUM) ||
           (takes_sums(kept, real, zone->least, zone->greatest) &&
            find_sum(kept, real, sum->parts, words));
}

const int64_t *clr_group_addends_of_block(struct clr_group_addends *addends,
                                          const struct clr_block *block)
{
    const struct clr_group_plan *plan = addends->plan;
    int64_t *words = addends->of_block;
    int i;

    memset(words, 0, (size_t)plan->words * sizeof *words);
    words[0] = (int64_t)block->count;
    for (i = 0; i < plan->tally_count; i++)
        if (!find_words(&plan->tallies[i], &plan->scan->tallies[i], block, words))
            return NULL;
    return words;
}

/* Whether a tally counts rows, or takes the sums of what is kept of a column's values. */
static bool takes_runs(const struct clr_group_tally *kept, const struct clr_tally *tally,
                       const struct clr_block *block)
{
    const struct clr_column *column;
    const struct clr_frame *frame;
    int i;

    if (kept->filter >= 0 || kept->gathers || kept->others >= 0)
        return false;
    for (i = 0; i < 4; i++)
        if (kept->extremes[i] >= 0)
            return false;
    if (tally->x < 0)
        return true;
    if (!clr_block_keeps_sums(block, tally))
        return false;
    column = clr_block_column(block, tally->x);
    frame = &column->frame;
    return (CLR_TYPE(column->kind) & ~kept->x_types) == 0 &&
           (!clr_tally_does(tally, CLR_SUM) ||
            takes_sums(kept, column->kind == CLR_TAG_REAL,
                       clr_frame_bits(frame, frame->known_least),
                       clr_frame_bits(frame, frame->known_greatest)));
}

bool clr_group_addends_tell_runs(const struct clr_group_addends *addends,
                                 const struct clr_block *block)
{
    const struct clr_group_plan *plan = addends->plan;
    int i;

    for (i = 0; i < plan->tally_count; i++)
        if (!takes_runs(&plan->tallies[i], &plan->scan->tallies[i], block))
            return false;
    return true;
}

const int64_t *clr_group_addends_of_run(struct clr_group_addends *addends,
                                        const struct clr_block *block, size_t first, size_t count)
{
    const struct clr_group_plan *plan = addends->plan;
    int64_t *words = addends->of_run, parts[2];
    int i;

    memset(words, 0, (size_t)plan->words * sizeof *words);
    words[0] = (int64_t)count;
    for (i = 0; i < plan->tally_count; i++) {
        const struct clr_tally *tally = &plan->scan->tallies[i];
        const struct clr_column *column;

        if (tally->x < 0 || !clr_tally_does(tally, CLR_SUM))
            continue;
        column = clr_block_column(block, tally->x);
        clr_column_sum_rows(column, first, count, parts);
        if (!find_sum(&plan->tallies[i], column->kind == CLR_TAG_REAL, parts, words))
            return NULL;
    }
    return words;
}

/* Takes the words of count rows out of those of their block. Returns false if they are not told. */
static bool take_away(struct clr_group_addends *addends, const struct clr_block *block,
                      size_t first, size_t count)
{
    const struct clr_group_plan *plan = addends->plan;
    const int64_t *words = clr_group_addends_of_run(addends, block, first, count);
    int64_t *left = addends->of_block;
    int i;

    for (i = 0; words != NULL && i < plan->words; i++)
        left[i] = (int64_t)((uint64_t)left[i] - (uint64_t)words[i]);
    for (i = 0; i < plan->tally_count; i++) {
        const struct clr_group_tally *kept = &plan->tallies[i];

        if (kept->integer_high < 0)
            continue;
        /* Lower halves are not negative. */
        left[kept->integer_high] += left[kept->integer] >> 32;
        left[kept->integer] &= UINT32_MAX;
    }
    return words != NULL;
}

const int64_t *clr_group_addends_of_rest(struct clr_group_addends *addends,
                                         const struct clr_block *block, size_t from, size_t to)
{
    return clr_group_addends_of_block(addends, block) != NULL &&
                   (from == 0 || take_away(addends, block, block->first, from)) &&
                   (to == block->count ||
                    take_away(addends, block, block->first + to, block->count - to))
               ? addends->of_block
               : NULL;
}
