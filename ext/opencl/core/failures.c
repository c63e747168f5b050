#include "opencl/core/failures.h"

#include "opencl/core/error_names.h"

#include <stdbool.h>
#include <time.h>

/* How often a wait that fails is tried, with pauses of 1, 2, 4, ... milliseconds in between. */
enum { TRIES = 7 };

enum clr_code clr_opencl_failed(struct clr_status *status, const char *call, cl_int error)
{
    const bool passes = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
                        error == CL_OUT_OF_HOST_MEMORY;

    clr_status_set(status, passes ? CLR_NOMEM : CLR_DEVICE, error, "%s: %s (%d)", call,
                   clr_opencl_error_name(error), error);
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE)
        status->error = 0;
    return status->code;
}

enum clr_code clr_opencl_buffer_failed(struct clr_status *status, const char *call, cl_int error)
{
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_INVALID_BUFFER_SIZE)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory on the device: %s: %s (%d)", call,
                              clr_opencl_error_name(error), error);
    return clr_opencl_failed(status, call, error);
}

/* Returns the error that the event's command ended with, or CL_SUCCESS. */
static cl_int command_error(cl_event event)
{
    cl_int state = CL_COMPLETE;

    if (clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) !=
        CL_SUCCESS)
        return CL_SUCCESS;
    return state < 0 ? state : CL_SUCCESS; /* OpenCL 1.2, 5.9 */
}

enum clr_code clr_event_wait(cl_event event, struct clr_status *status)
{
    cl_int error = clWaitForEvents(1, &event), cause;

    if (error == CL_SUCCESS)
        return CLR_OK;
    cause =
        error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? command_error(event) : CL_SUCCESS;
    return clr_opencl_failed(status, "clWaitForEvents", cause != CL_SUCCESS ? cause : error);
}

static cl_int wait_once(cl_command_queue queue, cl_event event)
{
    cl_int error;

    if (event == NULL)
        return clFinish(queue);
    error = clWaitForEvents(1, &event);
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
        clReleaseEvent(*event);
    *event = NULL;
}

int64_t clr_event_take_time(cl_event *event)
{
    cl_ulong start = 0, end = 0;

    if (*event == NULL)
        return 0;
    if (clGetEventProfilingInfo(*event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) !=
            CL_SUCCESS ||
        clGetEventProfilingInfo(*event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) !=
            CL_SUCCESS)
        start = end = 0;
    clr_event_release(event);
    return end > start ? (int64_t)(end - start) : 0;
}
