/* Programs: the kernels of one operation and element type, built for one device. */
#ifndef CLR_OPENCL_PROGRAM_H
#define CLR_OPENCL_PROGRAM_H

#include "base/status.h"
#include "numeric/chunk.h"
#include "opencl/api.h"
#include "opencl/catalog.h"

#include <stdbool.h>
#include <stddef.h>

/* The largest partial result of any operation, in bytes; the most work-groups a compute unit. */
enum { CLR_PARTIAL_SIZE = 24, CLR_MOST_GROUPS_PER_UNIT = 16 };

struct clr_program {
    bool built;
    enum clr_operation operation;
    enum clr_element element;
    bool wide;             /* the kernels write to a long accumulator */
    bool counts;           /* the first kernel counts rows: kernels/scan.cl */
    size_t partial_size;   /* bytes of a partial result */
    size_t group_size;     /* work-items in a work-group, for both kernels */
    size_t most_groups;    /* work-groups that are worth having on this device */
    cl_kernel first, next; /* kernels/reduce.cl, kernels/scan.cl */
};

/*
 * Builds the kernels of an operation for a device, and chooses the work-group's size from the
 * device's and the kernels' limits. On failure returns CLR_DEVICE or CLR_NOMEM; *log is then the
 * compiler's whole output, if there is any, and the caller's to free with clr_memory_free().
 */
enum clr_code clr_program_build(struct clr_program *program, cl_context context,
                                const struct clr_device_info *device, enum clr_operation operation,
                                enum clr_element element, char **log, struct clr_status *status);

/*
 * The same with a first kernel that goes through rows and reduces what an expression gives:
 * kernels/scan.cl, before which `rows` is put, the text that clr_scan_text() makes.
 */
enum clr_code clr_program_build_scan(struct clr_program *program, cl_context context,
                                     const struct clr_device_info *device,
                                     enum clr_operation operation, enum clr_element element,
                                     const char *rows, char **log, struct clr_status *status);

/* Releases the kernels. */
void clr_program_release(struct clr_program *program);

#endif
