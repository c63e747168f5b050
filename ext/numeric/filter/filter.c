#include "numeric/filter/filter.h"

#include "numeric/scan/block.h"

#include <string.h>

bool clr_filter_keep_true(const struct clr_block *block, const struct clr_register *values,
                          uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];

    if (clr_row_set_find(block->loops, values, CLR_TAG_BYTES, rows, found) ||
        clr_row_set_find(block->loops, values, CLR_TAG_UNSURE, rows, found))
        return false;
    clr_row_set_find_true(block->loops, values, rows, found);
    memcpy(rows, found, sizeof found);
    return true;
}

/* Takes away the rows that are not in the set. Returns whether any are left. */
static bool intersect(uint64_t *restrict rows, const uint64_t *restrict set)
{
    uint64_t any = 0;
    size_t i;

    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        any |= rows[i] &= set[i];
    return any != 0;
}

/* Stores the rows of a full block whose INTEGERs or decimals, of a narrow column, are within the
   term's bounds: what is kept of them is compared with what would be kept of those. */
static void find_narrow(const struct clr_block *block, const struct clr_filter_term *term,
                        const struct clr_column *column, uint64_t *found)
{
    const struct clr_frame *frame = &column->frame;
    const int64_t low = term->least > frame->least ? term->least : frame->least;
    const int64_t high =
        term->greatest < frame->known_greatest ? term->greatest : frame->known_greatest;

    if (low > high) {
        memset(found, 0, CLR_BLOCK_WORDS * sizeof *found);
        return;
    }
    block->loops->within_words((const char *)column->words + block->first * frame->bytes,
                               frame->bytes, (uint32_t)((uint64_t)low - (uint64_t)frame->least),
                               (uint32_t)((uint64_t)high - (uint64_t)low), found);
}

/* Stores the rows of a full block for which a term is true that needs no values. */
static void find_true(const struct clr_block *block, const struct clr_filter_term *term,
                      uint64_t *found)
{
    const struct clr_instruction *instruction = &block->scan->instructions[term->number];
    const struct clr_column *column = block->columns[instruction->a];
    const struct clr_loops *loops = block->loops;
    const int64_t *values, *ahead;
    int64_t room[CLR_BLOCK];

    if (term->kind == CLR_TERM_DECIMALS ||
        (term->kind == CLR_TERM_INTEGERS && column->words != NULL && column->frame.power == 0.0)) {
        find_narrow(block, term, column, found);
    } else if (term->kind == CLR_TERM_INTEGERS || term->kind == CLR_TERM_REALS) {
        values = clr_column_values(column, block->first, CLR_BLOCK, room);
        ahead = values != room ? values + block->next : values;
        (term->kind == CLR_TERM_INTEGERS ? loops->within_integers : loops->within_reals)(
            values, term->least, term->greatest, found, ahead);
    } else {
        loops->select_true((const char *)column->codes + block->first * column->code_bytes,
                           column->code_bytes, block->scan->lookups[instruction->b].truths, found);
    }
}

/* Takes away the rows for which a lookup is not true, one by one. Returns whether any are left. */
static bool keep_looked_up(const struct clr_block *block, const struct clr_filter_term *term,
                           uint64_t *rows)
{
    const struct clr_instruction *instruction = &block->scan->instructions[term->number];
    const struct clr_column *column = block->columns[instruction->a];
    const struct clr_lookup *lookup = &block->scan->lookups[instruction->b];
    uint64_t word, truth, any = 0;
    size_t i, row;

    for (i = 0; i < CLR_BLOCK_WORDS; i++) {
        for (word = rows[i]; word != 0; word &= word - 1) {
            row = i * 64 + (size_t)__builtin_ctzll(word);
            truth = clr_lookup_is_true(lookup, clr_column_code(column, block->first + row));
            rows[i] ^= (word & -word) & (truth - 1); /* no jump, which would be guessed wrong */
        }
        any |= rows[i];
    }
    return any != 0;
}

static bool is_of_values(const struct clr_filter_term *term)
{
    return term->kind == CLR_TERM_SURE || term->kind == CLR_TERM_DOUBTFUL;
}

/* Terms that may be unsure are asked for all rows: no other term makes them sure. */
static bool select_from_full(struct clr_block *block, uint64_t *selected)
{
    const struct clr_filter_terms *terms = &block->terms;
    uint64_t found[CLR_BLOCK_WORDS];
    bool any = true;
    int i;

    clr_block_run(block, CLR_STAGE_DOUBTFUL);
    for (i = 0; i < terms->count; i++) {
        if (terms->terms[i].kind != CLR_TERM_DOUBTFUL)
            continue;
        memset(found, -1, sizeof found);
        if (!clr_filter_keep_true(block, &block->registers[terms->terms[i].number], found))
            return false;
        any = intersect(selected, found);
    }
    for (i = 0; i < terms->count && any; i++) {
        if (is_of_values(&terms->terms[i]))
            continue;
        if (terms->terms[i].kind == CLR_TERM_LOOKUP &&
            block->loops->count(selected) <= CLR_FEW_ROWS) {
            any = keep_looked_up(block, &terms->terms[i], selected);
        } else {
            find_true(block, &terms->terms[i], found);
            any = intersect(selected, found);
        }
    }
    if (any)
        clr_block_run(block, CLR_STAGE_SURE);
    for (i = 0; i < terms->count && any; i++)
        if (terms->terms[i].kind == CLR_TERM_SURE)
            clr_filter_keep_true(block, &block->registers[terms->terms[i].number], selected);
    return true;
}

void clr_filter_select_all(const struct clr_block *block, uint64_t *selected)
{
    size_t i;

    memset(selected, 0, CLR_BLOCK_WORDS * sizeof *selected);
    for (i = 0; i < block->count / 64; i++)
        selected[i] = UINT64_MAX;
    if (block->count % 64 != 0)
        selected[i] = ((uint64_t)1 << block->count % 64) - 1;
}

bool clr_filter_select(struct clr_block *block, uint64_t *selected)
{
    const int filter = block->scan->filter;

    clr_filter_select_all(block, selected);
    if (filter < 0)
        return true;
    if (block->count == CLR_BLOCK)
        return select_from_full(block, selected);
    clr_block_run(block, CLR_STAGE_FILTER);
    return clr_filter_keep_true(block, &block->registers[filter], selected);
}
