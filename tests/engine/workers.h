/* Workers of tests that make several, each with a variant of the device. */
#ifndef CLR_TESTS_WORKERS_H
#define CLR_TESTS_WORKERS_H

#include "engine/worker/thread.h"
#include "engine/worker/worker.h"

#include "tap.h"

enum { WORKERS_MOST = 64, WORKERS_END_MS = 60000 };

/* They live as long as the process, and end before the driver's globals go: amid a build that would
   end the process in some other way. */
static struct clr_worker *workers[WORKERS_MOST];
static int workers_count;

/* Returns what is left of a column's bytes as those of the worker's device: none, if it shares
 * them. */
static inline size_t workers_own(const struct clr_worker *worker, size_t bytes)
{
    return clr_worker_info(worker)->shared_alignment > 0 ? 0 : bytes;
}

static inline void workers_end(void)
{
    while (workers_count > 0)
        clr_worker_stop(workers[--workers_count], WORKERS_END_MS);
}

static inline struct clr_worker *workers_start(const struct clr_device_info *info)
{
    struct clr_status status;
    struct clr_worker *worker;

    if (workers_count == 0)
        clr_exit_guard(workers_end);
    clr_status_clear(&status);
    worker = workers_count < WORKERS_MOST ? clr_worker_start(info, &status) : NULL;
    if (worker == NULL)
        tap_bail("no worker: %s", status.message);
    workers[workers_count++] = worker;
    return worker;
}

#endif
