/* A block of a scan's rows: the values that its instructions have for them, and which rows pass. */
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
    const bool *is_lazy; /* as in struct clr_taking */
    int fetched; /* of so many instructions, the first ones, the columns were fetched ahead */
    int ran;     /* the stages whose instructions have run for the rows: bits of enum clr_stage */
};

/* Returns a block without rows, or NULL without memory. Free with clr_memory_free(). */
struct clr_block *clr_block_new(const struct clr_scan *scan);

/* Sets the rows, count of them from the scan's row `first` on, a multiple of CLR_BLOCK; 1 to
   CLR_BLOCK. */
void clr_block_set_rows(struct clr_block *block, size_t first, size_t count);

/* Sets rows, as many as given, of other columns: those from the first row on. columns stays the
   caller's, with one for each of the scan's that is needed. */
void clr_block_set_gathered(struct clr_block *block, struct clr_column *const *columns,
                            size_t count);

/*
 * Returns what a loop over values of the block is to fetch ahead: the next block of a column that
 * no loop has fetched since the rows were set, of one that a stage has run which needs it. If there
 * is none, it is the values themselves, which are in the cache. Narrow columns are fetched as they
 * are widened.
 */
const int64_t *clr_block_ahead(struct clr_block *block, const int64_t *values);

/* Sees to it that an instruction that has run for the rows has its values. */
void clr_block_widen(struct clr_block *block, int instruction);

/* Returns what a narrow column keeps of the values that its instruction does not have yet. */
static inline const void *clr_block_words(const struct clr_block *block,
                                          const struct clr_column *column)
{
    return (const char *)column->words + block->first * column->frame.bytes;
}

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

/*
 * Rows beside each other that are of one group are a run, whose last one has a bit in a set. So
 * many are taken at once, unless a block has more runs: then fewer rows than half of the block are
 * in shorter ones.
 */
enum { CLR_LONG_RUN = 8, CLR_MOST_RUNS = CLR_BLOCK / 2 / CLR_LONG_RUN };

/* ---- The filter. */

/*
 * A scan's filter, taken apart: a row passes if all terms of its ANDs are true. What a column of
 * numbers is compared with, and what a lookup has, are settled with a bit a row and no values.
 * Terms that are never UNSURE are asked only where others have left rows.
 */

/*
 * Finds the selected rows that count for a tally, by its filter (an instruction, or -1: all) and
 * its arguments, and those among them whose arguments are all INTEGERs, none without arguments.
 * Returns false if a row is unsure.
 */
bool clr_tally_rows_find(const struct clr_block *block, const struct clr_tally *tally, int filter,
                         const uint64_t *selected, uint64_t *rows, uint64_t *integers);

/* Stores the set of all rows of the block. */
void clr_filter_select_all(const struct clr_block *block, uint64_t *selected);

/* Finds the rows of the block that the scan's filter lets pass. Returns false if that is not sure
   for all of them. */
bool clr_filter_select(struct clr_block *block, uint64_t *selected);

/* ---- Blocks of which all rows pass, by what the zones of their columns tell. */

/* Returns the column that an instruction loads from, which is a column or a lookup. */
static inline const struct clr_column *clr_block_column(const struct clr_block *block,
                                                        int instruction)
{
    return block->columns[block->scan->instructions[instruction].a];
}

/* Returns the block's zone of such a column, or NULL while the column has none. */
static inline const struct clr_zone *clr_block_zone(const struct clr_block *block, int instruction)
{
    const struct clr_zones *zones = clr_column_zones(clr_block_column(block, instruction));

    return zones == NULL ? NULL : &zones->zones[block->first / CLR_BLOCK];
}

/* Whether the sums and the extremes of blocks are all that a tally needs of its argument. */
static inline bool clr_tally_takes_zones(const struct clr_tally *tally)
{
    const unsigned known =
        1u << CLR_SUM | 1u << CLR_EXTREMES | CLR_BOUNDS | CLR_LEAST | CLR_GREATEST;

    return tally->y < 0 && (tally->operations & ~known) == 0;
}

/* Stores the sum of a tally's argument over the rows of a block, which has not run, or NULL without
   argument. Returns false if zones do not tell all that the tally needs. Its filter is not asked.
 */
bool clr_block_find_sum(const struct clr_block *block, const struct clr_tally *tally,
                        const struct clr_zone_sum **sum);

#endif
