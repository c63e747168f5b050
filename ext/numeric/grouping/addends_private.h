/* What the units share that find what rows add to groups: a tally, and a block's rows. */
#ifndef CLR_NUMERIC_ADDENDS_PRIVATE_H
#define CLR_NUMERIC_ADDENDS_PRIVATE_H

#include "numeric/grouping/addends.h"

#include <string.h>

struct clr_addend_task {
    struct clr_group_addends *addends;
    struct clr_block *block;
    const struct clr_tally *tally;
    const struct clr_group_tally *kept;
    int number;
    const uint64_t *selected;
    const uint32_t *numbers;
    const struct clr_register *x, *y;
};

static inline int64_t *clr_addend_own_word(const struct clr_addend_task *task, int word)
{
    return task->addends->own + (size_t)word * CLR_BLOCK;
}

static inline void clr_addend_set_word(const struct clr_addend_task *task, int word,
                                       const int64_t *values)
{
    task->addends->words[word] = values;
}

static inline bool clr_addend_same_rows(const uint64_t *a, const uint64_t *b)
{
    return memcmp(a, b, CLR_BLOCK_WORDS * sizeof *a) == 0;
}

/* Spills the value, or pair, of a row. The tags are those of x and y, without y that of NULL. */
enum clr_scan_outcome clr_addend_spill(const struct clr_addend_task *task, size_t row,
                                       uint8_t x_tag, uint8_t y_tag);

/* Finds the words of the sum for the rows that count, of which these have INTEGERs alone. */
enum clr_scan_outcome clr_addend_sum(const struct clr_addend_task *task, const uint64_t *rows,
                                     const uint64_t *integers);

/* Finds the words of the extremes of values of a type that are not -1. */
void clr_addend_find_extremes(const struct clr_addend_task *task, const uint64_t *rows,
                              enum clr_tag tag, const int words[2]);

#endif
