/*
 * OpenCL's headers and functions, for this folder alone.
 *
 * The host API is used at version 1.2, which every platform in use has. No library is linked for
 * it: the ICD loader's functions are found at run time, and called through a table under their own
 * names, as SQLite's are in an extension (sqlite3ext.h).
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

/* All that are called. */
#define CLR_OPENCL_FUNCTIONS(X)                                                                    \
    X(clBuildProgram)                                                                              \
    X(clCreateBuffer)                                                                              \
    X(clCreateCommandQueue)                                                                        \
    X(clCreateContext)                                                                             \
    X(clCreateKernel)                                                                              \
    X(clCreateProgramWithSource)                                                                   \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueFillBuffer)                                                                         \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clFinish)                                                                                    \
    X(clFlush)                                                                                     \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clGetKernelWorkGroupInfo)                                                                    \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetProgramBuildInfo)                                                                       \
    X(clReleaseCommandQueue)                                                                       \
    X(clReleaseContext)                                                                            \
    X(clReleaseEvent)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clReleaseMemObject)                                                                          \
    X(clReleaseProgram)                                                                            \
    X(clSetKernelArg)                                                                              \
    X(clWaitForEvents)

/* A pointer for each of them. */
struct clr_opencl {
#define CLR_MEMBER(name) __typeof__(&name) name;
    CLR_OPENCL_FUNCTIONS(CLR_MEMBER)
#undef CLR_MEMBER
};

/* All NULL before clr_opencl_load(), and constant afterwards. */
extern struct clr_opencl clr_opencl;

/*
 * Finds the functions: those that the process has already, if it has them all, as an application
 * that is linked with OpenCL does, or one with a library preloaded that stands before it; else
 * those of the system's ICD loader, which then stays as long as the process. The first call does
 * it, in any thread, and all have its outcome: CLR_OK, or CLR_DEVICE with what is missing and what
 * to install in status. Nothing else of OpenCL's may be called before it, or without it.
 */
enum clr_code clr_opencl_load(struct clr_status *status);

#define clBuildProgram clr_opencl.clBuildProgram
#define clCreateBuffer clr_opencl.clCreateBuffer
#define clCreateCommandQueue clr_opencl.clCreateCommandQueue
#define clCreateContext clr_opencl.clCreateContext
#define clCreateKernel clr_opencl.clCreateKernel
#define clCreateProgramWithSource clr_opencl.clCreateProgramWithSource
#define clEnqueueCopyBuffer clr_opencl.clEnqueueCopyBuffer
#define clEnqueueFillBuffer clr_opencl.clEnqueueFillBuffer
#define clEnqueueMapBuffer clr_opencl.clEnqueueMapBuffer
#define clEnqueueNDRangeKernel clr_opencl.clEnqueueNDRangeKernel
#define clEnqueueReadBuffer clr_opencl.clEnqueueReadBuffer
#define clEnqueueUnmapMemObject clr_opencl.clEnqueueUnmapMemObject
#define clEnqueueWriteBuffer clr_opencl.clEnqueueWriteBuffer
#define clFinish clr_opencl.clFinish
#define clFlush clr_opencl.clFlush
#define clGetDeviceIDs clr_opencl.clGetDeviceIDs
#define clGetDeviceInfo clr_opencl.clGetDeviceInfo
#define clGetEventInfo clr_opencl.clGetEventInfo
#define clGetEventProfilingInfo clr_opencl.clGetEventProfilingInfo
#define clGetKernelWorkGroupInfo clr_opencl.clGetKernelWorkGroupInfo
#define clGetPlatformIDs clr_opencl.clGetPlatformIDs
#define clGetPlatformInfo clr_opencl.clGetPlatformInfo
#define clGetProgramBuildInfo clr_opencl.clGetProgramBuildInfo
#define clReleaseCommandQueue clr_opencl.clReleaseCommandQueue
#define clReleaseContext clr_opencl.clReleaseContext
#define clReleaseEvent clr_opencl.clReleaseEvent
#define clReleaseKernel clr_opencl.clReleaseKernel
#define clReleaseMemObject clr_opencl.clReleaseMemObject
#define clReleaseProgram clr_opencl.clReleaseProgram
#define clSetKernelArg clr_opencl.clSetKernelArg
#define clWaitForEvents clr_opencl.clWaitForEvents

#endif
