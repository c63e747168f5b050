/*
 * Gives rows of a column other places, and puts others between them: what is left of a table's
 * columns after some of its pages have changed. A column that nobody else refers to is changed in
 * place.
 */
#ifndef CLR_STORAGE_SPLICE_H
#define CLR_STORAGE_SPLICE_H

#include "numeric/values/column.h"

#include <stdbool.h>
#include <stddef.h>

/* A run of rows, from row `from` on, that belongs at row `to` of the new column. */
struct clr_row_run {
    size_t from, to, rows;
};

/*
 * The new column's rows: each is in one run. Runs of old rows ascend, by from and by to; what is in
 * none is left out. So do runs of fresh rows, by to.
 */
struct clr_splice {
    size_t rows;
    struct clr_row_run *old, *fresh;
    size_t old_count, fresh_count;
};

/*
 * Whether the result differs from the old column, whose rows are as many as the old layout's. It
 * may be told to where it does not, of values that are addresses. map: as for clr_splice_finish().
 */
bool clr_splice_changes(const struct clr_splice *splice, const struct clr_column *old,
                        const struct clr_column *fresh, const uint32_t *map);

/*
 * Returns the column that shall take the result: the old column itself, or a new one with one
 * reference; NULL without memory. Nothing has changed yet. dictionary: of a column of codes, which
 * has all of the result's values by now: the old column's, or, if others refer to that column,
 * another one with the same codes. Where the old column is narrow and not all fresh values fit, it
 * is a new one, of more bytes a row.
 */
struct clr_column *clr_splice_begin(const struct clr_splice *splice, struct clr_column *old,
                                    const struct clr_column *fresh,
                                    struct clr_dictionary *dictionary);

/* Puts the rows of both columns into the result, whichever it is, and moves their bytes there: also
   those of old rows that are left out. map: of columns of codes, the code in the old one's
   dictionary of each entry of the fresh one's; else NULL. */
void clr_splice_finish(const struct clr_splice *splice, struct clr_column *old,
                       struct clr_column *fresh, const uint32_t *map, struct clr_column *result);

#endif
