#include "numeric/scan/taking.h"

#include "base/memory.h"

#include <string.h>

/* ---- Gathered rows. */

/* Few rows of each of several blocks. */
struct gathered {
    size_t count;                                 /* of rows */
    size_t rows[2 * CLR_BLOCK];                   /* their numbers in the scan's columns */
    struct clr_column *columns[CLR_MOST_COLUMNS]; /* with a block of rows; NULL: not needed */
    struct clr_column own[CLR_MOST_COLUMNS];      /* which are these, and nobody else's */
    char *memory;                                 /* for their rows */
};

/* What a column takes for a block of rows: values and tags, or less. */
enum { COLUMN_BYTES = CLR_BLOCK * (sizeof(int64_t) + 1) };

/* Makes a column like another one, for a block of rows in the memory, in which they are kept as
   they are there. Columns of a table would take a large page each. */
static void make_column(const struct clr_column *like, char *memory, struct clr_column *column)
{
    memset(column, 0, sizeof *column);
    column->kind = like->kind;
    column->frame = like->frame;
    column->code_bytes = like->code_bytes;
    if (like->codes != NULL)
        column->codes = memory;
    else if (like->words != NULL)
        column->words = memory;
    else
        column->values = (int64_t *)(void *)memory;
    column->tags = (uint8_t *)memory + CLR_BLOCK * sizeof(int64_t);
}

/* Returns the values, words or codes of a column. */
static char *bytes_of(const struct clr_column *column)
{
    return column->codes != NULL   ? column->codes
           : column->words != NULL ? column->words
                                   : (void *)column->values;
}

/* Gets ready for the columns that tallies and keys of the block's scan need. Returns false without
   memory. */
static bool init_gathered(struct gathered *gathered, const struct clr_block *block)
{
    const struct clr_scan *scan = block->scan;
    char *next;
    int i;

    gathered->count = 0;
    memset(gathered->columns, 0, sizeof gathered->columns);
    gathered->memory = next = clr_memory_alloc((size_t)scan->column_count * COLUMN_BYTES + 1);
    for (i = 0; i < scan->instruction_count && next != NULL; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        const int number = instruction->a;

        if ((instruction->opcode != CLR_OP_COLUMN && instruction->opcode != CLR_OP_LOOKUP) ||
            !(block->terms.stages[i] & CLR_STAGE_TALLIES) || gathered->columns[number] != NULL)
            continue;
        gathered->columns[number] = &gathered->own[number];
        make_column(scan->columns[number], next, &gathered->own[number]);
        next += COLUMN_BYTES;
    }
    return next != NULL;
}

static void fetch(const struct clr_column *from, const size_t *rows, size_t count)
{
    const char *bytes = bytes_of(from);
    const size_t width = clr_column_width(from);
    size_t i;

    for (i = 0; i < count; i++)
        __builtin_prefetch(bytes + rows[i] * width, 0, 2);
}

/* Inlined, so that the width is known, which is a row's bytes. */
static inline __attribute__((always_inline)) void
take_rows(char *to, const char *from, const size_t *rows, size_t count, size_t width)
{
    size_t i;

    for (i = 0; i < count; i++)
        memcpy(to + i * width, from + rows[i] * width, width);
}

static void take_column(struct clr_column *to, const struct clr_column *from, const size_t *rows,
                        size_t count)
{
    switch (clr_column_width(from)) {
    case 1:
        take_rows(bytes_of(to), bytes_of(from), rows, count, 1);
        break;
    case 2:
        take_rows(bytes_of(to), bytes_of(from), rows, count, 2);
        break;
    case 4:
        take_rows(bytes_of(to), bytes_of(from), rows, count, 4);
        break;
    default:
        take_rows(bytes_of(to), bytes_of(from), rows, count, sizeof(int64_t));
    }
    if (to->kind == CLR_TAG_MIXED && to->codes == NULL)
        take_rows((char *)to->tags, (const char *)from->tags, rows, count, 1);
}

/* Adds the selected rows of the block, count of them, to fewer than a block's. Their values are
   only fetched, as rows that lie apart have to be waited for. */
static void gather(struct gathered *gathered, const struct clr_block *block,
                   const uint64_t *selected, size_t count)
{
    size_t *rows = gathered->rows + gathered->count, i;
    uint64_t word;

    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        for (word = selected[i]; word != 0; word &= word - 1)
            *rows++ = block->first + i * 64 + (size_t)__builtin_ctzll(word);
    for (i = 0; i < CLR_MOST_COLUMNS; i++)
        if (gathered->columns[i] != NULL)
            fetch(block->scan->columns[i], gathered->rows + gathered->count, count);
    gathered->count += count;
}

/* What takes the rows of a scan. */
struct driver {
    struct clr_block *block;
    const struct clr_taking *taking;
    struct gathered gathered;
};

static enum clr_scan_outcome take(const struct driver *driver, const uint64_t *selected,
                                  size_t count)
{
    clr_block_run(driver->block, CLR_STAGE_TALLIES);
    return driver->taking->take(driver->taking->taker, driver->block, selected, count);
}

/* Takes rows that were gathered, a block's at most, if there are any, as a block. Their columns
   stay as they are until others are added. */
static enum clr_scan_outcome take_gathered(struct driver *driver)
{
    struct gathered *gathered = &driver->gathered;
    const size_t count = gathered->count < CLR_BLOCK ? gathered->count : CLR_BLOCK;
    uint64_t selected[CLR_BLOCK_WORDS];
    int i;

    if (count == 0)
        return CLR_SCAN_DONE;
    for (i = 0; i < CLR_MOST_COLUMNS; i++)
        if (gathered->columns[i] != NULL)
            take_column(gathered->columns[i], driver->block->scan->columns[i], gathered->rows,
                        count);
    clr_block_set_gathered(driver->block, gathered->columns, count);
    clr_filter_select_all(driver->block, selected);
    gathered->count -= count;
    memmove(gathered->rows, gathered->rows + count, gathered->count * sizeof *gathered->rows);
    return take(driver, selected, count);
}

static enum clr_scan_outcome take_block(struct driver *driver, size_t first, size_t rows)
{
    const struct clr_taking *taking = driver->taking;
    struct clr_block *block = driver->block;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    uint64_t selected[CLR_BLOCK_WORDS];
    bool gathers;
    size_t count = 0;

    clr_block_set_rows(block, first, rows);
    gathers = taking->take_zones != NULL && (driver->gathered.count == 0 || !taking->in_order) &&
              clr_terms_pass_block(block->scan, &block->terms, block->first / CLR_BLOCK) &&
              taking->take_zones(taking->taker, block, selected, &count);
    if (!gathers) {
        if (!clr_filter_select(block, selected))
            return CLR_SCAN_UNSURE;
        count = block->loops->count(selected);
        gathers = count <= CLR_FEW_ROWS && !taking->in_place;
    }
    if (count == 0)
        return CLR_SCAN_DONE;
    if (gathers) {
        gather(&driver->gathered, block, selected, count);
        return driver->gathered.count < CLR_BLOCK ? CLR_SCAN_DONE : take_gathered(driver);
    }
    if (driver->gathered.count > 0 && taking->in_order) {
        outcome = take_gathered(driver);
        clr_block_set_rows(block, first, rows);
    }
    return outcome == CLR_SCAN_DONE ? take(driver, selected, count) : outcome;
}

enum clr_scan_outcome clr_blocks_take(const struct clr_scan *scan, size_t first, size_t last,
                                      const struct clr_taking *taking, const atomic_bool *stop)
{
    struct driver driver = {.block = clr_block_new(scan), .taking = taking};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t count;

    if (driver.block == NULL || !init_gathered(&driver.gathered, driver.block))
        outcome = CLR_SCAN_FAILED;
    else
        driver.block->is_lazy = taking->is_lazy;
    for (; outcome == CLR_SCAN_DONE && first < last; first += count) {
        if (atomic_load_explicit(stop, memory_order_relaxed)) {
            outcome = CLR_SCAN_STOPPED;
            break;
        }
        count = last - first < CLR_BLOCK ? last - first : CLR_BLOCK;
        if (taking->begin != NULL)
            taking->begin(taking->taker, driver.block);
        outcome = take_block(&driver, first, count);
        if (taking->seen != NULL)
            *taking->seen += count;
    }
    if (outcome == CLR_SCAN_DONE)
        outcome = take_gathered(&driver);
    clr_memory_free(driver.gathered.memory);
    clr_memory_free(driver.block);
    return outcome;
}
