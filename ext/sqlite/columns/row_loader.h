/* Columns that SQLite fills with values of its rows: through SQLite, row by row, but without
   handing each row out. */
#ifndef CLR_SQLITE_ROW_LOADER_H
#define CLR_SQLITE_ROW_LOADER_H

#include "numeric/values/column.h"
#include "numeric/values/field.h"
#include "sqlite/session/connection.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The aggregate that does it: clreduce_load(?1, column, ...) over a table, where ?1 is a pointer
 * that only clr_row_load_run() can give. It costs what sum() does of the same columns, where a step
 * for each row costs nearly twice as much.
 */
#define CLR_ROW_LOADER "clreduce_load"

/* The columns that are being filled; all have room for `most` rows. Those with bytes get these
   within what is left, and those of codes, in four bytes, the entries. */
struct clr_row_load {
    struct clr_column *const *columns;
    const struct clr_field *fields; /* theirs */
    int count;
    size_t most, rows;
    int encoding; /* of the TEXT that is kept: the database's */
    bool is_full; /* whether it ended for lack of room */
    /* Or since this column had too many values for codes, or other values than times, or, if it is
       derived, than numbers; else -1. */
    int many_values;
};

/* Rows by their rowids, both ends among them, and how many there are. */
struct clr_rowid_range {
    int64_t first, last;
    size_t rows;
};

/* Registers the aggregate. Returns SQLite's code. */
int clr_row_loader_register(struct clr_connection *connection);

/*
 * Runs a SELECT of nothing but a call of the loader with ?1 and load->count arguments, and so fills
 * the columns, each with its rows and kind: with all its rows, or with those of the ranges, one
 * after the other, whose ends are ?2 and ?3. Returns SQLITE_OK, or SQLite's code: SQLITE_INTERRUPT
 * if it has to stop, SQLITE_TOOBIG with more rows, bytes or entries than there is room for,
 * whatever a row's value is an error with, SQLITE_ERROR if a range has another number of rows; the
 * columns' content is undefined then.
 */
int clr_row_load_run(struct clr_connection *connection, const char *sql,
                     const struct clr_rowid_range *ranges, size_t range_count,
                     struct clr_row_load *load);

/* Returns a column that is to be filled, with one reference, or NULL without memory. left: bytes
   that are left for TEXT, BLOBs and entries, until the column is finished. */
struct clr_column *clr_row_load_column(const struct clr_field *field, size_t rows,
                                       atomic_int_least64_t *left);

/* Completes a column that was filled: values and codes take no more bytes than they need. Returns
   false without memory. */
bool clr_row_load_finish(struct clr_column **column);

#endif
