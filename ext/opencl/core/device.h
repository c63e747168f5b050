/*
 * An opened device: its context, and what the parts of this floor keep with it. All functions on
 * one device are called by one thread at a time: that of its worker.
 */
#ifndef CLR_OPENCL_DEVICE_H
#define CLR_OPENCL_DEVICE_H

#include "base/stats.h"
#include "base/status.h"
#include "opencl/core/catalog.h"

#include <stdint.h>

/* What a piece of work cost; times in nanoseconds. */
struct clr_device_work {
    int64_t bytes, kernels, passes;
    int64_t transfer_time; /* filling the staging buffer, and the transfers by event profiling */
    int64_t kernel_time;   /* by event profiling */
};

/* Increases work by what was done. */
static inline void clr_device_work_add(struct clr_device_work *work,
                                       const struct clr_device_work *done)
{
    work->bytes += done->bytes;
    work->kernels += done->kernels;
    work->passes += done->passes;
    work->transfer_time += done->transfer_time;
    work->kernel_time += done->kernel_time;
}

/* Adds what was done to a connection's statistics: of so many chunks, or blocks, that were sent. */
static inline void clr_stats_count_work(struct clr_stats *stats, const struct clr_device_work *work,
                                        int64_t chunks)
{
    stats->chunks_to_device += chunks;
    stats->bytes_to_device += work->bytes;
    stats->kernels_launched += work->kernels;
    stats->passes += work->passes;
    stats->transfer_time += work->transfer_time;
    stats->kernel_time += work->kernel_time;
}

struct clr_device;

/* Opens a device. On failure returns CLR_DEVICE or CLR_NOMEM and stores NULL. */
enum clr_code clr_device_open(const struct clr_device_info *info, struct clr_device **device,
                              struct clr_status *status);

/* Returns how many programs this process has taken from those that are kept on disk. Any thread may
   call this. */
int64_t clr_programs_taken(void);

/* Releases everything; nothing may be under way. NULL is fine. */
void clr_device_close(struct clr_device *device);

#endif
