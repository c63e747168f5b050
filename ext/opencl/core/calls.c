#include "opencl/core/calls.h"

#include <stdbool.h>
#include <time.h>

/* OpenCL 1.2, appendix "Error codes", and cl_khr_icd. Numbers and not macros: the macros of later
   versions are not in every header. */
static const struct {
    int error;
    const char *name;
} error_names[] = {
    {0, "CL_SUCCESS"},
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-9, "CL_IMAGE_FORMAT_MISMATCH"},
    {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-16, "CL_LINKER_NOT_AVAILABLE"},
    {-17, "CL_LINK_PROGRAM_FAILURE"},
    {-18, "CL_DEVICE_PARTITION_FAILED"},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-47, "CL_INVALID_KERNEL_DEFINITION"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-56, "CL_INVALID_GLOBAL_OFFSET"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-66, "CL_INVALID_COMPILER_OPTIONS"},
    {-67, "CL_INVALID_LINKER_OPTIONS"},
    {-68, "CL_INVALID_DEVICE_PARTITION_COUNT"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

const char *clr_opencl_error_name(int error)
{
    size_t i;

    for (i = 0; i < sizeof error_names / sizeof error_names[0]; i++) {
        if (error_names[i].error == error)
            return error_names[i].name;
    }
    return "unknown OpenCL error";
}

/* How often a wait that fails is tried, with pauses of 1, 2, 4, ... milliseconds in between. */
enum { TRIES = 7 };

enum clr_code clr_opencl_check(struct clr_status *status, const char *call, cl_int error)
{
    const bool passes = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                        error == CL_OUT_OF_HOST_MEMORY;

    if (error == CL_SUCCESS)
        return CLR_OK;
    clr_status_set(status, passes ? CLR_NOMEM : CLR_DEVICE, error, "%s: %s (%d)", call,
                   clr_opencl_error_name(error), error);
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE)
        status->error = 0;
    return status->code;
}

enum clr_code clr_opencl_check_buffer(struct clr_status *status, const char *call, cl_int error)
{
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_INVALID_BUFFER_SIZE)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory on the device: %s: %s (%d)", call,
                              clr_opencl_error_name(error), error);
    return clr_opencl_check(status, call, error);
}

/* Returns the error that the event's command ended with, or CL_SUCCESS. */
static cl_int command_error(cl_event event)
{
    cl_int state = CL_COMPLETE;

    if (clr_cl.GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) !=
        CL_SUCCESS)
        return CL_SUCCESS;
    return state < 0 ? state : CL_SUCCESS; /* OpenCL 1.2, 5.9 */
}

enum clr_code clr_event_wait(cl_event event, struct clr_status *status)
{
    cl_int error = clr_cl.WaitForEvents(1, &event), cause;

    if (error == CL_SUCCESS)
        return CLR_OK;
    cause =
        error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? command_error(event) : CL_SUCCESS;
    return clr_opencl_check(status, "clWaitForEvents", cause != CL_SUCCESS ? cause : error);
}

static cl_int wait_once(cl_command_queue queue, cl_event event)
{
    cl_int error;

    if (event == NULL)
        return clr_cl.Finish(queue);
    error = clr_cl.WaitForEvents(1, &event);
    /* A command that has failed is over as well. */
    return error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? CL_SUCCESS : error;
}

static void drain(cl_command_queue queue, cl_event event, struct clr_status *status)
{
    struct timespec pause = {0, 1000000};
    int i;

    if (status->code != CLR_NOMEM || (queue == NULL && event == NULL))
        return;
    for (i = 1; wait_once(queue, event) != CL_SUCCESS; i++) {
        if (i == TRIES) {
            status->code = CLR_DEVICE;
            return;
        }
        nanosleep(&pause, NULL);
        pause.tv_nsec *= 2;
    }
}

void clr_queue_drain(cl_command_queue queue, struct clr_status *status)
{
    drain(queue, NULL, status);
}

void clr_event_drain(cl_event *event, struct clr_status *status)
{
    drain(NULL, *event, status);
    clr_event_release(event);
}

void clr_event_release(cl_event *event)
{
    if (*event != NULL)
        clr_cl.ReleaseEvent(*event);
    *event = NULL;
}

enum clr_code clr_queue_make(cl_context context, cl_device_id device,
                             cl_command_queue_properties properties, cl_command_queue *queue,
                             struct clr_status *status)
{
    cl_int error;

    *queue = clr_cl.CreateCommandQueue(context, device, properties, &error);
    return clr_opencl_check(status, "clCreateCommandQueue", error);
}

void clr_queue_release(cl_command_queue queue)
{
    if (queue != NULL)
        clr_cl.ReleaseCommandQueue(queue);
}

int64_t clr_event_take_time(cl_event *event)
{
    cl_ulong start = 0, end = 0;

    if (*event == NULL)
        return 0;
    if (clr_cl.GetEventProfilingInfo(*event, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                     NULL) != CL_SUCCESS ||
        clr_cl.GetEventProfilingInfo(*event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) !=
            CL_SUCCESS)
        start = end = 0;
    clr_event_release(event);
    return end > start ? (int64_t)(end - start) : 0;
}

enum clr_code clr_buffers_make(cl_context context, const struct clr_wanted_buffer *wanted,
                               size_t count, struct clr_status *status)
{
    cl_int error = CL_SUCCESS;
    size_t i;

    for (i = 0; i < count; i++)
        *wanted[i].buffer = NULL;
    for (i = 0; i < count && error == CL_SUCCESS; i++)
        *wanted[i].buffer =
            clr_cl.CreateBuffer(context, wanted[i].flags, wanted[i].size, NULL, &error);
    return clr_opencl_check_buffer(status, "clCreateBuffer", error);
}

void clr_buffer_release(cl_mem *buffer)
{
    if (*buffer != NULL)
        clr_cl.ReleaseMemObject(*buffer);
    *buffer = NULL;
}

enum clr_code clr_buffer_clear(cl_command_queue queue, cl_mem buffer, size_t size,
                               struct clr_status *status)
{
    const cl_uint zero = 0;

    return clr_opencl_check_buffer(
        status, "clEnqueueFillBuffer",
        clr_cl.EnqueueFillBuffer(queue, buffer, &zero, sizeof zero, 0, size, 0, NULL, NULL));
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
    pinned->mapped = clr_cl.EnqueueMapBuffer(
        queue, pinned->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size, 0, NULL, NULL, &error);
    return clr_opencl_check_buffer(status, "clEnqueueMapBuffer", error);
}

void clr_pinned_release(cl_command_queue queue, struct clr_pinned *pinned)
{
    if (pinned->mapped != NULL)
        clr_cl.EnqueueUnmapMemObject(queue, pinned->buffer, pinned->mapped, 0, NULL, NULL);
    pinned->mapped = NULL;
    clr_buffer_release(&pinned->buffer);
}

enum clr_code clr_launch(cl_command_queue queue, cl_kernel kernel,
                         const struct clr_argument *arguments, cl_uint count, size_t groups,
                         size_t group_size, cl_event *event, struct clr_status *status)
{
    const size_t global = groups * group_size;
    cl_int error = CL_SUCCESS;
    cl_uint i;

    if (event != NULL)
        *event = NULL;
    for (i = 0; i < count && error == CL_SUCCESS; i++)
        error = clr_cl.SetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
    if (clr_opencl_check(status, "clSetKernelArg", error) != CLR_OK)
        return status->code;
    error =
        clr_cl.EnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &group_size, 0, NULL, event);
    return clr_opencl_check_buffer(status, "clEnqueueNDRangeKernel", error);
}
