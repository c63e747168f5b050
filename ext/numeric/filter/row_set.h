/* Rows of a block, as sets: a bit for each of them, CLR_BLOCK_WORDS words. */
#ifndef CLR_NUMERIC_ROW_SET_H
#define CLR_NUMERIC_ROW_SET_H

#include "numeric/scan/loops.h"
#include "numeric/scan/register.h"

/* Stores those of the rows that have a value of this type. Returns whether there are any; if there
   are none, what is stored is undefined. */
bool clr_row_set_find(const struct clr_loops *loops, const struct clr_register *values,
                      enum clr_tag tag, const uint64_t *restrict rows, uint64_t *restrict found);

/* Stores those of the rows whose value is true: a number other than zero, and -0.0 is zero. */
void clr_row_set_find_true(const struct clr_loops *loops, const struct clr_register *values,
                           const uint64_t *restrict rows, uint64_t *restrict found);

#endif
