/* Columns that SQLite fills with values of its rows: through SQLite, row by row, but without
   handing each row out. */
#ifndef CLR_SQLITE_ROW_LOADER_H
#define CLR_SQLITE_ROW_LOADER_H

#include "numeric/values/column.h"
#include "numeric/values/field.h"
#include "sqlite/session/connection.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The aggregate that does it: clreduce_load(?1, column, ...) over a table, where ?1 is a pointer
 * that only clr_row_load_run() can give. It costs what sum() does of the same columns, where a step
 * for each row costs nearly twice as much.
 */
#define CLR_ROW_LOADER "clreduce_load"

/* What is to be filled: columns of these fields, and what came of it. */
struct clr_row_load {
    const struct clr_field *fields;
    int count;
    size_t most;  /* rows that there is room for */
    int64_t left; /* bytes that TEXT, BLOBs, and the entries of codes may take */
    struct clr_column *
        *columns; /* with room for as many; those of codes have four bytes at first */
    size_t rows;
    int encoding;    /* of the TEXT that is kept: the database's */
    bool stays_wide; /* values are to have eight bytes each */
    bool is_full;    /* whether it ended for lack of room */
    /* Or since this column had too many values for codes, or other values than times, or, if it is
       derived, than numbers; else -1. */
    int many_values;
};

/* Rows by their rowids, both ends among them, and how many there are. */
struct clr_rowid_range {
    int64_t first, last;
    size_t rows;
};

/* The aggregate, to be registered. */
extern const struct clr_sql_function clr_row_loader_functions[];

/*
 * Runs a SELECT of nothing but a call of the loader with ?1 and load->count arguments, and so makes
 * the columns, with a reference each: of all its rows, or of those of the ranges, one after the
 * other, whose ends are ?2 and ?3. Returns SQLITE_OK, or SQLite's code, without columns:
 * SQLITE_INTERRUPT if it has to stop, SQLITE_TOOBIG with more rows, bytes or entries than there is
 * room for, whatever a row's value is an error with, SQLITE_ERROR if a range has another number of
 * rows.
 */
int clr_row_load_run(struct clr_connection *connection, const char *sql,
                     const struct clr_rowid_range *ranges, size_t range_count,
                     struct clr_row_load *load);

#endif
