/* Programs: the kernel of one operation and element type, or those of groups, built for one
   device. */
#ifndef CLR_OPENCL_PROGRAM_H
#define CLR_OPENCL_PROGRAM_H

#include "base/status.h"
#include "numeric/exact/operation.h"
#include "opencl/core/api.h"
#include "opencl/core/catalog.h"
#include "opencl/reduction/scan_plan.h"

#include <stdbool.h>
#include <stddef.h>

/* The largest partial result of any operation, in bytes; the most work-groups a compute unit. */
enum { CLR_PARTIAL_SIZE = 32, CLR_MOST_GROUPS_PER_UNIT = 8 };

struct clr_program {
    bool built;
    int steps;           /* reductions in a pass: of a scan (kernels/scan/scan.cl), or else 1 */
    bool scans;          /* the kernel goes through rows: kernels/scan/scan.cl */
    size_t partial_size; /* bytes of a partial result */
    size_t group_size;   /* work-items in a work-group */
    size_t most_groups;  /* work-groups that are worth having on this device */
    cl_kernel kernel;    /* kernels/reduction/reduce.cl, or kernels/scan/scan.cl */
};

/*
 * Builds the kernel of an operation for a device, and chooses the work-group's size from the
 * device's and the kernel's limits. text: NULL; or of a scan, whose kernel goes through rows and
 * reduces what expressions give, that of clr_scan_text() for `count` steps, which are of those
 * kinds, 1 to CLR_MOST_BUNDLE. On failure returns CLR_DEVICE or CLR_NOMEM; *log is then the
 * compiler's whole output, if there is any, and the caller's to free with clr_memory_free().
 */
enum clr_code clr_program_build(struct clr_program *program, cl_context context,
                                const struct clr_device_info *device,
                                const struct clr_step_kind *kinds, int count, const char *text,
                                char **log, struct clr_status *status);

/* Releases the kernel. */
void clr_program_release(struct clr_program *program);

/* ---- Groups. */

/* Where the records of a grouping are: in local memory, or in global memory. */
enum clr_group_kernel { CLR_GROUP_LOCALLY, CLR_GROUP_GLOBALLY, CLR_GROUP_KERNELS };

/* Work-items of a work-group at most, where rows wait in the queue of kernels/scan/filter.cl. */
enum { CLR_QUEUED_GROUP_SIZE = 256 };

/* The bytes of local memory that a work-item takes in kernels/groups/group_records.cl; and those
   that a work-group takes for that queue, also in a scan. */
enum {
    CLR_GROUP_STAGED_BYTES = 4 * sizeof(cl_ulong) + sizeof(cl_uint),
    CLR_QUEUE_BYTES = (CLR_QUEUED_GROUP_SIZE * (CLR_MOST_BATCH + 1) + 1) * sizeof(cl_uint)
};

/* Makes a program's kernels of the text that clr_group_text() has made, of rows that wait in a
   queue or do not, for how the device computes REALs, and stores how many work-items a work-group
   has. *log as in clr_program_build(). Returns CLR_OK, or CLR_DEVICE. */
enum clr_code clr_group_kernels_build(const char *text, bool queued, cl_context context,
                                      const struct clr_device_info *info,
                                      cl_kernel kernels[CLR_GROUP_KERNELS], size_t *group_size,
                                      char **log, struct clr_status *status);

#endif
