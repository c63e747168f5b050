/* From kernels' text to kernels: what all programs have in common. For ext/opencl alone. */
#ifndef CLR_OPENCL_BUILD_H
#define CLR_OPENCL_BUILD_H

#include "opencl/core/api.h"
#include "opencl/core/catalog.h"

#include <stddef.h>

/* A program to be built. */
struct clr_build {
    cl_uint source_count;
    const char **sources; /* in their order */
    const char *options;  /* the compiler's */
    int kernel_count;
    const char *const *kernel_names;
};

/*
 * Compiles the sources, and stores the kernels, which are the caller's to release: those that
 * there are, if it fails, and NULL. Returns CLR_OK, or
 * CLR_NOMEM or CLR_DEVICE; *log is then the compiler's whole output, if there is any, and the
 * caller's to free with clr_memory_free().
 */
enum clr_code clr_build_kernels(const struct clr_build *build, cl_context context,
                                const struct clr_device_info *device, cl_kernel *kernels,
                                char **log, struct clr_status *status);

/* What limits the work-items of a group: how many are wanted, and the local memory that the group
   takes in bytes, for each of them and besides. */
struct clr_group_limit {
    size_t most;
    size_t local_per_item, local_of_group;
};

/*
 * Chooses the work-items of a group that all the kernels can have on the device: as many as are
 * wanted, or else the largest multiple of what it prefers; 1 on a CPU device, whose compiler makes
 * loops of larger groups, and takes ten times as long for it. Returns OpenCL's
 * error, which is CL_INVALID_WORK_GROUP_SIZE where the local memory is not enough for one.
 */
cl_int clr_choose_group_size(const struct clr_device_info *device, const cl_kernel *kernels,
                             int count, const struct clr_group_limit *limit, size_t *size);

#endif
