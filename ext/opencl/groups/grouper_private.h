/* What the units share that group rows on a device: ext/opencl/groups alone. */
#ifndef CLR_OPENCL_GROUPER_PRIVATE_H
#define CLR_OPENCL_GROUPER_PRIVATE_H

#include "opencl/core/calls.h"
#include "opencl/core/device.h"
#include "opencl/groups/group_text.h"
#include "opencl/groups/grouper.h"
#include "opencl/scan/row_arguments.h"
#include "opencl/scan/row_programs.h"

/*
 * The ways of a grouping: records are in local memory; slices of them are, whose rows
 * kernels/groups/group_tiles.cl has found before; or they are in global memory. And that kernel.
 */
enum clr_group_kernel {
    CLR_GROUP_LOCALLY,
    CLR_GROUP_SORTED,
    CLR_GROUP_GLOBALLY,
    CLR_GROUP_TILES,
    CLR_GROUP_KERNELS
};

/* No more than this part of a device's memory is taken for records, nor for lists of rows. */
enum { CLR_GROUP_MEMORY_PART = 8 };

/* The bytes of local memory that a work-item takes in kernels/groups/group_records.cl. */
enum { CLR_GROUP_STAGED_BYTES = 4 * sizeof(cl_ulong) + sizeof(cl_uint) };

/* A grouping is so many launches at most: two for each range of rows, in two rounds. */
enum { CLR_GROUP_LAUNCHES = 4 * CLR_MOST_ROW_RANGES };

struct clr_group_trial; /* see group_test.h */

struct clr_group_program {
    struct clr_row_program row;
    struct clr_group_trial *trial; /* until it is built */
    cl_kernel kernels[CLR_GROUP_KERNELS];
    size_t group_size; /* work-items in a work-group */
};

/* A buffer that grows. */
struct clr_group_buffer {
    cl_mem buffer;
    size_t size; /* bytes */
};

struct clr_grouper {
    struct clr_device_part attachment;
    cl_command_queue queue;
    struct clr_row_programs programs;
    struct clr_lookup_cache lookup_cache;
    struct clr_row_key key;
    struct clr_row_text text;
    size_t local_memory; /* bytes that a work-group may have */
    bool sorts;          /* they are enough to sort rows in */
    cl_mem parameters, flags, spills;
    struct clr_group_buffer records, lists, starts; /* the last two: of sorted rows */
    struct clr_pinned pinned;                       /* what is sent, and what comes back */
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

/* Makes a buffer have room for so many bytes; it loses what it has. Returns CLR_OK, CLR_NOMEM or
   CLR_DEVICE. */
enum clr_code clr_group_buffer_make(const struct clr_group_job *job,
                                    struct clr_group_buffer *buffer, size_t size,
                                    struct clr_status *status);

/* Whether so many bytes of local memory are enough to sort rows by slices. */
bool clr_group_can_sort(size_t local_memory);

/* Returns the way for a plan, by how many of its places local memory has room for. The device has a
   grouper. */
enum clr_group_kernel clr_group_choose_kernel(const struct clr_device *device,
                                              const struct clr_group_plan *plan);

/* Sends the parameters, clears flags and records, and launches the kernels of a job, whose key the
   grouper has. lookups: where the scan's are. The events, NULL before, are the caller's to release.
   Returns CLR_OK, CLR_NOMEM or CLR_DEVICE. */
enum clr_code clr_group_launch(const struct clr_group_job *job,
                               const struct clr_kept_lookup *const *lookups,
                               cl_event events[CLR_GROUP_LAUNCHES], struct clr_status *status);

/* Returns the device's, or NULL while it has none. */
struct clr_grouper *clr_grouper_of(const struct clr_device *device);

/* Finds the program for the key that the grouper has, or requests it; *found is NULL if its text
   would be too long. Returns CLR_OK or CLR_NOMEM. */
enum clr_code clr_group_program_find(struct clr_grouper *grouper, const struct clr_group_plan *plan,
                                     const uint8_t *kinds, struct clr_group_program **found,
                                     struct clr_status *status);

/* Makes a program's kernels of the text that clr_group_text() has made, for how the device computes
   REALs. *log as in clr_program_build(). Returns CLR_OK, or CLR_DEVICE. */
enum clr_code clr_group_program_compile(struct clr_group_program *program, const char *text,
                                        cl_context context, const struct clr_device_info *info,
                                        char **log, struct clr_status *status);

/* Gives back what a program for groups has, other than its memory. */
void clr_group_program_release(struct clr_row_program *program);

/* Runs a kernel of a program whose key the grouper has; otherwise as clr_grouper_run(). */
enum clr_code clr_grouper_try(struct clr_device *device, const struct clr_group_program *program,
                              enum clr_group_kernel kernel, const struct clr_group_plan *plan,
                              struct clr_resident_column *const *columns,
                              struct clr_group_result *result, enum clr_scan_outcome *outcome,
                              struct clr_device_work *work, struct clr_status *status);

#endif
