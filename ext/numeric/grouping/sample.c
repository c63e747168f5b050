#include "numeric/grouping/sample.h"

#include "numeric/exact/parts.h"
#include "numeric/filter/filter.h"
#include "numeric/scan/block_run.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Blocks that are looked at, as far from each other as can be. */
enum { BLOCKS = 32 };

static void take_real(struct clr_sampled *sampled, double x)
{
    struct clr_parts parts;
    int top, bottom;

    if (!isfinite(x) || x == 0.0)
        return;
    parts = clr_parts_of(x);
    top = parts.exponent + 64 - __builtin_clzll(parts.significand);
    bottom = parts.exponent + __builtin_ctzll(parts.significand);
    sampled->real_top = top > sampled->real_top ? top : sampled->real_top;
    sampled->real_bottom = bottom < sampled->real_bottom ? bottom : sampled->real_bottom;
}

static void take_row(struct clr_sampled *sampled, const struct clr_register *values, size_t row)
{
    const int64_t bits = values->values[row];
    double real;

    sampled->types |= CLR_TYPE(values->tags[row]);
    if (values->tags[row] == CLR_TAG_INTEGER) {
        sampled->least = bits < sampled->least ? bits : sampled->least;
        sampled->greatest = bits > sampled->greatest ? bits : sampled->greatest;
    } else if (values->tags[row] == CLR_TAG_REAL) {
        memcpy(&real, &bits, sizeof real);
        take_real(sampled, real);
    }
}

/* Where no row of the block passes the filter, or that is not sure, all are as good a guess.
   Returns how many do pass. */
static size_t take_block(struct clr_block *block, const bool *wanted, struct clr_sample *sample)
{
    uint64_t selected[CLR_BLOCK_WORDS];
    const size_t passed = clr_filter_select(block, selected) ? block->loops->count(selected) : 0;
    size_t row;
    int number;

    if (passed == 0)
        memset(selected, -1, sizeof selected);
    clr_block_run(block, CLR_STAGE_TALLIES);
    for (number = 0; number < block->scan->instruction_count; number++)
        for (row = 0; row < block->count && wanted[number]; row++)
            if (selected[row / 64] >> row % 64 & 1)
                take_row(&sample->values[number], &block->registers[number], row);
    return passed;
}

enum clr_scan_outcome clr_sample_take(const struct clr_scan *scan, const bool *wanted,
                                      struct clr_sample *sample)
{
    const size_t blocks = (scan->rows + CLR_BLOCK - 1) / CLR_BLOCK;
    const size_t looks = blocks < BLOCKS ? blocks : BLOCKS;
    struct clr_block *block = clr_block_new(scan);
    size_t passed = 0, seen = 0, i;
    int number;

    for (number = 0; number < scan->instruction_count; number++)
        sample->values[number] = (struct clr_sampled){0, INT64_MAX, INT64_MIN, INT_MIN, INT_MAX};
    if (block == NULL)
        return CLR_SCAN_FAILED;
    for (i = 0; i < looks; i++) {
        const size_t number_of_block = looks == 1 ? 0 : (blocks - 1) * i / (looks - 1);
        const size_t first = number_of_block * CLR_BLOCK, rest = scan->rows - first;

        clr_block_set_rows(block, first, rest < CLR_BLOCK ? rest : CLR_BLOCK);
        passed += take_block(block, wanted, sample);
        seen += block->count;
    }
    sample->rows = seen == 0 ? 0 : scan->rows * (uint64_t)(passed + 1) / seen;
    clr_block_free(block);
    return CLR_SCAN_DONE;
}
