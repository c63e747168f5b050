/* The columns of a refresh: what becomes of each, with the rows of the leaves that were read. */
#ifndef CLR_STORAGE_REFRESHED_COLUMNS_H
#define CLR_STORAGE_REFRESHED_COLUMNS_H

#include "storage/leaves/few_leaves.h"
#include "storage/leaves/layout.h"
#include "storage/refresh/splice.h"

/*
 * Gives the columns, as many as fresh has, the rows of the splice: those of theirs that stay, and
 * those of the fresh columns, whose bytes are moved. layout is the old one, with the limits of rows
 * and of memory. Stores in changed[i] whether a column's content is another one: it may then have
 * been changed in place, or be replaced, and its reference dropped.
 *
 * Returns CLR_LOAD_DONE, and else leaves the columns' rows as they are: what clr_pages_no_memory()
 * does of pages; or CLR_LOAD_TOO_LARGE if there would be too many rows, too much memory, or so much
 * that no row has any more that the table had better be loaded anew.
 */
enum clr_load_outcome clr_refreshed_columns_make(const struct clr_splice *splice,
                                                 const struct clr_layout *layout,
                                                 struct clr_pages *pages,
                                                 const struct clr_few_leaves *fresh,
                                                 struct clr_column **columns, bool *changed);

#endif
