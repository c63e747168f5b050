/* Monotonic time, for statistics and time limits. */
#ifndef CLR_BASE_CLOCK_H
#define CLR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns nanoseconds since an arbitrary point; never goes back. */
static inline int64_t clr_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#endif
