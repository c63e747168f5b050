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

/* Returns the processor time that all of the process's threads have taken, in nanoseconds. */
static inline int64_t clr_clock_process_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

#endif
