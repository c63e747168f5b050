/*
 * The code that SQLite itself makes to read a column, from EXPLAIN. It tells what a schema does
 * not: what an authorizer puts in a column's place, and what a generated column depends on.
 */
#ifndef CLR_SQLITE_COLUMN_CODE_H
#define CLR_SQLITE_COLUMN_CODE_H

#include "sqlite/api.h"

#include <stdbool.h>
#include <stdint.h>

/* A place in a record that no column has. */
enum { CLR_NO_INDEX = -2 };

struct clr_column_code {
    bool without_rowid; /* the table's rows lie in an index, or those of an index are read */
    uint32_t root;      /* page of the one b-tree that is read, or 0 if there are several */
    /* The one place in the record that is read, CLR_FIELD_ROWID for the rowid, or CLR_NO_INDEX if
       there is none, or several. */
    int index;
    /*
     * Whether the value follows from the row alone: it is read, or computed from what is read by
     * operators, comparisons in binary order and functions that are SQLite's own. What an
     * application has a say in, by a function or a collating sequence, can change while the
     * database does not. Functions that are not deterministic SQLite does not allow in a generated
     * column.
     */
    bool is_settled;
    /* Whether functions are called: an application may replace them at any time, so that
       is_settled has to be found out again. */
    bool has_calls;
};

/* Reads the code for a column of a table, which may be its rowid: by an index, or, if that is NULL,
   by none but, of a table WITHOUT ROWID, any. Returns SQLite's code; after an error *code says that
   nothing is read and nothing settled. */
int clr_column_code_read(sqlite3 *db, const char *schema, const char *table, const char *column,
                         const char *index, struct clr_column_code *code);

#endif
