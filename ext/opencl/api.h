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

/*
 * The same for calls that make or first use a buffer. That the device has no room for it is no
 * reason to give it up, and CLR_NOMEM: drivers say so when a buffer is made, or when it is first
 * used (OpenCL 1.2, 5.2.1 and 5.2.2).
 */
static inline enum clr_code clr_opencl_buffer_failed(struct clr_status *status, const char *call,
                                                     cl_int error)
{
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_INVALID_BUFFER_SIZE)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory on the device: %s: %s (%d)", call,
                              clr_opencl_error_name(error), error);
    return clr_opencl_failed(status, call, error);
}

#endif
