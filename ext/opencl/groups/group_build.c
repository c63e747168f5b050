#include "opencl/groups/group_build.h"

#include "opencl/core/build.h"
#include "opencl/core/calls.h"
#include "opencl/core/kernels.h"

#include <stdio.h>

/* Work-items that share a table: as many as hide the memory's latency where a compute unit has
   local memory for a few tables alone. LOADS: rows whose values each of them has on their way, and
   MOST_LOADS of sorted rows, which wait for their numbers too. TEAM: those that go through a tile
   of sorted rows together. */
enum { GROUP_SIZE = 512, LOADS = 4, MOST_LOADS = 8, TEAM = 128 };

static const char *const kernel_names[CLR_GROUP_KERNELS] = {
    [CLR_GROUP_LOCALLY] = "group_rows_locally",
    [CLR_GROUP_SORTED] = "group_rows_sorted",
    [CLR_GROUP_GLOBALLY] = "group_rows_globally",
    [CLR_GROUP_TILES] = "group_tiles"};

enum clr_code clr_group_kernels_build(const char *text, cl_context context,
                                      const struct clr_device_info *info,
                                      cl_kernel kernels[CLR_GROUP_KERNELS], size_t *group_size,
                                      char **log, struct clr_status *status)
{
    const char *sources[] = {clr_kernel_reals,
                             clr_kernel_loads,
                             clr_kernel_values,
                             clr_kernel_values_logic,
                             text,
                             clr_kernel_atomics,
                             clr_kernel_digits,
                             clr_kernel_grouping,
                             clr_kernel_group_tiles,
                             clr_kernel_group_rows,
                             clr_kernel_group_records};
    const struct clr_group_limit limit = {.most = GROUP_SIZE,
                                          .local_per_item = CLR_GROUP_STAGED_BYTES};
    /* PoCL 3.1 aborts on a loop of loads that is unrolled before a barrier. */
    const bool cpu = info->type == CLR_DEVICE_CPU;
    char options[96];
    const struct clr_build build = {sizeof sources / sizeof *sources, sources, options,
                                    CLR_GROUP_KERNELS, kernel_names};
    cl_int error;

    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DDOUBLES=%d -DHALVES=%d -DLOADS=%d -DMOST_LOADS=%d -DTEAM=%d",
             clr_device_sums_doubles(info), !info->long_maxima, cpu ? 1 : LOADS,
             cpu ? 1 : MOST_LOADS, TEAM);
    if (clr_build_kernels(&build, context, info, kernels, log, status) != CLR_OK)
        return status->code;
    error = clr_choose_group_size(info, kernels, CLR_GROUP_KERNELS, &limit, group_size);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_failed(status, "clGetKernelWorkGroupInfo", error);
}
