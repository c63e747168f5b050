/*
 * Truths of rows: for which rows of a column a lookup is true, kept from one scan to the next. A
 * block's truths are read at once then, where to look up the code of each row takes a scan of a
 * join most of its time.
 */
#ifndef CLR_NUMERIC_ROW_TRUTHS_H
#define CLR_NUMERIC_ROW_TRUTHS_H

#include "numeric/scan/scan.h"
#include "numeric/values/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_row_truths {
    uint64_t version; /* of the column */
    size_t blocks;    /* the first ones, all of them full, have bits */
    size_t room;      /* for so many */
    uint64_t bits[];  /* of each row, CLR_ZONE_ROWS / 64 words for a block */
};

/* Returns what a lookup has of the column's rows as they are now; NULL: nothing. */
static inline const struct clr_row_truths *clr_row_truths_of(const struct clr_lookup *lookup,
                                                             const struct clr_column *column)
{
    const struct clr_row_truths *rows = lookup->results == NULL ? NULL : lookup->results->rows;

    return rows != NULL && rows->version == column->version ? rows : NULL;
}

/*
 * Whether it is time to make truths of a column's rows: codes are not quick by themselves, and an
 * earlier scan of the same rows has missed them, or most of them. Those of rows that are as they
 * were before a refresh stay. For the lookup's owner, while no scan has the lookup.
 */
bool clr_row_truths_are_wanted(const struct clr_lookup *lookup, const struct clr_column *column);

/* Returns truths of a column that are still to be found. NULL without memory, or if all of the
   process would take more than so many bytes. Free with clr_row_truths_free(). */
struct clr_row_truths *clr_row_truths_new(const struct clr_column *column, int64_t most);
void clr_row_truths_free(struct clr_row_truths *truths);

/* Finds the truths of blocks from one to another. Threads may find those of others meanwhile. */
void clr_row_truths_find(const struct clr_lookup *lookup, const struct clr_column *column,
                         size_t first, size_t last, struct clr_row_truths *truths);

/* Gives a lookup truths in the place of those that it had. For its owner, as above. */
void clr_row_truths_set(const struct clr_lookup *lookup, struct clr_row_truths *truths);

#endif
