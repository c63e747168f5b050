/* The building of a program for groups: for ext/opencl alone. */
#ifndef CLR_OPENCL_GROUP_BUILD_H
#define CLR_OPENCL_GROUP_BUILD_H

#include "opencl/core/api.h"
#include "opencl/core/device.h"

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

/* The bytes of local memory that a work-item takes in kernels/groups/group_records.cl. */
enum { CLR_GROUP_STAGED_BYTES = 4 * sizeof(cl_ulong) + sizeof(cl_uint) };

/* Makes a program's kernels of the text that clr_group_text() has made, for how the device computes
   REALs, and stores how many work-items a work-group has. *log as in clr_program_build(). Returns
   CLR_OK, or CLR_DEVICE. */
enum clr_code clr_group_kernels_build(const char *text, cl_context context,
                                      const struct clr_device_info *info,
                                      cl_kernel kernels[CLR_GROUP_KERNELS], size_t *group_size,
                                      char **log, struct clr_status *status);

#endif
