/* For a preloaded library: the functions that its own stand in front of. */
#ifndef CLR_TESTS_FAILING_NEXT_H
#define CLR_TESTS_FAILING_NEXT_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* Returns the next function of that name. */
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

#endif
