/* A block of a scan's rows, and the values that its instructions have for them. */
#ifndef CLR_NUMERIC_BLOCK_H
#define CLR_NUMERIC_BLOCK_H

#include "numeric/filter/filter_terms.h"
#include "numeric/scan/loops.h"
#include "numeric/scan/scan.h"

struct clr_block {
    const struct clr_scan *scan;
    const struct clr_loops *loops;
    struct clr_filter_terms terms;     /* of the scan's filter */
    struct clr_column *const *columns; /* the scan's, or what a caller has gathered of them */
    size_t first, count;               /* rows; what follows them in the registers is padding */
    size_t next;        /* so many rows on is the next block, if that is a full one; else 0 */
    int64_t *converted; /* an operand as REALs */
    const uint8_t *uniform[CLR_TAG_UNSURE + 1]; /* a block of each tag */
    struct clr_register *registers;
    int fetched; /* of so many instructions, the first ones, the columns were fetched ahead */
    int ran;     /* the stages whose instructions have run for the rows: bits of enum clr_stage */
};

/* Returns a block without rows, or NULL without memory. Free with clr_block_free(). */
struct clr_block *clr_block_new(const struct clr_scan *scan);
void clr_block_free(struct clr_block *block);

/* Sets the rows, count of them from the scan's row `first` on, a multiple of CLR_BLOCK; 1 to
   CLR_BLOCK. */
void clr_block_set_rows(struct clr_block *block, size_t first, size_t count);

/* Sets all rows, 1 to CLR_BLOCK, of columns that stand for those of the scan. Its filter is true
   for them. */
void clr_block_set_gathered(struct clr_block *block, struct clr_column *const *columns,
                            size_t count);

/*
 * Returns what a loop over values of the block is to fetch ahead: the next block of a column that
 * no loop has fetched since the rows were set, of one that a stage has run which needs it. If there
 * is none, it is the values themselves, which are in the cache. Narrow columns are fetched as they
 * are widened.
 */
const int64_t *clr_block_ahead(struct clr_block *block, const int64_t *values);

/* Runs the instructions of a scan over a block of its rows. */

/* Runs those instructions of a stage that have not run yet for the rows. */
void clr_block_run(struct clr_block *block, enum clr_stage stage);

/* Of so many of its rows it is quicker to look at each than to compute all. */
enum { CLR_FEW_ROWS = CLR_BLOCK / 8 };

/* Rows of a block, as sets: a bit for each of them, CLR_BLOCK_WORDS words. */

/* Stores those of the rows that have a value of this type. Returns whether there are any; if there
   are none, what is stored is undefined. */
bool clr_row_set_find(const struct clr_loops *loops, const struct clr_register *values,
                      enum clr_tag tag, const uint64_t *restrict rows, uint64_t *restrict found);

/* Stores those of the rows whose value is true: a number other than zero, and -0.0 is zero. */
void clr_row_set_find_true(const struct clr_loops *loops, const struct clr_register *values,
                           const uint64_t *restrict rows, uint64_t *restrict found);

#endif
