#include "opencl/core/launch.h"

#include "opencl/core/failures.h"

enum clr_code clr_set_arguments(cl_kernel kernel, cl_uint first,
                                const struct clr_argument *arguments, cl_uint count,
                                struct clr_status *status)
{
    cl_int error = CL_SUCCESS;
    cl_uint i;

    for (i = 0; i < count && error == CL_SUCCESS; i++)
        error = clSetKernelArg(kernel, first + i, arguments[i].size, arguments[i].value);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_failed(status, "clSetKernelArg", error);
}

enum clr_code clr_launch(cl_command_queue queue, cl_kernel kernel,
                         const struct clr_argument *arguments, cl_uint count, size_t groups,
                         size_t group_size, cl_event *event, struct clr_status *status)
{
    const size_t global = groups * group_size;
    cl_int error;

    *event = NULL;
    if (clr_set_arguments(kernel, 0, arguments, count, status) != CLR_OK)
        return status->code;
    error = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &group_size, 0, NULL, event);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueNDRangeKernel", error);
}
