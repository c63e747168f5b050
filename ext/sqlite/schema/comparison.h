/*
 * How columns of a view compare with other values: what a schema does not tell of a view, and
 * SQLite's code for a comparison does.
 */
#ifndef CLR_SQLITE_COMPARISON_H
#define CLR_SQLITE_COMPARISON_H

#include "sqlite/schema/program.h"

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
 * Finds out how columns of schema.table compare, which may be a view; names has their names, NULL
 * among them only without memory. Returns SQLITE_OK, SQLITE_NOMEM, or SQLite's code; *list has
 * count of them.
 */
int clr_comparisons_read(sqlite3 *db, const char *schema, const char *table,
                         const char *const *names, int count, struct clr_comparison *list);

#endif
