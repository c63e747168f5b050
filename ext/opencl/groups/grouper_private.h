/* What the units share that group rows on a device: ext/opencl/groups alone. */
#ifndef CLR_OPENCL_GROUPER_PRIVATE_H
#define CLR_OPENCL_GROUPER_PRIVATE_H

#include "opencl/core/buffers.h"
#include "opencl/core/device_private.h"
#include "opencl/groups/group_text.h"
#include "opencl/groups/grouper.h"
#include "opencl/scan/lookup_cache.h"
#include "opencl/scan/row_programs.h"

/* One adds to records in local memory, the other in global memory: kernels/group_rows.cl. */
enum clr_group_kernel { CLR_GROUP_LOCALLY, CLR_GROUP_GLOBALLY, CLR_GROUP_KERNELS };

struct clr_group_trial; /* see group_test.h */

struct clr_group_program {
    struct clr_row_program row;
    struct clr_group_trial *trial; /* until it is built */
    cl_kernel kernels[CLR_GROUP_KERNELS];
    size_t group_size; /* work-items in a work-group */
};

struct clr_grouper {
    struct clr_attachment attachment;
    cl_command_queue queue;
    struct clr_row_programs programs;
    struct clr_lookup_cache lookup_cache;
    struct clr_row_key key;
    struct clr_row_text text;
    size_t local_memory; /* bytes that a work-group may have */
    cl_mem parameters, flags, spills, records;
    size_t records_size;      /* bytes */
    struct clr_pinned pinned; /* what is sent, and what comes back */
    /* An error of OpenCL's in a program's test: the queue is in an unknown state, and is left. */
    struct clr_status status;
};

/* The pinned memory: 4 numbers for each key and tally; what the kernel has found out; and records,
   if they are no more. Values outside of their windows: there is room for so many. */
enum {
    CLR_GROUP_PARAMETERS = 4 * (CLR_MOST_KEYS + CLR_MOST_SCAN_TALLIES),
    CLR_GROUP_FLAGS = 4,
    CLR_GROUP_FEW_BYTES = 1 << 18,
    CLR_GROUP_SPILL_ROOM = 1 << 16
};

struct clr_group_pinned {
    cl_long parameters[CLR_GROUP_PARAMETERS];
    cl_uint flags[CLR_GROUP_FLAGS];
    cl_long records[CLR_GROUP_FEW_BYTES / sizeof(cl_long)];
};

/* A plan that is to be run, as the functions here hand it on. */
struct clr_group_job {
    struct clr_device *device;
    struct clr_grouper *grouper;
    const struct clr_group_program *program;
    enum clr_group_kernel kernel;
    const struct clr_group_plan *plan;
    struct clr_resident_column *const *columns;
    size_t words, size; /* of a record; bytes of all */
};

/* Returns the kernel for a plan: of so many places that local memory has the records of. */
enum clr_group_kernel clr_group_choose_kernel(const struct clr_grouper *grouper,
                                              const struct clr_group_plan *plan);

/* Sends the parameters, clears flags and records, and launches the kernel of a job, whose key the
   grouper has. lookups: where the scan's are. *event is the caller's to release. Returns CLR_OK,
   CLR_NOMEM or CLR_DEVICE. */
enum clr_code clr_group_launch(const struct clr_group_job *job,
                               const struct clr_kept_lookup *const *lookups, cl_event *event,
                               struct clr_status *status);

/* Returns the device's, or NULL while it has none. */
struct clr_grouper *clr_grouper_of(const struct clr_device *device);

/* Finds the program for the key that the grouper has, or requests it; *found is NULL if its text
   would be too long. Returns CLR_OK or CLR_NOMEM. */
enum clr_code clr_group_program_find(struct clr_grouper *grouper, const struct clr_group_plan *plan,
                                     const uint8_t *kinds, struct clr_group_program **found,
                                     struct clr_status *status);

/* Gives back what a program for groups has, other than its memory. */
void clr_group_program_release(struct clr_row_program *program);

/* Runs a kernel of a program whose key the grouper has; otherwise as clr_grouper_run(). */
enum clr_code clr_grouper_try(struct clr_device *device, const struct clr_group_program *program,
                              enum clr_group_kernel kernel, const struct clr_group_plan *plan,
                              struct clr_resident_column *const *columns,
                              struct clr_group_result *result, enum clr_scan_outcome *outcome,
                              struct clr_device_work *work, struct clr_status *status);

#endif
