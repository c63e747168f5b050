/* What one connection's aggregates did, and how each figure is named for the user. */
#ifndef CLR_BASE_STATS_H
#define CLR_BASE_STATS_H

#include "base/status.h"

#include <stdint.h>

/* Why values were reduced on the host. */
enum clr_host_reason {
    CLR_HOST_REMAINDER,       /* the last, partly filled chunk of a group */
    CLR_HOST_BELOW_THRESHOLD, /* too few values of one type in a full chunk */
    CLR_HOST_SETTING,         /* the device setting says host */
    CLR_HOST_NO_DEVICE,       /* no device that the setting allows */
    CLR_HOST_EARLY,           /* too few values so far for auto to start a device */
    CLR_HOST_STARTING,        /* the device or its program is not ready yet */
    CLR_HOST_BUSY,            /* as many chunks in flight as the settings allow */
    CLR_HOST_FAILED,          /* the device failed, or did not answer in time */
    CLR_HOST_FORKED,          /* a child process after fork() */
    CLR_HOST_REASONS
};

/* Owned by a connection and touched by its thread alone. Times are in nanoseconds. */
struct clr_stats {
    int64_t values_fed;
    int64_t chunks_to_device, bytes_to_device, kernels_launched, passes;
    int64_t transfer_time, kernel_time;
    int64_t on_host[CLR_HOST_REASONS];
    int64_t device_errors;
    /* Of accelerated views. scans_streamed are among scans_on_host. */
    int64_t scans_on_device, scans_on_host, scans_streamed, answers_kept, selects_by_rows;
    int64_t blocks_skipped;    /* of 1,024 rows: nothing in them could count */
    int64_t bytes_decoded;     /* read from database files for them */
    int64_t rows_loaded;       /* put into their columns by SQLite itself */
    int64_t entries_evaluated; /* different values for which SQLite evaluated their lookups */
    int64_t leaves_kept, leaves_refreshed; /* of tables that had changed, or might have */
    int64_t malformed_page;                /* the last one found, or 0 */
    struct clr_status last_error;
};

/* Counts a device's failure, for that reason. */
static inline void clr_stats_note_failure(struct clr_stats *stats, const struct clr_status *status)
{
    stats->device_errors++;
    stats->last_error = *status;
}

#endif
