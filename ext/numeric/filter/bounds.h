/* Comparisons of a column with a constant, as the values for which they are true. */
#ifndef CLR_NUMERIC_BOUNDS_H
#define CLR_NUMERIC_BOUNDS_H

#include "numeric/scan/scan.h"

#include <stdbool.h>
#include <stdint.h>

/* The INTEGERs and the REALs from the least to the greatest, which are themselves among them; none
   where the least is more. 0.0 and -0.0 are equal here. */
struct clr_bounds {
    int64_t least, greatest;
    double least_real, greatest_real;
};

/*
 * Finds out whether an instruction compares a column of values with a number by =, IS, <, <=, > or
 * >=, and if so stores the instruction that is the column, and the numbers for which that is true,
 * exactly. For what is no number it is not true.
 */
bool clr_bounds_find(const struct clr_scan *scan, int number, int *column,
                     struct clr_bounds *bounds);

#endif
