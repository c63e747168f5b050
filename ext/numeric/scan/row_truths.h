/*
 * Truths of rows: for which rows of a column of codes a lookup is true, kept from one scan to the
 * next. A block's truths are read at once then, where to look up the code of each row takes a scan
 * of a join most of its time.
 */
#ifndef CLR_NUMERIC_ROW_TRUTHS_H
#define CLR_NUMERIC_ROW_TRUTHS_H

#include "numeric/values/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_TRUTH_WORDS = CLR_ZONE_ROWS / 64 }; /* of a block */

struct clr_row_truths {
    uint64_t version; /* of the column */
    size_t blocks;    /* the first ones, all of them full, have bits */
    size_t room;      /* for so many */
    uint64_t bits[];  /* one for each row */
};

/* Returns truths of the full blocks of a column, whose bits the caller finds. NULL without memory,
   or if all truths of the process would take more than so many bytes. Any thread may free them;
   NULL is fine. */
struct clr_row_truths *clr_row_truths_new(const struct clr_column *column, int64_t most);
void clr_row_truths_free(struct clr_row_truths *truths);

/* Whether truths, which may be NULL, are of the column's rows as they are now. */
static inline bool clr_row_truths_are_of(const struct clr_row_truths *truths,
                                         const struct clr_column *column)
{
    return truths != NULL && truths->version == column->version;
}

/* Has truths, which may be NULL and no scan uses, follow a refresh of the column: they keep the
   blocks whose rows are as they were. Returns whether most blocks have bits then. */
bool clr_row_truths_follow(struct clr_row_truths *truths, const struct clr_column *column);

#endif
