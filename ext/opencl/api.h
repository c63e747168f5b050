/*
 * OpenCL's headers, for this folder alone, and short ways to report an error.
 *
 * The host API is used at version 1.2, which every platform in use has.
 */
#ifndef CLR_OPENCL_API_H
#define CLR_OPENCL_API_H

#define CL_TARGET_OPENCL_VERSION 120

#ifdef __APPLE__
#include <OpenCL/opencl.h>
#else
#include <CL/cl.h>
#endif

#include "base/status.h"
#include "opencl/error_names.h"

/* Sets status to CLR_DEVICE with the call's name and OpenCL's name of the error; returns it. */
static inline enum clr_code clr_opencl_failed(struct clr_status *status, const char *call,
                                              cl_int error)
{
    return clr_status_set(status, CLR_DEVICE, error, "%s: %s (%d)", call,
                          clr_opencl_error_name(error), error);
}

#endif
