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
 * failing_opencl_room() limits the bytes of the buffers that a context may have, those apart that
 * lie in memory of the host's: what does not fit fails with CL_MEM_OBJECT_ALLOCATION_FAILURE.
 *
 * CLR_DELAYS=SEED has calls of OpenCL's, and of pthread_mutex_lock() and its like, wait now and
 * then for a random time, to shake out what depends on their order. The numbers that a thread draws
 * depend on the seed and on how many threads have drawn before it.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

enum { MOST_SOURCES = 16 };

static void sleep_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

/* ---- Delays. */

static int has_delays = -1;
static atomic_uint threads_seen;
static _Thread_local uint64_t random_state;

static uint64_t draw(void)
{
    const char *seed = getenv("CLR_DELAYS");

    if (random_state == 0)
        random_state = 0x9e3779b97f4a7c15 *
                       (strtoull(seed, NULL, 10) * 1009 + atomic_fetch_add(&threads_seen, 1) + 1);
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 16;
}

static void delay(void)
{
    uint64_t drawn;

    if (has_delays < 0)
        has_delays = getenv("CLR_DELAYS") != NULL;
    if (has_delays == 0)
        return;
    drawn = draw();
    if (drawn % 256 == 0)
        sleep_us(2000 + (long)(drawn / 256 % 4000));
    else if (drawn % 16 == 0)
        sleep_us((long)(drawn / 16 % 200));
}

/* ---- The rule. */

static struct {
    atomic_flag lock;
    bool is_read, is_told; /* the environment; what is to be said of it */
    char function[64], action[32];
    long first, count, ms;
    long seen, acted; /* calls since the rule holds */
} rule = {.lock = ATOMIC_FLAG_INIT};

static void lock_rule(void)
{
    while (atomic_flag_test_and_set(&rule.lock))
        sleep_us(1);
}

static void parse_rule(const char *text)
{
    rule.is_read = true;
    rule.function[0] = '\0';
    rule.first = 1;
    rule.count = rule.ms = rule.seen = rule.acted = 0;
    if (text != NULL)
        sscanf(text, "%63[^:]:%31[^:]:%ld:%ld:%ld", rule.function, rule.action, &rule.first,
               &rule.count, &rule.ms);
}

/* Sets another rule, or none for NULL. */
EXPORTED void failing_opencl_set(const char *text);
void failing_opencl_set(const char *text)
{
    lock_rule();
    parse_rule(text);
    rule.is_told = true;
    atomic_flag_clear(&rule.lock);
}

/* Returns how many calls the rule could have told to act so far, and how many it has told. */
EXPORTED long failing_opencl_seen(long *acted);
long failing_opencl_seen(long *acted)
{
    long seen;

    lock_rule();
    seen = rule.seen;
    *acted = rule.acted;
    atomic_flag_clear(&rule.lock);
    return seen;
}

/* Whether this call of the function is to act; its action then, and for how long it hangs. */
static bool acts(const char *function, char action[32], long *ms)
{
    bool result = false, tells = false;
    long call;

    delay();
    lock_rule();
    if (!rule.is_read)
        parse_rule(getenv("CLR_FAIL"));
    if (strcmp(rule.function, function) == 0 ||
        (strcmp(rule.function, "any") == 0 && strncmp(function, "clRelease", 9) != 0)) {
        call = ++rule.seen;
        result = call >= rule.first && (rule.count == 0 || call < rule.first + rule.count);
        if (result) {
            rule.acted++;
            strcpy(action, rule.action);
            *ms = rule.ms;
            tells = !rule.is_told;
            rule.is_told = true;
        }
    }
    atomic_flag_clear(&rule.lock);
    if (tells)
        fprintf(stderr, "failing-opencl: %s, call %ld: %s\n", function, rule.first, action);
    return result;
}

/* Returns the error that the call has to return instead of being passed on, or CL_SUCCESS. */
static cl_int intercept(const char *function)
{
    char action[32];
    long ms;

    if (!acts(function, action, &ms))
        return CL_SUCCESS;
    if (strcmp(action, "hang") == 0)
        sleep_us(ms * 1000);
    return (cl_int)strtol(action, NULL, 10);
}

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

/* ---- Room. */

enum { MOST_CONTEXTS = 8 };

static struct {
    pthread_mutex_t lock;
    long more; /* bytes that each context may have besides those that it had then; -1: any */
    long refused;
    int count;
    struct {
        cl_context context;
        long used, most;
    } contexts[MOST_CONTEXTS];
} room = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = -1};

/* Gives each context room for so many bytes besides those of the buffers that it has now; -1: for
   any. Returns how many buffers have found none since the call before. */
EXPORTED long failing_opencl_room(long more);
long failing_opencl_room(long more)
{
    long refused;
    int i;

    pthread_mutex_lock(&room.lock);
    room.more = more;
    for (i = 0; i < room.count; i++)
        room.contexts[i].most = room.contexts[i].used + more;
    refused = room.refused;
    room.refused = 0;
    pthread_mutex_unlock(&room.lock);
    return refused;
}

/* Takes so many bytes of the context's room, which may be less than none. Returns whether there was
   room for them. */
static bool takes_room(cl_context context, long bytes)
{
    bool has_room;
    int i = 0;

    pthread_mutex_lock(&room.lock);
    while (i < room.count && room.contexts[i].context != context)
        i++;
    if (i == room.count && room.count < MOST_CONTEXTS) {
        room.contexts[i].context = context;
        room.contexts[i].most = room.more;
        room.count++;
    }
    has_room = i == MOST_CONTEXTS || room.more < 0 || bytes < 0 ||
               room.contexts[i].used + bytes <= room.contexts[i].most;
    if (has_room && i < MOST_CONTEXTS)
        room.contexts[i].used += bytes;
    room.refused += !has_room;
    pthread_mutex_unlock(&room.lock);
    return has_room;
}

/* ---- The functions. */

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
    EXPORTED cl_int function formal                                                                \
    {                                                                                              \
        cl_int(*next) formal;                                                                      \
        cl_int error_ = intercept(#function);                                                      \
        if (error_ != CL_SUCCESS)                                                                  \
            return error_;                                                                         \
        FIND_NEXT(function);                                                                       \
        return next actual;                                                                        \
    }

/* One that enqueues a command, and stores its event in *event. */
#define ENQUEUE_FUNCTION(function, formal, actual)                                                 \
    EXPORTED cl_int function formal                                                                \
    {                                                                                              \
        cl_int(*next) formal;                                                                      \
        cl_int error_ = intercept(#function);                                                      \
        if (error_ != CL_SUCCESS)                                                                  \
            return error_;                                                                         \
        FIND_NEXT(function);                                                                       \
        error_ = next actual;                                                                      \
        if (error_ == CL_SUCCESS && event != NULL)                                                 \
            made(EVENTS, *event);                                                                  \
        return error_;                                                                             \
    }

/* One that releases an object. */
#define RELEASE_FUNCTION(function, type, kind)                                                     \
    EXPORTED cl_int function(type object)                                                          \
    {                                                                                              \
        cl_int (*next)(type);                                                                      \
        cl_int error_ = intercept(#function), released_;                                           \
        FIND_NEXT(function);                                                                       \
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
        cl_int error_ = intercept(#function);                                                      \
        if (error_ != CL_SUCCESS) {                                                                \
            if (error != NULL)                                                                     \
                *error = error_;                                                                   \
            return NULL;                                                                           \
        }                                                                                          \
        FIND_NEXT(function);                                                                       \
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
    cl_int failure = intercept("clCreateBuffer");

    if (failure == CL_SUCCESS && !takes_room(context, bytes))
        failure = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    if (failure != CL_SUCCESS) {
        *error = failure;
        return NULL;
    }
    FIND_NEXT(clCreateBuffer);
    buffer = next(context, flags, size, memory, error);
    if (buffer == NULL)
        takes_room(context, -bytes);
    made(BUFFERS, buffer);
    return buffer;
}

/* What the buffer took is room again once it is released: the extension retains none. */
EXPORTED cl_int clReleaseMemObject(cl_mem buffer)
{
    cl_int (*ask)(cl_mem, cl_mem_info, size_t, void *, size_t *), (*next)(cl_mem);
    void *asking = next_function("clGetMemObjectInfo");
    cl_int error = intercept("clReleaseMemObject"), released;
    cl_context context = NULL;
    cl_mem_flags flags = 0;
    size_t size = 0;

    memcpy(&ask, &asking, sizeof ask);
    if (ask(buffer, CL_MEM_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS ||
        ask(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL) != CL_SUCCESS ||
        ask(buffer, CL_MEM_SIZE, sizeof size, &size, NULL) != CL_SUCCESS ||
        (flags & in_host_memory) != 0)
        size = 0;
    FIND_NEXT(clReleaseMemObject);
    released = next(buffer);
    if (released == CL_SUCCESS) {
        atomic_fetch_sub(&live[BUFFERS], 1);
        takes_room(context, -(long)size);
    }
    return error != CL_SUCCESS ? error : released;
}
RELEASE_FUNCTION(clReleaseProgram, cl_program, PROGRAMS)
STATUS_FUNCTION(clBuildProgram,
                (cl_program program, cl_uint count, const cl_device_id *devices,
                 const char *options, program_callback callback, void *data),
                (program, count, devices, options, callback, data))
STATUS_FUNCTION(clGetProgramInfo,
                (cl_program program, cl_program_info what, size_t size, void *value,
                 size_t *length),
                (program, what, size, value, length))
OBJECT_FUNCTION(cl_program, PROGRAMS, clCreateProgramWithBinary,
                (cl_context context, cl_uint count, const cl_device_id *devices,
                 const size_t *lengths, const unsigned char **binaries, cl_int *statuses,
                 cl_int *error),
                (context, count, devices, lengths, binaries, statuses, error))
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
    cl_int failure = intercept("clEnqueueMapBuffer");

    if (failure != CL_SUCCESS) {
        *error = failure;
        return NULL;
    }
    FIND_NEXT(clEnqueueMapBuffer);
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

    FIND_NEXT(clCreateProgramWithSource);
    if (acts("clCreateProgramWithSource", action, &ms)) {
        if (strcmp(action, "broken") == 0 && lengths == NULL && count < MOST_SOURCES) {
            memcpy(more, sources, count * sizeof *sources);
            more[count++] = "\nthis is no OpenCL C\n";
            sources = more;
        } else if (strcmp(action, "hang") == 0) {
            sleep_us(ms * 1000);
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

    FIND_NEXT(clEnqueueNDRangeKernel);
    if (acts("clEnqueueNDRangeKernel", action, &ms)) {
        skips = strcmp(action, "skip") == 0;
        if (strcmp(action, "hang") == 0)
            sleep_us(ms * 1000);
        else if (!skips)
            return (cl_int)strtol(action, NULL, 10);
    }
    error = skips ? clEnqueueMarkerWithWaitList(queue, waits, wait, event)
                  : next(queue, kernel, dimensions, offset, global, local, waits, wait, event);
    if (error == CL_SUCCESS && event != NULL)
        made(EVENTS, *event);
    return error;
}

/* ---- Locks. */

/* Where a function has versions, RTLD_NEXT alone may find the oldest. */
static void *next_of_threads(const char *function)
{
    void *found = NULL;

#ifdef __GLIBC__
    found = dlvsym(RTLD_NEXT, function, "GLIBC_2.3.2");
#endif
    return found != NULL ? found : next_function(function);
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static int (*_Atomic known)(pthread_mutex_t *);
    int (*next)(pthread_mutex_t *) = atomic_load_explicit(&known, memory_order_relaxed);

    if (next == NULL) {
        FIND_NEXT(pthread_mutex_lock);
        atomic_store_explicit(&known, next, memory_order_relaxed);
    }
    delay();
    return next(mutex);
}

/* Who is woken comes late, with the lock. */
EXPORTED int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    int (*next)(pthread_cond_t *, pthread_mutex_t *), result;
    void *found = next_of_threads("pthread_cond_wait");

    memcpy(&next, &found, sizeof next);
    result = next(condition, mutex);
    delay();
    return result;
}

EXPORTED int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                    const struct timespec *deadline)
{
    int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *), result;
    void *found = next_of_threads("pthread_cond_timedwait");

    memcpy(&next, &found, sizeof next);
    result = next(condition, mutex, deadline);
    delay();
    return result;
}
