/*
 * A scan's filter, taken apart: a row passes if all terms of its ANDs are true. What a column of
 * numbers is compared with, and what a lookup has, are settled with a bit a row and no values.
 * Terms that are never UNSURE are asked only where others have left rows.
 */
#ifndef CLR_NUMERIC_FILTER_H
#define CLR_NUMERIC_FILTER_H

#include "numeric/scan/block.h"
#include "numeric/scan/loops.h"

#include <stdbool.h>
#include <stdint.h>

/* Takes away the rows for which the register is not true. Returns false if that is not sure for all
   of them. */
bool clr_filter_keep_true(const struct clr_block *block, const struct clr_register *values,
                          uint64_t *rows);

/* Stores the set of all rows of the block. */
void clr_filter_select_all(const struct clr_block *block, uint64_t *selected);

/* Finds the rows of the block that the scan's filter lets pass. Returns false if that is not sure
   for all of them. */
bool clr_filter_select(struct clr_block *block, uint64_t *selected);

#endif
