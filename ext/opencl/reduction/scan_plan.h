/* Which reductions a scan's tallies take, and which of them share a pass over the columns. Needs no
   OpenCL. */
#ifndef CLR_OPENCL_SCAN_PLAN_H
#define CLR_OPENCL_SCAN_PLAN_H

#include "numeric/exact/operation.h"
#include "numeric/scan/scan.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- The kinds of reductions that kernels are built for: an operation on an element type. */

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

/* ---- Steps. */

/* BATCH of kernels/scan/filter.cl, at most. */
enum { CLR_MOST_BATCH = 8 };

/* What a device takes of a scan, which may have more on the host. Two operations of two element
   types for each tally are steps. */
enum {
    CLR_MOST_SCAN_INSTRUCTIONS = 256,
    CLR_MOST_SCAN_TALLIES = 32,
    CLR_MOST_SCAN_STEPS = 4 * CLR_MOST_SCAN_TALLIES
};

/* Whether a scan is no larger than that: only then it may be planned. */
static inline bool clr_scan_plan_fits(const struct clr_scan *scan)
{
    return scan->instruction_count <= CLR_MOST_SCAN_INSTRUCTIONS &&
           scan->constant_count <= CLR_MOST_SCAN_INSTRUCTIONS &&
           scan->tally_count <= CLR_MOST_SCAN_TALLIES;
}

/* A reduction of one element type. A tally's first step counts its rows as well. */
struct clr_scan_step {
    int tally;
    enum clr_operation operation;
    enum clr_element element;
    int column;    /* reduced as it lies there, all rows; or -1: by a program for the expression */
    bool whole;    /* by a program for all rows of a narrow column */
    bool takes;    /* false: rows are counted and nothing else */
    bool if_reals; /* to be run only if the tally counted rows that are not INTEGER */
};

/* What is to be done for a scan, which is made once for each. */
struct clr_scan_plan {
    const struct clr_scan *scan;     /* the caller's */
    uint8_t kinds[CLR_MOST_COLUMNS]; /* of its columns on a device */
    bool queued; /* rows that pass the filter wait in a queue: kernels/scan/filter.cl */
    int count;
    struct clr_scan_step steps[CLR_MOST_SCAN_STEPS];
};

/*
 * Plans the steps that compute the scan's tallies; clears the tallies' states, and sets the counts
 * that are known without a step. kinds: those of the columns, as of clr_column_device_kind().
 */
void clr_scan_plan(const struct clr_scan *scan, const uint8_t *kinds, struct clr_scan_plan *plan);

/* ---- Bundles. */

/* More would take more registers than a GPU has for the work-items that hide its memory's latency.
 */
enum { CLR_MOST_BUNDLE = 6 };

/* The reduction of a step of a scan. */
struct clr_step_kind {
    enum clr_operation operation;
    enum clr_element element;
};

/* Steps that are reduced in one pass, by their numbers; each of several shares a column. */
struct clr_scan_bundle {
    int count, steps[CLR_MOST_BUNDLE];
};

/*
 * Stores bundles that hold each of the plan's steps once, and returns how many. Steps to be run
 * only if needed, and those that take a narrow column whole, are bundles of their own.
 */
int clr_scan_bundles(const struct clr_scan_plan *plan,
                     struct clr_scan_bundle bundles[CLR_MOST_SCAN_STEPS]);

#endif
