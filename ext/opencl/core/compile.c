#include "opencl/core/compile.h"

#include "base/memory.h"
#include "opencl/core/failures.h"

static char *get_log(cl_program program, cl_device_id device)
{
    size_t size = 0;
    char *log;

    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) !=
            CL_SUCCESS ||
        size == 0)
        return NULL;
    log = clr_memory_alloc(size + 1);
    if (log == NULL)
        return NULL;
    log[size] = '\0';
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) != CL_SUCCESS)
        log[0] = '\0';
    return log;
}

cl_program clr_compile(cl_context context, cl_device_id device, cl_uint count, const char **sources,
                       const char *options, char **log, struct clr_status *status)
{
    cl_program program;
    cl_int error;

    *log = NULL;
    program = clCreateProgramWithSource(context, count, sources, NULL, &error);
    if (error != CL_SUCCESS) {
        clr_opencl_failed(status, "clCreateProgramWithSource", error);
        return NULL;
    }
    error = clBuildProgram(program, 1, &device, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        *log = get_log(program, device);
        clReleaseProgram(program);
        clr_opencl_failed(status, "clBuildProgram", error);
        return NULL;
    }
    return program;
}

cl_int clr_limit_group(cl_kernel kernel, cl_device_id device, size_t *limit, size_t *multiple)
{
    size_t most = 1;
    cl_int error;

    error = clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                     NULL);
    if (error != CL_SUCCESS)
        return error;
    if (most < *limit)
        *limit = most;
    return clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                    sizeof *multiple, multiple, NULL);
}
