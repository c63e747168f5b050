/* Which steps of a scan share a pass over the columns. Needs no OpenCL. */
#ifndef CLR_OPENCL_SCAN_BUNDLES_H
#define CLR_OPENCL_SCAN_BUNDLES_H

#include "opencl/reduction/scan_plan.h"

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
