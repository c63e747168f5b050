/*
 * The examination of a scan's program before it is trusted: it goes through small columns, and what
 * it finds is compared with what the host finds. For ext/opencl alone.
 */
#ifndef CLR_OPENCL_SCAN_TEST_H
#define CLR_OPENCL_SCAN_TEST_H

#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"
#include "opencl/memory/trial.h"
#include "opencl/reduction/scan_plan.h"

#include <stdbool.h>

/* What a program computes: the scan and the bundle that it is made for, as it is kept until the
   program is built. */
struct clr_scan_trial {
    struct clr_trial_scan made;
    struct clr_tally tallies[CLR_MOST_BUNDLE]; /* those of the steps, each once */
    struct clr_scan_plan plan;                 /* of the bundle's steps alone */
};

/* Returns a copy of what the bundle of the plan's steps needs, or NULL without memory. Free with
   clr_memory_free(). */
struct clr_scan_trial *clr_scan_trial_new(const struct clr_scan_plan *plan,
                                          const struct clr_scan_bundle *bundle);

/* How a trial has its program run, on the device. */
struct clr_scan_run {
    void *context;
    /* Stores what the plan's steps, all in one bundle, find in the states of its scan's tallies,
       and whether a row is one that SQLite alone can tell, or that the device cannot. */
    enum clr_code (*run)(void *context, const struct clr_scan_plan *plan,
                         struct clr_resident_column *const *columns, bool *unsure, bool *inexact,
                         struct clr_status *status);
};

/*
 * Has the program go through hard values, through common ones, which filters let pass, through what
 * is no number, and through errors that lookups have. Where the device says that it cannot tell
 * there is nothing to compare. Returns CLR_OK; CLR_NOMEM; or CLR_DEVICE with a message: without an
 * error of OpenCL's in the status a result differs.
 */
enum clr_code clr_scan_test(struct clr_device *device, struct clr_scan_trial *trial,
                            const struct clr_scan_run *run, struct clr_status *status);

#endif
