/* Launches of kernels, with their arguments in a list. For ext/opencl alone. */
#ifndef CLR_OPENCL_LAUNCH_H
#define CLR_OPENCL_LAUNCH_H

#include "opencl/core/api.h"

#include <stddef.h>

struct clr_argument {
    size_t size;
    const void *value; /* NULL: local memory of that size */
};

#define CLR_VALUE(variable) ((struct clr_argument){sizeof(variable), &(variable)})
#define CLR_LOCAL(size) ((struct clr_argument){(size), NULL})
/* An array of arguments, and how many they are. */
#define CLR_ARGUMENTS(list) (list), sizeof(list) / sizeof(list)[0]

/* Sets count of a kernel's arguments, from number first on. Returns CLR_OK, or as
   clr_opencl_failed(). */
enum clr_code clr_set_arguments(cl_kernel kernel, cl_uint first,
                                const struct clr_argument *arguments, cl_uint count,
                                struct clr_status *status);

/*
 * Sets a kernel's arguments, count of them, and enqueues `groups` work-groups of group_size
 * work-items; neither is 0. *event is the caller's to release. Returns CLR_OK, CLR_NOMEM where the
 * device has no room for a buffer that is used for the first time, or CLR_DEVICE.
 */
enum clr_code clr_launch(cl_command_queue queue, cl_kernel kernel,
                         const struct clr_argument *arguments, cl_uint count, size_t groups,
                         size_t group_size, cl_event *event, struct clr_status *status);

#endif
