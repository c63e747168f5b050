#include "opencl/core/buffers.h"

#include "opencl/core/failures.h"

enum clr_code clr_buffers_make(cl_context context, const struct clr_wanted_buffer *wanted,
                               size_t count, struct clr_status *status)
{
    cl_int error = CL_SUCCESS;
    size_t i;

    for (i = 0; i < count; i++)
        *wanted[i].buffer = NULL;
    for (i = 0; i < count && error == CL_SUCCESS; i++)
        *wanted[i].buffer = clCreateBuffer(context, wanted[i].flags, wanted[i].size, NULL, &error);
    return error == CL_SUCCESS ? CLR_OK : clr_opencl_buffer_failed(status, "clCreateBuffer", error);
}

void clr_buffer_release(cl_mem *buffer)
{
    if (*buffer != NULL)
        clReleaseMemObject(*buffer);
    *buffer = NULL;
}

enum clr_code clr_pinned_make(cl_context context, cl_command_queue queue, size_t size,
                              struct clr_pinned *pinned, struct clr_status *status)
{
    const struct clr_wanted_buffer wanted = {&pinned->buffer,
                                             CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size};
    cl_int error;

    pinned->mapped = NULL;
    if (clr_buffers_make(context, &wanted, 1, status) != CLR_OK)
        return status->code;
    pinned->mapped = clEnqueueMapBuffer(queue, pinned->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                        0, size, 0, NULL, NULL, &error);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_buffer_failed(status, "clEnqueueMapBuffer", error);
}

void clr_pinned_release(cl_command_queue queue, struct clr_pinned *pinned)
{
    if (pinned->mapped != NULL)
        clEnqueueUnmapMemObject(queue, pinned->buffer, pinned->mapped, 0, NULL, NULL);
    pinned->mapped = NULL;
    clr_buffer_release(&pinned->buffer);
}
