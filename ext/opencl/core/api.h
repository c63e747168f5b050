/*
 * OpenCL's headers and functions, for this folder alone.
 *
 * The host API is used at version 1.2, which every platform in use has. No library is linked for
 * it: the ICD loader's functions are found at run time, and called through a table, as SQLite's are
 * in an extension (sqlite3ext.h).
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

/* All that are called, without the beginning of their names, which is cl. */
#define CLR_OPENCL_FUNCTIONS(X)                                                                    \
    X(BuildProgram)                                                                                \
    X(CreateBuffer)                                                                                \
    X(CreateCommandQueue)                                                                          \
    X(CreateContext)                                                                               \
    X(CreateKernel)                                                                                \
    X(CreateProgramWithSource)                                                                     \
    X(EnqueueCopyBuffer)                                                                           \
    X(EnqueueFillBuffer)                                                                           \
    X(EnqueueMapBuffer)                                                                            \
    X(EnqueueNDRangeKernel)                                                                        \
    X(EnqueueReadBuffer)                                                                           \
    X(EnqueueUnmapMemObject)                                                                       \
    X(EnqueueWriteBuffer)                                                                          \
    X(Finish)                                                                                      \
    X(Flush)                                                                                       \
    X(GetDeviceIDs)                                                                                \
    X(GetDeviceInfo)                                                                               \
    X(GetEventInfo)                                                                                \
    X(GetEventProfilingInfo)                                                                       \
    X(GetKernelWorkGroupInfo)                                                                      \
    X(GetPlatformIDs)                                                                              \
    X(GetPlatformInfo)                                                                             \
    X(GetProgramBuildInfo)                                                                         \
    X(ReleaseCommandQueue)                                                                         \
    X(ReleaseContext)                                                                              \
    X(ReleaseEvent)                                                                                \
    X(ReleaseKernel)                                                                               \
    X(ReleaseMemObject)                                                                            \
    X(ReleaseProgram)                                                                              \
    X(SetKernelArg)                                                                                \
    X(WaitForEvents)

/* A pointer for each of them. */
struct clr_opencl {
#define CLR_MEMBER(name) __typeof__(&cl##name) name;
    CLR_OPENCL_FUNCTIONS(CLR_MEMBER)
#undef CLR_MEMBER
};

/* All NULL before clr_opencl_load(), and constant afterwards. */
extern struct clr_opencl clr_cl;

/*
 * Finds the functions: those that the process has already, if it has them all, as an application
 * that is linked with OpenCL does, or one with a library preloaded that stands before it; else
 * those of the system's ICD loader, which then stays as long as the process. The first call does
 * it, in any thread, and all have its outcome: CLR_OK, or CLR_DEVICE with what is missing and what
 * to install in status. Nothing else of OpenCL's may be called before it, or without it.
 */
enum clr_code clr_opencl_load(struct clr_status *status);

#endif
