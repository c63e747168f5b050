/* Fills columns through SQLite: row by row, but without handing each row out. */
#ifndef CLR_SQLITE_ROW_LOAD_H
#define CLR_SQLITE_ROW_LOAD_H

#include "numeric/values/column.h"
#include "sqlite/session/connection.h"

/* The columns that are being filled; all have room for `most` rows. Those with bytes get these
   within what is left, and those of codes, in four bytes, the entries. */
struct clr_row_load {
    struct clr_column *const *columns;
    int count;
    size_t most, rows;
    int encoding;    /* of the TEXT that is kept: the database's */
    bool is_full;    /* whether it ended for lack of room */
    int many_values; /* or since this column had too many values for codes; else -1 */
};

/*
 * The aggregate that does it: clreduce_load(?1, column, ...) over a table, where ?1 is a pointer
 * that only clr_row_load() can give. It costs what sum() does of the same columns, where a step for
 * each row costs nearly twice as much.
 */
#define CLR_ROW_LOADER "clreduce_load"

/* Registers it. Returns SQLite's code. */
int clr_row_loader_register(struct clr_connection *connection);

/*
 * Runs a SELECT of nothing but a call of the loader with ?1 and load->count arguments, and so fills
 * the columns, each with its rows and kind. Returns SQLITE_OK, or SQLite's code: SQLITE_INTERRUPT
 * if it has to stop, SQLITE_TOOBIG with more rows, bytes or entries than there is room for,
 * whatever a row's value is an error with; the columns' content is undefined then.
 */
int clr_row_load(struct clr_connection *connection, const char *sql, struct clr_row_load *load);

#endif
