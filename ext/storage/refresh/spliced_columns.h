/* The columns of a table of which some rows are others: rows of leaves that are kept, and of those
   that were decoded anew. */
#ifndef CLR_STORAGE_SPLICED_COLUMNS_H
#define CLR_STORAGE_SPLICED_COLUMNS_H

#include "numeric/values/column.h"
#include "storage/format/page.h"
#include "storage/leaves/layout.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Gives rows of a column other places, and puts others between them: what is left of a table's
 * columns after some of its pages have changed. A column that nobody else refers to is changed in
 * place.
 */

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
 * Gives the columns, count of them, the rows of the splice: those of theirs that stay, and
 * those of the fresh columns, whose bytes are moved. layout is the old one, with the limits of rows
 * and of memory. Stores in changed[i] whether a column's content is another one: it may then have
 * been changed in place, or be replaced, and its reference dropped.
 *
 * Returns CLR_LOAD_DONE, and else leaves the columns' rows as they are: what clr_pages_no_memory()
 * does of pages; or CLR_LOAD_TOO_LARGE if there would be too many rows, too much memory, or so much
 * that no row has any more that the table had better be loaded anew.
 */
enum clr_load_outcome clr_columns_splice(const struct clr_splice *splice,
                                         const struct clr_layout *layout, struct clr_pages *pages,
                                         struct clr_column *const *fresh, int count,
                                         struct clr_column **columns, bool *changed);

#endif
