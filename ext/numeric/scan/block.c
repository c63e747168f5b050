#include "numeric/scan/block.h"

#include "base/memory.h"

#include <string.h>

enum { ALIGNMENT = 64, TAGS = CLR_TAG_UNSURE + 1 };

/* Fills the register of a constant once and for all; reals is room for it as REALs. */
static void fill_constant(const struct clr_loops *loops, const struct clr_scalar *constant,
                          int64_t *reals, struct clr_register *result)
{
    size_t i;

    for (i = 0; i < CLR_BLOCK; i++)
        result->own_values[i] = constant->bits;
    if (constant->tag == CLR_TAG_INTEGER && loops->to_reals(result->own_values, reals))
        result->reals = reals;
}

/* One piece of memory: the arrays of the registers and of the block, and behind them the structs.
 */
struct clr_block *clr_block_new(const struct clr_scan *scan)
{
    size_t registers = (size_t)scan->instruction_count, array = CLR_BLOCK * sizeof(int64_t);
    size_t constants = (size_t)scan->constant_count;
    size_t arrays = (registers + constants + 1) * array + (registers + TAGS) * CLR_BLOCK, i;
    struct clr_block *block;
    char *memory = clr_memory_alloc(sizeof *block + registers * sizeof(struct clr_register) +
                                    arrays + ALIGNMENT);
    int64_t *reals;
    char *next;

    if (memory == NULL)
        return NULL;
    block = (struct clr_block *)(void *)memory;
    block->scan = scan;
    block->ran = scan->instruction_count;
    block->loops = clr_loops_choose(0);
    block->registers = (struct clr_register *)(void *)(memory + sizeof *block);
    next = memory + sizeof *block + registers * sizeof(struct clr_register);
    next += ALIGNMENT - (uintptr_t)next % ALIGNMENT;
    block->converted = (int64_t *)(void *)next;
    next += array;
    for (i = 0; i < registers; i++, next += array)
        block->registers[i].own_values = (int64_t *)(void *)next;
    reals = (int64_t *)(void *)next;
    next += constants * array;
    for (i = 0; i < registers; i++, next += CLR_BLOCK)
        block->registers[i].own_tags = (uint8_t *)next;
    for (i = 0; i < TAGS; i++, next += CLR_BLOCK) {
        memset(next, (int)i, CLR_BLOCK);
        block->uniform[i] = (const uint8_t *)next;
    }
    for (i = 0; i < registers; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        block->registers[i].reals = NULL;
        if (instruction->opcode == CLR_OP_CONSTANT)
            fill_constant(block->loops, &scan->constants[instruction->a],
                          reals + (size_t)instruction->a * CLR_BLOCK, &block->registers[i]);
    }
    clr_terms_find(scan, &block->terms);
    return block;
}

void clr_block_free(struct clr_block *block)
{
    clr_memory_free(block);
}

static void set_rows(struct clr_block *block, struct clr_column *const *columns, size_t first,
                     size_t count, size_t next)
{
    block->columns = columns;
    block->first = first;
    block->count = count;
    block->next = next;
    block->fetched = 0;
    block->ran = 0;
}

void clr_block_set_rows(struct clr_block *block, size_t first, size_t count)
{
    const struct clr_scan *scan = block->scan;
    const uint32_t *place = scan->blocks == NULL ? NULL : scan->blocks + first / CLR_BLOCK;
    size_t next = first + 2 * CLR_BLOCK <= scan->rows ? CLR_BLOCK : 0;

    if (place != NULL) {
        first = place[0] * (size_t)CLR_BLOCK;
        next = next == 0 ? 0 : (place[1] - place[0]) * (size_t)CLR_BLOCK;
    }
    set_rows(block, scan->columns, first, count, next);
}

void clr_block_set_gathered(struct clr_block *block, struct clr_column *const *columns,
                            size_t count)
{
    set_rows(block, columns, 0, count, 0);
}

const int64_t *clr_block_ahead(struct clr_block *block, const int64_t *values)
{
    const struct clr_scan *scan = block->scan;

    while (block->next > 0 && block->fetched < scan->instruction_count) {
        const int number = block->fetched++;
        const struct clr_instruction *instruction = &scan->instructions[number];

        if (instruction->opcode == CLR_OP_COLUMN && block->terms.stages[number] & block->ran &&
            block->columns[instruction->a]->words == NULL)
            return block->columns[instruction->a]->values + block->first + block->next;
    }
    return values;
}
