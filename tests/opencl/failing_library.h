/* The library that makes OpenCL fail, tests/opencl/failing-opencl.c, which a test has preloaded. */
#ifndef CLR_TESTS_FAILING_LIBRARY_H
#define CLR_TESTS_FAILING_LIBRARY_H

#include "tap.h"

#include <dlfcn.h>
#include <string.h>

static void (*set_rule)(const char *);
static long (*seen)(long *);
static long (*live)(int);
static long (*set_room)(long);

/* Finds its functions. */
static inline void find_library(void)
{
    void *found[] = {
        dlsym(RTLD_DEFAULT, "failing_opencl_set"), dlsym(RTLD_DEFAULT, "failing_opencl_seen"),
        dlsym(RTLD_DEFAULT, "failing_opencl_live"), dlsym(RTLD_DEFAULT, "failing_opencl_room")};

    TAP_NEED(found[0] != NULL && found[1] != NULL && found[2] != NULL && found[3] != NULL,
             "the library is not preloaded");
    memcpy(&set_rule, &found[0], sizeof set_rule);
    memcpy(&seen, &found[1], sizeof seen);
    memcpy(&live, &found[2], sizeof live);
    memcpy(&set_room, &found[3], sizeof set_room);
}

#endif
