/*
 * OpenCL that fails when it is told to: a library to be preloaded into a program under test. Each
 * OpenCL function that the extension calls is here, and passes the call on, unless the environment
 * variable CLR_FAIL says otherwise:
 *
 *     CLR_FAIL=FUNCTION:ACTION:CALL[:MS]
 *
 * From that call of the function on, counted from 1, the action is
 *
 *     -5 or another number   to return that error at once
 *     hang                   to wait for MS milliseconds first, and then pass the call on
 *     skip                   (clEnqueueNDRangeKernel) to run no kernel and report success
 *     broken                 (clCreateProgramWithSource) to add a line that is no OpenCL C
 *
 * The first time that it acts it says so on the standard error stream.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SOURCES = 16 };

/* Whether CLR_FAIL tells this call of the function to act, counting it; and its action. */
static bool acts(const char *function, atomic_long *calls, const char **action)
{
    const char *rule = getenv("CLR_FAIL");
    size_t length = strlen(function);
    long call = atomic_fetch_add(calls, 1) + 1, first;

    if (rule == NULL || strncmp(rule, function, length) != 0 || rule[length] != ':')
        return false;
    *action = rule + length + 1;
    rule = strchr(*action, ':');
    first = rule != NULL ? strtol(rule + 1, NULL, 10) : 1;
    if (call == first)
        fprintf(stderr, "failing-opencl: %s, call %ld: %s\n", function, call, *action);
    return call >= first;
}

static bool action_is(const char *action, const char *name)
{
    return strncmp(action, name, strlen(name)) == 0;
}

/* Hangs for the time that the rule gives. */
static void hang(const char *action)
{
    const char *ms = strrchr(action, ':');
    long long wait = ms != NULL ? strtoll(ms + 1, NULL, 10) : 0;
    struct timespec time = {(time_t)(wait / 1000), (long)(wait % 1000) * 1000000};

    nanosleep(&time, NULL);
}

/* Returns the error that the call has to return instead of being passed on, or CL_SUCCESS. */
static cl_int intercept(const char *function, atomic_long *calls)
{
    const char *action;

    if (!acts(function, calls, &action))
        return CL_SUCCESS;
    if (action_is(action, "hang"))
        hang(action);
    return (cl_int)strtol(action, NULL, 10);
}

static void *next_function(const char *function)
{
    void *found = dlsym(RTLD_NEXT, function);

    if (found == NULL) {
        fprintf(stderr, "failing-opencl: there is no %s\n", function);
        abort();
    }
    return found;
}

/* Data pointers are no function pointers in C; POSIX says that their bits are. */
#define FIND_NEXT(function)                                                                        \
    do {                                                                                           \
        void *found_ = next_function(#function);                                                   \
        memcpy(&next, &found_, sizeof next);                                                       \
    } while (0)

/* A function that returns its error. */
#define STATUS_FUNCTION(function, formal, actual)                                                  \
    __attribute__((visibility("default"))) cl_int function formal                                  \
    {                                                                                              \
        static atomic_long calls;                                                                  \
        cl_int(*next) formal;                                                                      \
        cl_int error_ = intercept(#function, &calls);                                              \
        if (error_ != CL_SUCCESS)                                                                  \
            return error_;                                                                         \
        FIND_NEXT(function);                                                                       \
        return next actual;                                                                        \
    }

/* A function that returns an object, and stores its error in *error. */
#define OBJECT_FUNCTION(type, function, formal, actual)                                            \
    __attribute__((visibility("default"))) type function formal                                    \
    {                                                                                              \
        static atomic_long calls;                                                                  \
        type(*next) formal;                                                                        \
        cl_int error_ = intercept(#function, &calls);                                              \
        if (error_ != CL_SUCCESS) {                                                                \
            if (error != NULL)                                                                     \
                *error = error_;                                                                   \
            return NULL;                                                                           \
        }                                                                                          \
        FIND_NEXT(function);                                                                       \
        return next actual;                                                                        \
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
OBJECT_FUNCTION(cl_context, clCreateContext,
                (const cl_context_properties *properties, cl_uint count,
                 const cl_device_id *devices, context_callback callback, void *data, cl_int *error),
                (properties, count, devices, callback, data, error))
STATUS_FUNCTION(clReleaseContext, (cl_context context), (context))
OBJECT_FUNCTION(cl_command_queue, clCreateCommandQueue,
                (cl_context context, cl_device_id device, cl_command_queue_properties properties,
                 cl_int *error),
                (context, device, properties, error))
STATUS_FUNCTION(clReleaseCommandQueue, (cl_command_queue queue), (queue))
STATUS_FUNCTION(clFlush, (cl_command_queue queue), (queue))
STATUS_FUNCTION(clFinish, (cl_command_queue queue), (queue))
OBJECT_FUNCTION(cl_mem, clCreateBuffer,
                (cl_context context, cl_mem_flags flags, size_t size, void *memory, cl_int *error),
                (context, flags, size, memory, error))
STATUS_FUNCTION(clReleaseMemObject, (cl_mem buffer), (buffer))
STATUS_FUNCTION(clReleaseProgram, (cl_program program), (program))
STATUS_FUNCTION(clBuildProgram,
                (cl_program program, cl_uint count, const cl_device_id *devices,
                 const char *options, program_callback callback, void *data),
                (program, count, devices, options, callback, data))
STATUS_FUNCTION(clGetProgramBuildInfo,
                (cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
                 void *value, size_t *length),
                (program, device, what, size, value, length))
OBJECT_FUNCTION(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *error),
                (program, name, error))
STATUS_FUNCTION(clReleaseKernel, (cl_kernel kernel), (kernel))
STATUS_FUNCTION(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
                (kernel, index, size, value))
STATUS_FUNCTION(clGetKernelWorkGroupInfo,
                (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t size,
                 void *value, size_t *length),
                (kernel, device, what, size, value, length))
STATUS_FUNCTION(clEnqueueWriteBuffer,
                (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                 size_t size, const void *source, cl_uint count, const cl_event *list,
                 cl_event *event),
                (queue, buffer, blocking, offset, size, source, count, list, event))
STATUS_FUNCTION(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
STATUS_FUNCTION(clReleaseEvent, (cl_event event), (event))
STATUS_FUNCTION(clGetEventInfo,
                (cl_event event, cl_event_info what, size_t size, void *value, size_t *length),
                (event, what, size, value, length))
STATUS_FUNCTION(clGetEventProfilingInfo,
                (cl_event event, cl_profiling_info what, size_t size, void *value, size_t *length),
                (event, what, size, value, length))
STATUS_FUNCTION(clEnqueueReadBuffer,
                (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                 size_t size, void *target, cl_uint waits, const cl_event *wait, cl_event *event),
                (queue, buffer, blocking, offset, size, target, waits, wait, event))
STATUS_FUNCTION(clEnqueueCopyBuffer,
                (cl_command_queue queue, cl_mem source, cl_mem target, size_t source_offset,
                 size_t target_offset, size_t size, cl_uint waits, const cl_event *wait,
                 cl_event *event),
                (queue, source, target, source_offset, target_offset, size, waits, wait, event))
STATUS_FUNCTION(clEnqueueFillBuffer,
                (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size,
                 size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event),
                (queue, buffer, pattern, pattern_size, offset, size, waits, wait, event))
STATUS_FUNCTION(clEnqueueUnmapMemObject,
                (cl_command_queue queue, cl_mem object, void *mapped, cl_uint waits,
                 const cl_event *wait, cl_event *event),
                (queue, object, mapped, waits, wait, event))
OBJECT_FUNCTION(void *, clEnqueueMapBuffer,
                (cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                 size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                 cl_int *error),
                (queue, buffer, blocking, flags, offset, size, waits, wait, event, error))

/* The two that can do something else than fail. */

__attribute__((visibility("default"))) cl_program
clCreateProgramWithSource(cl_context context, cl_uint count, const char **sources,
                          const size_t *lengths, cl_int *error)
{
    static atomic_long calls;
    cl_program (*next)(cl_context, cl_uint, const char **, const size_t *, cl_int *);
    const char *action, *more[MOST_SOURCES];

    FIND_NEXT(clCreateProgramWithSource);
    if (!acts("clCreateProgramWithSource", &calls, &action))
        return next(context, count, sources, lengths, error);
    if (action_is(action, "broken") && lengths == NULL && count < MOST_SOURCES) {
        memcpy(more, sources, count * sizeof *sources);
        more[count] = "\nthis is no OpenCL C\n";
        return next(context, count + 1, more, NULL, error);
    }
    *error = (cl_int)strtol(action, NULL, 10);
    return NULL;
}

__attribute__((visibility("default"))) cl_int
clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                       const size_t *offset, const size_t *global, const size_t *local,
                       cl_uint waits, const cl_event *wait, cl_event *event)
{
    static atomic_long calls;
    cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                   const size_t *, cl_uint, const cl_event *, cl_event *);
    const char *action;

    FIND_NEXT(clEnqueueNDRangeKernel);
    if (acts("clEnqueueNDRangeKernel", &calls, &action)) {
        if (action_is(action, "skip"))
            return clEnqueueMarkerWithWaitList(queue, waits, wait, event);
        if (!action_is(action, "hang"))
            return (cl_int)strtol(action, NULL, 10);
        hang(action);
    }
    return next(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}
