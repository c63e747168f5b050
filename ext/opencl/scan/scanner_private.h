/* What scans and the building of their programs share: ext/opencl/scan alone. */
#ifndef CLR_OPENCL_SCANNER_PRIVATE_H
#define CLR_OPENCL_SCANNER_PRIVATE_H

#include "opencl/core/device_private.h"
#include "opencl/reduction/passes.h"
#include "opencl/scan/lookup_cache.h"
#include "opencl/scan/row_programs.h"
#include "opencl/scan/scan_test.h"
#include "opencl/scan/scan_text.h"
#include "opencl/scan/scanner.h"

#include <stdbool.h>

/*
 * Expressions are evaluated within the reduction, rather than gathered in memory first: that moves
 * fewer bytes than writing and reading every argument would, it needs no memory, however many the
 * rows, and the host has nothing to wait for in between. Steps that share a column share a pass.
 */
struct clr_scan_launch {
    struct clr_scan_bundle bundle;
    const struct clr_program *program;  /* of a scan, or of one step's column as it lies there */
    struct clr_row_arguments arguments; /* of a scan */
};

/* The program of a bundle. */
struct clr_scan_program {
    struct clr_row_program row;
    int steps;
    struct clr_step_kind kinds[CLR_MOST_BUNDLE];
    struct clr_scan_trial *trial; /* until it is built */
    struct clr_program program;
    char text[];
};

/* A scan under way, and what it needs for itself: the launches and results of one. */
struct clr_scan_slot {
    bool is_taken;
    struct clr_passes passes; /* opened when they are first needed */
    uint64_t scan;            /* by its number, which its programs have as well */
    struct clr_scan_launch launches[CLR_MOST_SCAN_STEPS];
    bool started[CLR_MOST_SCAN_STEPS]; /* of the launches, those of the batch under way */
    int launch_count;
    bool unsure, inexact;
};

struct clr_scanner {
    struct clr_attachment attachment;
    cl_command_queue queue; /* of all slots: a lookup that one has sent is there for the next */
    cl_ulong ended;         /* the last batch there, in the device's nanoseconds */
    struct clr_row_programs programs;
    struct clr_lookup_cache lookup_cache;
    struct clr_scan_slot slots[CLR_SCAN_SLOTS];
    /* Of the scan that is being begun. */
    struct clr_scan_key key;
    struct clr_row_text text;
    struct clr_scan_bundle bundles[CLR_MOST_SCAN_STEPS];
    /* An error of OpenCL's in a program's test: the queue is in an unknown state, and is left. */
    struct clr_status status;
};

/* A planned scan with its columns, as the functions of scanners hand it on. */
struct clr_scan_request {
    struct clr_device *device;
    struct clr_scanner *scanner;
    struct clr_scan_slot *slot;
    const struct clr_scan_plan *plan;
    struct clr_resident_column *const *columns;
};

/* Returns the device's, or NULL while it has none. */
struct clr_scanner *clr_scanner_of(const struct clr_device *device);

/*
 * Requests the program for a bundle of the plan's steps, whose key and text the scanner has, and
 * which no program has. Returns it, or NULL without memory.
 */
struct clr_scan_program *clr_scanner_request(struct clr_scanner *scanner,
                                             const struct clr_scan_plan *plan,
                                             const struct clr_scan_bundle *bundle);

/*
 * Starts those launches of the slot that are due, and the transfer of their results, after it has
 * brought the lookups: if_reals, those that the results of the others have shown to be needed.
 * Increases work by the bytes that were sent. Failure: CLR_NOMEM or CLR_DEVICE.
 */
enum clr_code clr_scan_launches_start(const struct clr_scan_request *request, bool if_reals,
                                      struct clr_device_work *work, struct clr_status *status);

/* Waits for the results of what was started, if anything was, and adds them to the states of the
   tallies. Increases work. Failure: CLR_NOMEM or CLR_DEVICE. */
enum clr_code clr_scan_launches_finish(const struct clr_scan_request *request,
                                       struct clr_device_work *work, struct clr_status *status);

/* Gives back what a scan's program has, other than its memory. */
void clr_scan_program_release(struct clr_row_program *program);

/* Runs a program for all of a plan's steps: as the function of struct clr_scan_run. */
enum clr_code clr_scanner_try(struct clr_device *device, const struct clr_program *program,
                              const struct clr_scan_plan *plan,
                              struct clr_resident_column *const *columns, bool *unsure,
                              bool *inexact, struct clr_status *status);

#endif
