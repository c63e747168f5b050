/*
 * How the columns of a view compare with other values: neither the schema nor declared types tell,
 * and SQLite's code for a comparison does.
 */
#ifndef CLR_SQLITE_COMPARISON_H
#define CLR_SQLITE_COMPARISON_H

#include "sqlite/schema/bytecode.h"

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
 * Finds out how the columns of a SELECT, which was prepared, would compare if a view held it; list
 * has room for each. Returns SQLITE_OK, SQLITE_NOMEM, or SQLite's code, with 0s in *list.
 */
int clr_comparisons_read(sqlite3_stmt *select, struct clr_comparison *list);

#endif
