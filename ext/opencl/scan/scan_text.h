/* The part of a scan's program that depends on its expressions. Needs no OpenCL. */
#ifndef CLR_OPENCL_SCAN_TEXT_H
#define CLR_OPENCL_SCAN_TEXT_H

#include "opencl/scan/row_text.h"

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

#endif
