/* Scans over columns in a device's memory. */
#ifndef CLR_OPENCL_SCANNER_H
#define CLR_OPENCL_SCANNER_H

#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"
#include "opencl/memory/trial.h"
#include "opencl/reduction/scan_plan.h"

#include <stdbool.h>

/* A device's programs and buffers for scans; kept from one to the next. */
struct clr_scanner;

/*
 * So many scans may be under way at once. They run one after the other, but the device has the next
 * one's kernels while the host still takes the last one's results and begins another: what a short
 * scan takes is mostly that.
 */
enum { CLR_SCAN_SLOTS = 4 };

/* A scan under way. */
struct clr_scan_slot;

/*
 * Begins to compute the tallies of a plan's scan from the device's copies of its columns, which are
 * not looked at themselves. The programs of the operations and element types of its steps are
 * built, and fewer than CLR_SCAN_SLOTS scans are under way. *slot: the scan, for which
 * clr_scanner_end() is due; or NULL with *outcome NOT_NOW, if programs of its own are yet to be
 * built, or can't be. *requested: whether there is something to build. Returns CLR_OK; or CLR_NOMEM
 * or CLR_DEVICE, with *slot NULL.
 */
enum clr_code clr_scanner_begin(struct clr_device *device, const struct clr_scan_plan *plan,
                                struct clr_resident_column *const *columns,
                                struct clr_scan_slot **slot, enum clr_scan_outcome *outcome,
                                bool *requested, struct clr_device_work *work,
                                struct clr_status *status);

/*
 * Ends a scan that was begun with that plan and those columns, the oldest one under way first.
 * *outcome: DONE; UNSURE; NOT_NOW if the device cannot tell. Returns CLR_OK, CLR_NOMEM, or
 * CLR_DEVICE.
 */
enum clr_code clr_scanner_end(struct clr_device *device, struct clr_scan_slot *slot,
                              const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns,
                              enum clr_scan_outcome *outcome, struct clr_device_work *work,
                              struct clr_status *status);

/* ---- The examination of a scan's program: it goes through small columns, and what it finds is
   compared with what the host finds. */

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
