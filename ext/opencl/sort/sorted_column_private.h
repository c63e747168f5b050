/* What a sorted column is made of, for ext/opencl alone. */
#ifndef CLR_OPENCL_SORTED_COLUMN_PRIVATE_H
#define CLR_OPENCL_SORTED_COLUMN_PRIVATE_H

#include "opencl/core/launch.h"
#include "opencl/sort/sorted_column.h"
#include "opencl/sort/sorter_private.h"

#include <stddef.h>

enum clr_sort_phase {
    CLR_PHASE_UNMADE,
    CLR_PHASE_BEGIN,
    CLR_PHASE_COUNT,
    CLR_PHASE_SCAN,
    CLR_PHASE_SCATTER,
    CLR_PHASE_RUNS,
    CLR_PHASE_COMPLETE
};

/* The launches of a step: the events of the first, and of the last if they are two or more. */
struct clr_sort_launches {
    cl_event first, last;
};

struct clr_sorted_column {
    uint8_t kind;
    size_t rows;
    enum clr_sort_phase phase;
    size_t span;          /* keys of a group */
    size_t groups;        /* of a pass */
    size_t launch_groups; /* of a launch at most */
    size_t group;         /* the next one to be launched */
    size_t step_keys;     /* for which a step launches: what takes some milliseconds */
    size_t left;          /* for which this one may still launch */
    /* Of the step before, and of this one: not waited for yet. */
    struct clr_sort_launches before, now;
    cl_mem keys[2];
    int current; /* which of the two the next kernel reads */
    cl_mem counts, totals, results;
    int64_t least;             /* of the keys */
    cl_uint shift, last_shift; /* of the digit that is sorted by; of the last one */
    struct clr_runs runs;
    struct clr_device_work work;
};

/*
 * Has one of the sorter's kernels run in `groups` groups, after all that were launched before:
 * nobody waits for it yet. keys: how many it works on, by which this step may launch less. is_read:
 * the host reads next what it stores, so that it ends the times of this step. Returns as
 * clr_launch().
 */
enum clr_code clr_sort_launch(struct clr_device *device, struct clr_sorted_column *sorted,
                              enum clr_sort_kernel number, const struct clr_argument *arguments,
                              cl_uint count, size_t groups, size_t keys, bool is_read,
                              struct clr_status *status);

/* Waits for a step's launches, if there are any, adds what they took to what sorting has cost, fits
   step_keys to it, and forgets them. Returns CLR_OK, or the failure of this or before. */
enum clr_code clr_sort_finish(struct clr_device *device, struct clr_sorted_column *sorted,
                              struct clr_sort_launches *launches, struct clr_status *status);

/*
 * Ends a step: sends its launches to the device and waits for those of the step before, so that the
 * device has something to do meanwhile. If status has a failure already, or this fails, all that
 * was launched is waited for as clr_queue_drain() does, and forgotten. Returns status's code.
 */
enum clr_code clr_sort_end_step(struct clr_device *device, struct clr_sorted_column *sorted,
                                struct clr_status *status);

#endif
