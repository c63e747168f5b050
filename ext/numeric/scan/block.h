/* A block of a scan's rows, and the values that its instructions have for them. */
#ifndef CLR_NUMERIC_BLOCK_H
#define CLR_NUMERIC_BLOCK_H

#include "numeric/scan/loops.h"
#include "numeric/scan/register.h"
#include "numeric/scan/scan.h"

struct clr_block {
    const struct clr_scan *scan;
    const struct clr_loops *loops;
    size_t first, count; /* rows; what follows them in the registers is padding */
    int64_t *converted;  /* an operand as REALs */
    const uint8_t *uniform[CLR_TAG_UNSURE + 1]; /* a block of each tag */
    struct clr_register *registers;
    int fetched; /* of so many instructions, the first ones, the columns were fetched ahead */
    int wanted;  /* of so many the columns are likely to be needed in the next block */
    int ran;     /* so many ran the last time */
};

/* Returns a block without rows, or NULL without memory. Free with clr_block_free(). */
struct clr_block *clr_block_new(const struct clr_scan *scan);
void clr_block_free(struct clr_block *block);

/* Sets the rows, count of them from first on, 1 to CLR_BLOCK. */
void clr_block_set_rows(struct clr_block *block, size_t first, size_t count);

/*
 * Returns what a loop over values of the block is to fetch ahead: the next block of a column that
 * no loop has fetched since the rows were set. If there is none, it is the values themselves, which
 * are in the cache. What is behind the filter is fetched only where rows pass it.
 */
const int64_t *clr_block_ahead(struct clr_block *block, const int64_t *values);

/* Runs the instructions from - to - 1 for the rows. Those before must have run. */
void clr_block_run(struct clr_block *block, int from, int to);

#endif
