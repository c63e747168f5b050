/* A sample of the rows that pass a scan's filter, of which its groups are planned. */
#ifndef CLR_NUMERIC_GROUP_SAMPLE_H
#define CLR_NUMERIC_GROUP_SAMPLE_H

#include "numeric/scan/block.h"

/* The values of an instruction. */
struct clr_sampled {
    unsigned types;
    int64_t least, greatest;   /* of INTEGERs, if there are any */
    int real_top, real_bottom; /* REALs other than zero are below 2^top and multiples of 2^bottom;
                                  top < bottom: there are none */
};

/* What is found out: instruction by instruction. */
struct clr_sample {
    uint64_t rows; /* about how many of the scan's rows pass */
    struct clr_sampled values[CLR_MOST_INSTRUCTIONS];
};

/* Looks at the instructions for which wanted is true. Returns CLR_SCAN_DONE, or CLR_SCAN_FAILED
   without memory. */
enum clr_scan_outcome clr_sample_take(const struct clr_scan *scan, const bool *wanted,
                                      struct clr_sample *sample);

#endif
