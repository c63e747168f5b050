/*
 * Rows that passed a scan's filter, few of each block, put together to blocks of their own: what
 * tallies and keys need is then computed for them alone.
 */
#ifndef CLR_NUMERIC_GATHERED_H
#define CLR_NUMERIC_GATHERED_H

#include "numeric/scan/block.h"

struct clr_gathered {
    size_t count;                                 /* of rows, up to CLR_BLOCK */
    size_t rows[CLR_BLOCK];                       /* their numbers in the scan's columns */
    struct clr_column *columns[CLR_MOST_COLUMNS]; /* with a block of rows; NULL: not needed */
    struct clr_column own[CLR_MOST_COLUMNS];      /* which are these, and nobody else's */
    char *memory;                                 /* for their rows */
};

/* Gets ready for the columns that tallies and keys of the block's scan need. Returns false without
   memory; then, too, clr_gathered_free() is due. */
bool clr_gathered_init(struct clr_gathered *gathered, const struct clr_block *block);

void clr_gathered_free(struct clr_gathered *gathered);

/* Adds the selected rows of the block, CLR_FEW_ROWS at most: count of them. Their values are only
   fetched, as rows that lie apart have to be waited for. */
void clr_gathered_add(struct clr_gathered *gathered, const struct clr_block *block,
                      const uint64_t *selected, size_t count);

/* Whether there is no room for as many more: then all are to be taken. */
static inline bool clr_gathered_is_full(const struct clr_gathered *gathered)
{
    return gathered->count > CLR_BLOCK - CLR_FEW_ROWS;
}

/* Makes the block one of all gathered rows, of which there are some, which are selected. Their
   columns stay as they are until others are added. */
void clr_gathered_take(struct clr_gathered *gathered, struct clr_block *block, uint64_t *selected);

#endif
