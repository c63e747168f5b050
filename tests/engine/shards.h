/* For tests of operations on devices: workers, columns, copies of them in one shard, and scans. */
#ifndef CLR_TESTS_SHARDS_H
#define CLR_TESTS_SHARDS_H

#include "engine/columns/copies.h"
#include "engine/worker/worker.h"
#include "numeric/scans.h"

enum { SHARDS_TIMEOUT_MS = 60000 };

/* Starts a worker of the device, or of a variant of it. It lives as long as the process, and ends
   before the driver's globals go: amid a build that would end the process in some other way. */
struct clr_worker *workers_start(const struct clr_device_info *info);

/* Returns what is left of a column's bytes as those of the worker's device: none, if it has the
   host's columns themselves. */
size_t workers_own(const struct clr_worker *worker, size_t bytes);

/* Whether it has. */
bool workers_share(const struct clr_worker *worker);

/* Whether it is SHARDS_TIMEOUT_MS since then, in nanoseconds of clr_clock_ns(). */
bool shards_late(int64_t start);

/* A column without NULLs, of which many are equal. */
struct clr_column *shards_column(uint8_t kind, size_t rows);

/* Waits until the column is on its device, or can't be. */
enum clr_residence shards_settle(const struct clr_sharded *copy);

/* Starts copying a column to the worker's device. */
struct clr_sharded *shards_begin(struct clr_worker *worker, struct clr_column *column);

/* Has a column copied there. */
struct clr_sharded *shards_copy(struct clr_worker *worker, struct clr_column *column);

/* Scans once, in the division of the first copy; a failure is described in the log. */
enum clr_scan_outcome shards_scan_once(struct clr_scan *scan, struct clr_sharded *const *copies,
                                       struct clr_device_work *work);

/* Scans until the device has what it needs. */
enum clr_scan_outcome shards_scan(struct clr_scan *scan, struct clr_sharded *const *copies);

/* The columns of scans.h and their copies on a device. */
struct world {
    struct clr_column *columns[SCANS_COLUMNS];
    struct clr_sharded *copies[SCANS_COLUMNS];
};

/* bytes: of the values of the columns that are to be narrow, those of INTEGERs, of REALs and of
   several types; 0: none. */
void world_open(struct world *world, struct clr_worker *worker, size_t rows, uint8_t bytes);
void world_close(struct world *world);

#endif
