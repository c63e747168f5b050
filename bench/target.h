/* An OpenCL device to measure on. Whatever fails ends the program with the call's name. */
#ifndef CLR_BENCH_TARGET_H
#define CLR_BENCH_TARGET_H

#include "opencl/core/api.h"
#include "options.h"

#include <stdbool.h>
#include <stddef.h>

struct bench_target {
    struct clr_device_info info;
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    size_t largest_buffer, largest_group;
    bool nvidia;
};

void bench_target_open(struct bench_target *target, const struct bench_options *options);
void bench_target_close(struct bench_target *target);

/* Another queue like the first. */
cl_command_queue bench_queue(const struct bench_target *target);

/* Ends the program if error is one. */
void bench_check(cl_int error, const char *call);

cl_mem bench_buffer(const struct bench_target *target, cl_mem_flags flags, size_t size);

/* A buffer with values in it. */
void bench_upload(const struct bench_target *target, cl_mem buffer, const void *values,
                  size_t size);

/* Builds the kernel; returns NULL, after a word on why, if it can't be built and need not be. */
cl_kernel bench_kernel(const struct bench_target *target, const char *const *sources, cl_uint count,
                       const char *name, const char *options, bool needed);

/* Waits for a command; returns the nanoseconds that it took on the device, and releases it. */
int64_t bench_event_time(cl_event event);

#endif
