/*
 * Truths of rows: for which rows of a column of codes a lookup is true, kept from one scan to the
 * next. A block's truths are read at once then, where to look up the code of each row takes a scan
 * of a join most of its time.
 */
#ifndef CLR_NUMERIC_ROW_TRUTHS_H
#define CLR_NUMERIC_ROW_TRUTHS_H

#include "numeric/values/column.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_TRUTH_WORDS = CLR_ZONE_ROWS / 64 }; /* of a block */

/* Of all that have a reference. Whoever makes them writes them, and nobody else. */
struct clr_truth_bits {
    atomic_int references;
    size_t blocks;    /* that there are bits for */
    uint64_t words[]; /* a bit for each row */
};

/* The truths that a scan reads, its own. Zeros: none. */
struct clr_row_truths {
    uint64_t version;            /* of the column */
    size_t blocks;               /* the first ones, all of them full, have bits */
    struct clr_truth_bits *bits; /* with a reference, or NULL */
};

/* What scans that share a lookup's results have found. Zeros: nothing. */
struct clr_shared_truths {
    struct clr_row_truths latest;
    uint64_t missed; /* the version of the column for which a scan has missed them */
};

/* Makes truths of the full blocks of a column, whose bits the caller finds. Returns false without
   memory, or if all truths of the process would take more than so many bytes. */
bool clr_row_truths_make(const struct clr_column *column, int64_t most,
                         struct clr_row_truths *truths);

/* Drops the reference; the truths are none then. */
void clr_row_truths_release(struct clr_row_truths *truths);

/* Whether truths are of the column's rows as they are now. */
static inline bool clr_row_truths_are_of(const struct clr_row_truths *truths,
                                         const struct clr_column *column)
{
    return truths->bits != NULL && truths->version == column->version;
}

/* Has truths follow a refresh of the column: they keep the blocks whose rows are as they were.
   Returns whether most blocks have bits then. */
bool clr_row_truths_follow(struct clr_row_truths *truths, const struct clr_column *column);

/* ---- Sharing them. Any thread may do so. */

/* Replaces a scan's truths, which may be none, by the latest ones. */
void clr_row_truths_take(struct clr_shared_truths *shared, struct clr_row_truths *truths);

/* Makes a scan's truths the latest ones, for all others. */
void clr_row_truths_give(struct clr_shared_truths *shared, const struct clr_row_truths *truths);

/* Takes note that a scan of the column has missed truths. Returns whether one of the same rows had
   done so before. */
bool clr_row_truths_miss(struct clr_shared_truths *shared, const struct clr_column *column);

#endif
