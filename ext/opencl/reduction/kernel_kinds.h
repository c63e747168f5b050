/* The kinds of reductions that kernels are built for: an operation on an element type. */
#ifndef CLR_OPENCL_KERNEL_KINDS_H
#define CLR_OPENCL_KERNEL_KINDS_H

#include "numeric/exact/chunk.h"

#include <stdbool.h>

/* What the kernels' macros REAL, KEYS and OPERANDS are: extremes compare the bits of doubles as
   integers. */
struct clr_kernel_kind {
    const char *name; /* KIND, where a program has several: kernels/scan/kinds.cl */
    bool real;        /* sums of doubles, with a long accumulator behind them */
    bool keys;
    int operands;
};

/* Returns what an operation, below CLR_OPERATIONS, is on an element type. */
const struct clr_kernel_kind *clr_kernel_kind_of(enum clr_operation operation,
                                                 enum clr_element element);

#endif
