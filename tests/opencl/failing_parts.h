/* What the files of failing-opencl.so, a library to be preloaded, share. */
#ifndef CLR_TESTS_FAILING_PARTS_H
#define CLR_TESTS_FAILING_PARTS_H

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* Returns the next function of that name, which the library's own stands in front of. */
static inline void *failing_next(const char *function)
{
    void *found = dlsym(RTLD_NEXT, function);

    if (found == NULL) {
        fprintf(stderr, "failing-opencl: there is no %s\n", function);
        abort();
    }
    return found;
}

/* Data pointers are no function pointers in C; POSIX says that their bits are. */
#define FAILING_NEXT(function)                                                                     \
    do {                                                                                           \
        void *found_ = failing_next(#function);                                                    \
        memcpy(&next, &found_, sizeof next);                                                       \
    } while (0)

/* The rule by which calls fail: whether this call of the function is to act; its action then, and
   for how many milliseconds it hangs. Any call is delayed. */
bool failing_rule_acts(const char *function, char action[32], long *ms);

/* Returns the error that the call has to return instead of being passed on, or CL_SUCCESS. */
cl_int failing_rule_intercept(const char *function);

/*
 * The room of devices: the bytes of the buffers that a context may have, those apart that lie in
 * memory of the host's. What does not fit fails with CL_MEM_OBJECT_ALLOCATION_FAILURE. Takes so
 * many bytes of it, which may be less than none. Returns whether there was room for them.
 */
bool failing_room_takes(cl_context context, long bytes);

/*
 * CLR_DELAYS=SEED in the environment has calls of OpenCL's, and of pthread_mutex_lock() and its
 * like, wait now and then for a random time, to shake out what depends on their order. The numbers
 * that a thread draws depend on the seed and on how many threads have drawn before it. Waits so,
 * if at all.
 */
void failing_delay(void);

/* Waits for so many microseconds. */
void failing_sleep(long us);

#endif
