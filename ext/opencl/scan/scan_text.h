/* The part of a scan's program that depends on its expressions. Needs no OpenCL. */
#ifndef CLR_OPENCL_SCAN_TEXT_H
#define CLR_OPENCL_SCAN_TEXT_H

#include "numeric/scan/scan.h"
#include "opencl/reduction/scan_bundles.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLR_SCAN_TEXT_SIZE = 100000 };

/* What the kernel's first arguments are: for each column its values and then its tags, as far as
   its kind has them; then the bits of each constant. */
struct clr_scan_arguments {
    int column_count, columns[CLR_MOST_COLUMNS];
    int constant_count, constants[CLR_MOST_INSTRUCTIONS];
};

/* The text that kernels/scan.cl follows. */
struct clr_scan_text {
    bool complete; /* false: there was not enough room for the text */
    /* What all steps share, and then each step's, each ended by a NUL, which length counts. */
    size_t length;
    char text[CLR_SCAN_TEXT_SIZE];
    struct clr_scan_arguments arguments;
};

/*
 * Makes the text for a bundle of a scan's steps; the columns are of those kinds. It does not depend
 * on constants' bits, nor on what other steps need.
 */
void clr_scan_text(struct clr_scan_text *text, const struct clr_scan *scan, const uint8_t *kinds,
                   const struct clr_scan_step *steps, const struct clr_scan_bundle *bundle);

/* The arguments alone, which each run needs, also where the text has long been compiled. */
void clr_scan_find_arguments(struct clr_scan_arguments *arguments, const struct clr_scan *scan,
                             const uint8_t *kinds, const struct clr_scan_step *steps,
                             const struct clr_scan_bundle *bundle);

#endif
