/*
 * The columns of a SELECT that was prepared: their names and types, and how a view's columns
 * compare with other values. Neither the schema nor declared types tell that, and SQLite's code for
 * it does.
 */
#ifndef CLR_SQLITE_SELECT_COLUMNS_H
#define CLR_SQLITE_SELECT_COLUMNS_H

#include "sqlite/api.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"

#include <stdbool.h>

/*
 * Reads the names of the columns of a SELECT that was prepared, as SQLite gives them by default. By
 * PRAGMA full_column_names and short_column_names it gives others, which a view's columns do not
 * follow. They are to be freed with clr_names_free() in any case. Returns SQLITE_OK or
 * SQLITE_NOMEM.
 */
int clr_column_names_read(sqlite3_stmt *select, struct clr_names *names);

/* Whether two statements have the same columns, by what SQLite's function tells of each: its name,
   or its declared type. */
bool clr_have_equal_columns(sqlite3_stmt *a, sqlite3_stmt *b,
                            const char *(*tell)(sqlite3_stmt *, int));

/* Whether a statement has the columns of one that is prepared now. Else SQLite has not seen yet
   that its schema is over. */
bool clr_has_columns_of_now(sqlite3_stmt *statement);

/* SQLite's letters for affinities; the first is that of an expression without one, which differs
   from that of a column without a type beside a column of TEXT. */
enum clr_affinity_letter {
    CLR_LETTER_NONE = '@',
    CLR_LETTER_BLOB = 'A',
    CLR_LETTER_TEXT = 'B',
    CLR_LETTER_NUMERIC = 'C',
    CLR_LETTER_INTEGER = 'D',
    CLR_LETTER_REAL = 'E'
};

struct clr_comparison {
    int affinity; /* a letter, or one of which more is not known; 0: nothing is known */
    char collation[CLR_SEQUENCE_NAME];
};

/*
 * Finds out how the columns of a SELECT, which was prepared, would compare if a view held it: *list
 * is to be freed with sqlite3_free() in any case. Returns SQLITE_OK, SQLITE_NOMEM, or SQLite's
 * code, with 0s in *list.
 */
int clr_comparisons_read(sqlite3_stmt *select, struct clr_comparison **list);

#endif
