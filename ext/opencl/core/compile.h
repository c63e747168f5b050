/* From kernels' text to kernels: what all programs have in common. For ext/opencl alone. */
#ifndef CLR_OPENCL_COMPILE_H
#define CLR_OPENCL_COMPILE_H

#include "opencl/core/api.h"

#include <stddef.h>

/*
 * Compiles the sources, in their order, with the compiler's options. Returns the program, which is
 * the caller's to release, or NULL with CLR_DEVICE in status; *log is then the compiler's whole
 * output, if there is any, and the caller's to free with clr_memory_free().
 */
cl_program clr_compile(cl_context context, cl_device_id device, cl_uint count, const char **sources,
                       const char *options, char **log, struct clr_status *status);

/*
 * Lowers *limit to the work-items that the kernel can have in a group on the device, and stores
 * in *multiple what number of them the device prefers a multiple of. Returns OpenCL's error.
 */
cl_int clr_limit_group(cl_kernel kernel, cl_device_id device, size_t *limit, size_t *multiple);

#endif
