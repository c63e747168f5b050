/*
 * The part of a program's text that depends on a scan's or a grouping's expressions, and a key for
 * it: programs with the same key have the same text. Needs no OpenCL.
 */
#ifndef CLR_OPENCL_ROW_TEXT_H
#define CLR_OPENCL_ROW_TEXT_H

#include "numeric/filter/filter_terms.h"
#include "numeric/grouping/plan.h"
#include "numeric/scan/scan.h"
#include "opencl/reduction/scan_plan.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CLR_ROW_TEXT_SIZE = 100000,
    /* Room for any filter and the steps of any bundle. */
    CLR_ROW_KEY_WORDS = 1 + 4 * (CLR_MOST_TERMS_OF_FILTER + CLR_MOST_SCAN_INSTRUCTIONS) +
                        CLR_MOST_BUNDLE * (10 + 4 * CLR_MOST_SCAN_INSTRUCTIONS)
};

/* What the kernel's first arguments are: for each column its values, or codes, and then its tags,
   and of a narrow one the least integer of its frame, and of decimals the power and its reciprocal,
   as far as its kind has them; likewise for each lookup; then the bits of each constant; and of the
   filter the truths of each lookup that is a term, and for each column with bounds the least word
   and by how much the greatest one is more; and if there are any, whether all have some. */
struct clr_row_arguments {
    int column_count, columns[CLR_MOST_COLUMNS];
    int filter_columns;              /* how many of these, the first ones, the filter needs */
    uint8_t kinds[CLR_MOST_COLUMNS]; /* of those columns */
    int lookup_count, lookups[CLR_MOST_LOOKUPS];
    uint8_t lookup_kinds[CLR_MOST_LOOKUPS];
    bool lookups_short[CLR_MOST_LOOKUPS]; /* a value is a byte */
    int truth_count, truths[CLR_MOST_LOOKUPS];
    int bound_count, bounds[CLR_MOST_COLUMNS]; /* the columns */
    int constant_count, constants[CLR_MOST_SCAN_INSTRUCTIONS];
};

struct clr_row_key {
    struct clr_row_arguments arguments; /* no part of the key */
    size_t length;
    int16_t words[CLR_ROW_KEY_WORDS];
};

struct clr_row_text {
    bool complete; /* false: there was not enough room for the text */
    /* Parts, each ended by a NUL, which length counts. */
    size_t length;
    char text[CLR_ROW_TEXT_SIZE];
};

/* ---- Scans. */

/*
 * What a bundle of a plan's steps comes to, without what does not matter to a program: the bits of
 * constants, what lookups have, the numbers of columns and registers, and what other steps need.
 */
struct clr_scan_key {
    int step_count;
    struct clr_step_kind steps[CLR_MOST_BUNDLE];
    int bases[CLR_MOST_BUNDLE]; /* of a sum of distances: the argument whose they are; or -1 */
    bool whole;                 /* a single step has it */
    struct clr_row_key row;     /* see clr_scan_key() */
};

/* Makes the key of a bundle: those with the same words have the same text. Each scan needs it. */
void clr_scan_key(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                  const struct clr_scan_bundle *bundle);

/* Makes the text of a key, which a program takes that is to be built, and kernels/scan/scan.cl
   follows: what all steps share, and then each step's. */
void clr_scan_text(struct clr_row_text *text, const struct clr_scan_key *key);

/* ---- Groups. */

/* Returns how many of a record's words that are added are no counts of rows: in a work-group those
   take 64 bits, and counts 32. */
int clr_group_wide_words(const struct clr_group_plan *plan);

/* Makes the key of a plan that fits. kinds: those of the scan's columns on the device. queued:
   whether rows that pass wait in a queue, see kernels/scan/filter.cl. */
void clr_group_key(struct clr_row_key *key, const struct clr_group_plan *plan, const uint8_t *kinds,
                   bool queued);

/* Makes the text of a key, in one part: kernels/groups/grouping.cl follows it. */
void clr_group_text(struct clr_row_text *text, const struct clr_row_key *key);

#endif
