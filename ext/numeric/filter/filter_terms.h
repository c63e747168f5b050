/* The terms of a scan's filter, see numeric/scan/block.h, and the blocks in which it has no row. */
#ifndef CLR_NUMERIC_FILTER_TERMS_H
#define CLR_NUMERIC_FILTER_TERMS_H

#include "numeric/scan/scan.h"
#include "numeric/values/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_MOST_TERMS_OF_FILTER = 64 };

enum clr_filter_term_kind {
    CLR_TERM_INTEGERS, /* a column, whose rows are all INTEGERs, is from least to greatest */
    CLR_TERM_REALS,    /* likewise of REALs */
    CLR_TERM_DECIMALS, /* likewise, of a narrow column: what is from least to greatest are the
                          integers of its decimals */
    CLR_TERM_LOOKUP,   /* a lookup's results are true, and none is BYTES or UNSURE */
    CLR_TERM_SURE,     /* an instruction that is neither BYTES nor UNSURE for any row is true */
    CLR_TERM_DOUBTFUL  /* likewise, of one that may be */
};

struct clr_filter_term {
    enum clr_filter_term_kind kind;
    int number;              /* of the instruction, which stands for the column or the lookup */
    int64_t least, greatest; /* bits of values; if least is more, no row passes */
    const struct clr_row_truths *kept; /* of a lookup, of these rows; NULL: there are none */
};

/* When a block runs an instruction: bits. One may be needed at several times. */
enum clr_stage {
    CLR_STAGE_DOUBTFUL = 1, /* for terms of that kind */
    CLR_STAGE_SURE = 2,     /* likewise */
    CLR_STAGE_FILTER = 4,   /* for the filter as a whole */
    CLR_STAGE_TALLIES = 8   /* for tallies and keys */
};

struct clr_filter_terms {
    int count;
    struct clr_filter_term terms[CLR_MOST_TERMS_OF_FILTER];
    uint8_t stages[CLR_MOST_INSTRUCTIONS];
};

/* Stores the instructions of which all have to be true where the filter is: the operands of its
   ANDs, from the left to the right. Returns how many they are; 0: there is no filter. */
int clr_terms_split(const struct clr_scan *scan, int terms[CLR_MOST_TERMS_OF_FILTER]);

/* Stores which instructions are BYTES or UNSURE for no row, whatever rows there are, by what
   lookups are now. sure_columns: which columns have no BYTES. */
void clr_terms_find_sure(const struct clr_scan *scan, const bool *sure_columns,
                         bool sure[CLR_MOST_INSTRUCTIONS]);

/* Whether an instruction compares a column with a number, and if so which one. */
bool clr_terms_compare(const struct clr_scan *scan, int number, int *column);

/*
 * Stores the integers, from the least to the greatest, for which all of the filter's comparisons of
 * a column with numbers are true, as far as they are its terms. They are INTEGERs, or the decimals
 * of a power that is not 0. If the least is more than the greatest, no row passes.
 */
void clr_terms_bound(const struct clr_scan *scan, int column, double power, int64_t *least,
                     int64_t *greatest);

/* Whether few of a scan's rows pass its filter, less than a fourth, by a guess: by its lookups, as
   if the values of a column were alike often. */
bool clr_terms_pass_few(const struct clr_scan *scan);

/* Takes a scan's filter apart, by what its columns and lookups are now. */
void clr_terms_find(const struct clr_scan *scan, struct clr_filter_terms *terms);

/* Whether all rows of a block of the scan's columns pass, as far as zones tell. */
bool clr_terms_pass_block(const struct clr_scan *scan, const struct clr_filter_terms *terms,
                          size_t block);

/* ---- Which blocks of a scan's rows can be left out, by the zones of its columns. */

/* Makes the coarse zones that have some of count zones from the first one on, once these and all
   others of the coarse ones are there. */
void clr_zones_join(struct clr_zones *zones, size_t first, size_t count);

/* Stores which types all zones have together, once each coarse zone is there. */
void clr_zones_complete(struct clr_zones *zones);

/*
 * For who can't take a list of blocks: stores the rows of a scan's blocks, of its columns' rows, as
 * ranges in their order: `most` of them at most, 1 or more. What lies between two blocks is taken
 * in unless it is at least so many blocks (1 or more), or a multiple of that if there would be too
 * many ranges. A scan of all rows has one range, and one without rows none.
 */
void clr_row_ranges_find(const struct clr_scan *scan, size_t gap, int most,
                         struct clr_row_ranges *ranges);

/*
 * Stores which columns' zones could tell that a block has no row for which the scan's filter is
 * true, and those without which the others would not do. Returns whether there are any of the
 * former.
 */
bool clr_skipping_find_columns(const struct clr_scan *scan, bool wanted[CLR_MOST_COLUMNS]);

/*
 * Gives a scan over whole columns the blocks that may have such rows, by the zones that there are,
 * and their number of rows. The list, scan->blocks, is the caller's to free when the scan is done.
 * The scan stays as it is if all blocks may, if it may be unsure of a row, and without memory.
 */
void clr_skipping_find_blocks(struct clr_scan *scan);

#endif
