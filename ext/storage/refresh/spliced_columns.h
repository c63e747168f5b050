/* The columns of a table of which some rows are others: rows of leaves that are kept, and of those
   that were decoded anew. */
#ifndef CLR_STORAGE_SPLICED_COLUMNS_H
#define CLR_STORAGE_SPLICED_COLUMNS_H

#include "storage/leaves/layout.h"
#include "storage/leaves/units.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Fresh leaves. */

/*
 * A few leaves of a table, decoded one by one into columns of their own: those that a refresh finds
 * to be changed.
 */
struct clr_few_leaves {
    int count;
    struct clr_column **columns; /* one for each field, at its position; those of SQLite follow */
    int decoded;                 /* so many are decoded */
    atomic_int_least64_t left;   /* bytes that TEXT, BLOBs and dictionaries may still take */
    size_t leaf_count;
    struct clr_leaf *leaves;
    size_t *at; /* where their rows begin */
    struct clr_leaf_reader reader;
};

/*
 * Begins with columns for the fields, of which there are so many, and room for so many leaves, of
 * pages that are read by way of pages; fields and pages are as for clr_leaf_reader_init(). count
 * columns are wanted in all: clr_few_leaves_end() makes the others. The bytes of TEXT and BLOBs,
 * and the dictionaries of the columns with codes, whose seed is given, may take most_bytes, 0: any.
 * Returns CLR_LOAD_DONE or CLR_LOAD_FAILED. Free in any case; it may be zeros then, and stays where
 * it is.
 */
enum clr_load_outcome clr_few_leaves_init(struct clr_few_leaves *few, struct clr_pages *pages,
                                          const struct clr_field *fields, int decoded, int count,
                                          size_t room, size_t most_bytes, uint64_t seed);

/* Decodes a leaf, in whatever order; only if it is the table's only one it may be empty. There is
   room for it. (If its first row has the least rowid of all that is taken for an error.) */
enum clr_load_outcome clr_few_leaves_add(struct clr_few_leaves *few, uint32_t number, bool is_only);

/* Completes the columns, which stay here, and makes those that are not decoded, with anything that
   those of the table may have for values. Returns false without memory. */
bool clr_few_leaves_end(struct clr_few_leaves *few, struct clr_column *const *columns,
                        uint64_t seed);

void clr_few_leaves_free(struct clr_few_leaves *few);

/* ---- Splices. */

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
 * Gives the columns, as many as fresh has, the rows of the splice: those of theirs that stay, and
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
                                         const struct clr_few_leaves *fresh,
                                         struct clr_column **columns, bool *changed);

#endif
