/* The part of a scan's program that depends on its expressions. Needs no OpenCL. */
#ifndef CLR_OPENCL_SCAN_TEXT_H
#define CLR_OPENCL_SCAN_TEXT_H

#include "numeric/scan/scan.h"
#include "opencl/reduction/scan_bundles.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLR_SCAN_TEXT_SIZE = 100000 };

/* What the kernel's first arguments are: for each column its values, or codes, and then its tags,
   as far as its kind has them; likewise for each lookup; then the bits of each constant. */
struct clr_scan_arguments {
    int column_count, columns[CLR_MOST_COLUMNS];
    uint8_t kinds[CLR_MOST_COLUMNS]; /* of those columns */
    int lookup_count, lookups[CLR_MOST_LOOKUPS];
    uint8_t lookup_kinds[CLR_MOST_LOOKUPS];
    bool lookups_short[CLR_MOST_LOOKUPS]; /* a value is a byte */
    int constant_count, constants[CLR_MOST_SCAN_INSTRUCTIONS];
};

/*
 * What a bundle of a plan's steps comes to, without what does not matter to a program: the bits of
 * constants, what lookups have, the numbers of columns and registers, and what other steps need.
 */
struct clr_scan_key {
    int step_count;
    struct clr_step_kind steps[CLR_MOST_BUNDLE];
    struct clr_scan_arguments arguments; /* no part of the key */
    size_t length;
    int16_t words[CLR_MOST_BUNDLE * (8 + 4 * CLR_MOST_SCAN_INSTRUCTIONS)]; /* see clr_scan_key() */
};

/* The text that kernels/scan.cl follows. */
struct clr_scan_text {
    bool complete; /* false: there was not enough room for the text */
    /* What all steps share, and then each step's, each ended by a NUL, which length counts. */
    size_t length;
    char text[CLR_SCAN_TEXT_SIZE];
};

/* Makes the key of a bundle: those with the same words have the same text. Each scan needs it. */
void clr_scan_key(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                  const struct clr_scan_bundle *bundle);

/* Makes the text of a key, which a program takes that is to be built. */
void clr_scan_text(struct clr_scan_text *text, const struct clr_scan_key *key);

#endif
