/*
 * OpenCL that fails when it is told to, between the loader and whoever calls it: a library to be
 * preloaded into a program under test. Each OpenCL function that the extension calls is here, and
 * passes the call on, unless a rule says otherwise: that of the environment variable CLR_FAIL, or
 * of failing_opencl_set(), which the program finds by dlsym().
 *
 *     FUNCTION:ACTION:CALL[:COUNT[:MS]]
 *
 * FUNCTION is a name, or "any". From that call of the function on, counted from 1 since the rule
 * holds, COUNT calls, or all if it is 0 or not given, act:
 *
 *     -5 or another number   return that error at once
 *     hang                   wait for MS milliseconds first, and are then passed on
 *     skip                   (clEnqueueNDRangeKernel) run no kernel and report success
 *     broken                 (clCreateProgramWithSource) add a line that is no OpenCL C
 *
 * What releases an object always does, and returns the error afterwards; "any" leaves it alone.
 * The first time that a rule of the environment acts it says so on the standard error stream.
 *
 * failing_opencl_room() limits the bytes of the buffers that a context may have.
 *
 * CLR_DELAYS=SEED in the environment has calls wait now and then.
 */
#include "opencl/failing_parts.h"

#include <stdatomic.h>

enum { MOST_SOURCES = 16 };

/* ---- Objects. */

enum object { CONTEXTS, QUEUES, BUFFERS, PROGRAMS, KERNELS, EVENTS, OBJECTS };

static atomic_long live[OBJECTS];

/* Returns how many objects of that kind there are, or -1 if there is no such kind. */
EXPORTED long failing_opencl_live(int kind);
long failing_opencl_live(int kind)
{
    return kind < OBJECTS ? atomic_load(&live[kind]) : -1;
}

static void made(enum object kind, const void *object)
{
    if (object != NULL)
        atomic_fetch_add(&live[kind], 1);
}

/* ---- The functions. */

/* One that returns its error, and stores a command's event in *event_ if that is not NULL. */
#define COMMAND_FUNCTION(function, formal, actual, event_)                                         \
    EXPORTED cl_int function formal                                                                \
    {                                                                                              \
        cl_int(*next) formal;                                                                      \
        cl_event *const made_ = event_;                                                            \
        cl_int error_ = failing_rule_intercept(#function);                                         \
        if (error_ != CL_SUCCESS)                                                                  \
            return error_;                                                                         \
        FAILING_NEXT(function);                                                                    \
        error_ = next actual;                                                                      \
        if (error_ == CL_SUCCESS && made_ != NULL)                                                 \
            made(EVENTS, *made_);                                                                  \
        return error_;                                                                             \
    }
#define STATUS_FUNCTION(function, formal, actual) COMMAND_FUNCTION(function, formal, actual, NULL)
#define ENQUEUE_FUNCTION(function, formal, actual) COMMAND_FUNCTION(function, formal, actual, event)

/* One that releases an object. */
#define RELEASE_FUNCTION(function, type, kind)                                                     \
    EXPORTED cl_int function(type object)                                                          \
    {                                                                                              \
        cl_int (*next)(type);                                                                      \
        cl_int error_ = failing_rule_intercept(#function), released_;                              \
        FAILING_NEXT(function);                                                                    \
        released_ = next(object);                                                                  \
        if (released_ == CL_SUCCESS)                                                               \
            atomic_fetch_sub(&live[kind], 1);                                                      \
        return error_ != CL_SUCCESS ? error_ : released_;                                          \
    }

/* One that returns an object, and stores its error in *error. */
#define OBJECT_FUNCTION(type, kind, function, formal, actual)                                      \
    EXPORTED type function formal                                                                  \
    {                                                                                              \
        type(*next) formal;                                                                        \
        type object_;                                                                              \
        cl_int error_ = failing_rule_intercept(#function);                                         \
        if (error_ != CL_SUCCESS) {                                                                \
            if (error != NULL)                                                                     \
                *error = error_;                                                                   \
            return NULL;                                                                           \
        }                                                                                          \
        FAILING_NEXT(function);                                                                    \
        object_ = next actual;                                                                     \
        made(kind, object_);                                                                       \
        return object_;                                                                            \
    }

typedef void(CL_CALLBACK *context_callback)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *program_callback)(cl_program, void *);

STATUS_FUNCTION(clGetPlatformIDs, (cl_uint entries, cl_platform_id *platforms, cl_uint *count),
                (entries, platforms, count))
STATUS_FUNCTION(clGetPlatformInfo,
                (cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                 size_t *length),
                (platform, what, size, value, length))
STATUS_FUNCTION(clGetDeviceIDs,
                (cl_platform_id platform, cl_device_type type, cl_uint entries,
                 cl_device_id *devices, cl_uint *count),
                (platform, type, entries, devices, count))
STATUS_FUNCTION(clGetDeviceInfo,
                (cl_device_id device, cl_device_info what, size_t size, void *value,
                 size_t *length),
                (device, what, size, value, length))
OBJECT_FUNCTION(cl_context, CONTEXTS, clCreateContext,
                (const cl_context_properties *properties, cl_uint count,
                 const cl_device_id *devices, context_callback callback, void *data, cl_int *error),
                (properties, count, devices, callback, data, error))
RELEASE_FUNCTION(clReleaseContext, cl_context, CONTEXTS)
OBJECT_FUNCTION(cl_command_queue, QUEUES, clCreateCommandQueue,
                (cl_context context, cl_device_id device, cl_command_queue_properties properties,
                 cl_int *error),
                (context, device, properties, error))
RELEASE_FUNCTION(clReleaseCommandQueue, cl_command_queue, QUEUES)
STATUS_FUNCTION(clFlush, (cl_command_queue queue), (queue))
STATUS_FUNCTION(clFinish, (cl_command_queue queue), (queue))

static const cl_mem_flags in_host_memory = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR;

EXPORTED cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *memory,
                               cl_int *error)
{
    cl_mem (*next)(cl_context, cl_mem_flags, size_t, void *, cl_int *), buffer = NULL;
    const long bytes = flags & in_host_memory ? 0 : (long)size;
    cl_int failure = failing_rule_intercept("clCreateBuffer");

    if (failure == CL_SUCCESS && !failing_room_takes(context, bytes))
        failure = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (failure != CL_SUCCESS) {
        *error = failure;
        return NULL;
    }
    FAILING_NEXT(clCreateBuffer);
    buffer = next(context, flags, size, memory, error);
    if (buffer == NULL)
        failing_room_takes(context, -bytes);
    made(BUFFERS, buffer);
    return buffer;
}

/* What the buffer took is room again once it is released: the extension retains none. */
EXPORTED cl_int clReleaseMemObject(cl_mem buffer)
{
    cl_int (*ask)(cl_mem, cl_mem_info, size_t, void *, size_t *), (*next)(cl_mem);
    void *asking = failing_next("clGetMemObjectInfo");
    cl_int error = failing_rule_intercept("clReleaseMemObject"), released;
    cl_context context = NULL;
    cl_mem_flags flags = 0;
    size_t size = 0;

    memcpy(&ask, &asking, sizeof ask);
    if (ask(buffer, CL_MEM_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS ||
        ask(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL) != CL_SUCCESS ||
        ask(buffer, CL_MEM_SIZE, sizeof size, &size, NULL) != CL_SUCCESS ||
        (flags & in_host_memory) != 0)
        size = 0;
    FAILING_NEXT(clReleaseMemObject);
    released = next(buffer);
    if (released == CL_SUCCESS) {
        atomic_fetch_sub(&live[BUFFERS], 1);
        failing_room_takes(context, -(long)size);
    }
    return error != CL_SUCCESS ? error : released;
}
RELEASE_FUNCTION(clReleaseProgram, cl_program, PROGRAMS)
STATUS_FUNCTION(clBuildProgram,
                (cl_program program, cl_uint count, const cl_device_id *devices,
                 const char *options, program_callback callback, void *data),
                (program, count, devices, options, callback, data))
STATUS_FUNCTION(clGetProgramBuildInfo,
                (cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
                 void *value, size_t *length),
                (program, device, what, size, value, length))
OBJECT_FUNCTION(cl_kernel, KERNELS, clCreateKernel,
                (cl_program program, const char *name, cl_int *error), (program, name, error))
RELEASE_FUNCTION(clReleaseKernel, cl_kernel, KERNELS)
STATUS_FUNCTION(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
                (kernel, index, size, value))
STATUS_FUNCTION(clGetKernelWorkGroupInfo,
                (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
                 void *value, size_t *length),
                (kernel, device, what, size, value, length))
ENQUEUE_FUNCTION(clEnqueueWriteBuffer,
                 (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                  size_t size, const void *source, cl_uint count, const cl_event *list,
                  cl_event *event),
                 (queue, buffer, blocking, offset, size, source, count, list, event))
STATUS_FUNCTION(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
RELEASE_FUNCTION(clReleaseEvent, cl_event, EVENTS)
STATUS_FUNCTION(clGetEventInfo,
                (cl_event event, cl_event_info what, size_t size, void *value, size_t *length),
                (event, what, size, value, length))
STATUS_FUNCTION(clGetEventProfilingInfo,
                (cl_event event, cl_profiling_info what, size_t size, void *value, size_t *length),
                (event, what, size, value, length))
ENQUEUE_FUNCTION(clEnqueueReadBuffer,
                 (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                  size_t size, void *target, cl_uint waits, const cl_event *wait, cl_event *event),
                 (queue, buffer, blocking, offset, size, target, waits, wait, event))
ENQUEUE_FUNCTION(clEnqueueCopyBuffer,
                 (cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                  size_t target_offset, size_t size, cl_uint waits, const cl_event *wait,
                  cl_event *event),
                 (queue, source, target, source_offset, target_offset, size, waits, wait, event))
ENQUEUE_FUNCTION(clEnqueueFillBuffer,
                 (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
                  size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event),
                 (queue, buffer, pattern, pattern_size, offset, size, waits, wait, event))
ENQUEUE_FUNCTION(clEnqueueUnmapMemObject,
                 (cl_command_queue queue, cl_mem object, void *mapped, cl_uint waits,
                  const cl_event *wait, cl_event *event),
                 (queue, object, mapped, waits, wait, event))
/* A mapping is no object; its events are not asked for. */
EXPORTED void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                  cl_map_flags flags, size_t offset, size_t size, cl_uint waits,
                                  const cl_event *wait, cl_event *event, cl_int *error)
{
    void *(*next)(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint,
                  const cl_event *, cl_event *, cl_int *);
    cl_int failure = failing_rule_intercept("clEnqueueMapBuffer");

    if (failure != CL_SUCCESS) {
        *error = failure;
        return NULL;
    }
    FAILING_NEXT(clEnqueueMapBuffer);
    return next(queue, buffer, blocking, flags, offset, size, waits, wait, event, error);
}

/* The two that can do something else than fail. */

EXPORTED cl_program clCreateProgramWithSource(cl_context context, cl_uint count,
                                              const char **sources, const size_t *lengths,
                                              cl_int *error)
{
    cl_program (*next)(cl_context, cl_uint, const char **, const size_t *, cl_int *), program;
    const char *more[MOST_SOURCES];
    char action[32];
    long ms;

    FAILING_NEXT(clCreateProgramWithSource);
    if (failing_rule_acts("clCreateProgramWithSource", action, &ms)) {
        if (strcmp(action, "broken") == 0 && lengths == NULL && count < MOST_SOURCES) {
            memcpy(more, sources, count * sizeof *sources);
            more[count++] = "\nthis is no OpenCL C\n";
            sources = more;
        } else if (strcmp(action, "hang") == 0) {
            failing_sleep(ms * 1000);
        } else {
            *error = (cl_int)strtol(action, NULL, 10);
            return NULL;
        }
    }
    program = next(context, count, sources, lengths, error);
    made(PROGRAMS, program);
    return program;
}

EXPORTED cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t *offset, const size_t *global,
                                       const size_t *local, cl_uint waits, const cl_event *wait,
                                       cl_event *event)
{
    cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                   const size_t *, cl_uint, const cl_event *, cl_event *);
    bool skips = false;
    char action[32];
    cl_int error;
    long ms;

    FAILING_NEXT(clEnqueueNDRangeKernel);
    if (failing_rule_acts("clEnqueueNDRangeKernel", action, &ms)) {
        skips = strcmp(action, "skip") == 0;
        if (strcmp(action, "hang") == 0)
            failing_sleep(ms * 1000);
        else if (!skips)
            return (cl_int)strtol(action, NULL, 10);
    }
    error = skips ? clEnqueueMarkerWithWaitList(queue, waits, wait, event)
                  : next(queue, kernel, dimensions, offset, global, local, waits, wait, event);
    if (error == CL_SUCCESS && event != NULL)
        made(EVENTS, *event);
    return error;
}
