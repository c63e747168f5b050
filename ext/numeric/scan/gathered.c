#include "numeric/scan/gathered.h"

#include "base/memory.h"
#include "numeric/filter/filter.h"

#include <string.h>

/* What a column takes for a block of rows: values and tags, or codes. */
enum { COLUMN_BYTES = CLR_BLOCK * (sizeof(int64_t) + 1) };

/* Makes a column like another one, for a block of rows in the memory. Columns of a table would take
   a large page each. */
static void make_column(const struct clr_column *like, char *memory, struct clr_column *column)
{
    memset(column, 0, sizeof *column);
    column->kind = like->kind;
    column->code_bytes = like->code_bytes;
    if (like->codes != NULL) {
        column->codes = memory;
    } else {
        column->values = (int64_t *)(void *)memory;
        column->tags = (uint8_t *)(column->values + CLR_BLOCK);
    }
}

bool clr_gathered_init(struct clr_gathered *gathered, const struct clr_block *block)
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

void clr_gathered_free(struct clr_gathered *gathered)
{
    clr_memory_free(gathered->memory);
}

static void fetch(const struct clr_column *from, const size_t *rows, size_t count)
{
    const char *bytes = from->codes != NULL   ? from->codes
                        : from->words != NULL ? from->words
                                              : (const void *)from->values;
    const size_t width = clr_column_width(from);
    size_t i;

    for (i = 0; i < count; i++)
        __builtin_prefetch(bytes + rows[i] * width, 0, 2);
}

static void take_column(struct clr_column *to, const struct clr_column *from, const size_t *rows,
                        size_t count)
{
    const size_t width = to->code_bytes;
    size_t i;

    if (to->codes != NULL) {
        for (i = 0; i < count; i++)
            memcpy((char *)to->codes + i * width, (const char *)from->codes + rows[i] * width,
                   width);
        return;
    }
    for (i = 0; i < count; i++)
        to->values[i] = clr_column_value(from, rows[i]);
    for (i = 0; i < count && to->kind == CLR_TAG_MIXED; i++)
        to->tags[i] = from->tags[rows[i]];
}

void clr_gathered_add(struct clr_gathered *gathered, const struct clr_block *block,
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

void clr_gathered_take(struct clr_gathered *gathered, struct clr_block *block, uint64_t *selected)
{
    int i;

    for (i = 0; i < CLR_MOST_COLUMNS; i++)
        if (gathered->columns[i] != NULL)
            take_column(gathered->columns[i], block->scan->columns[i], gathered->rows,
                        gathered->count);
    clr_block_set_gathered(block, gathered->columns, gathered->count);
    clr_filter_select_all(block, selected);
    gathered->count = 0;
}
