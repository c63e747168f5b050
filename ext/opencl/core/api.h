/*
 * OpenCL's headers, for this folder alone.
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

#endif
