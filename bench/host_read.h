/* The plain, inexact sum of doubles on the host: how fast its memory can be read at all. */
#ifndef CLR_BENCH_HOST_READ_H
#define CLR_BENCH_HOST_READ_H

#include "measure.h"

#include <stddef.h>
#include <stdint.h>

struct bench_host_read {
    const double *values;
    size_t count;
    int threads;
};

/* How many threads may run at a time. */
int bench_host_threads(void);

/* bench_case's run, with a struct bench_host_read: every thread reads a share, in vectors. */
int64_t bench_host_read(void *argument);

/* As bench_host_read(), for the loop that a textbook writes: one thread, one value at a time. */
int64_t bench_host_plain_loop(void *argument);

/* The sums that the loops find; kept, so that no compiler leaves them out. */
extern volatile double bench_host_sink;

#endif
