/* The way back: a column's rows from the memory of devices. */
#ifndef CLR_ENGINE_SHARDED_FETCH_H
#define CLR_ENGINE_SHARDED_FETCH_H

#include "engine/columns/sharded.h"
#include "numeric/scan/scan.h"

/*
 * Makes a column of the host's from a copy that is READY, of all devices at the same time, and
 * stores it with one reference, the caller's: as narrow as its shards are, or, if these have
 * several frames, as all their values let it be. timeout_ms as in clr_worker_await(); watch may be
 * NULL. Returns CLR_SCAN_DONE; CLR_SCAN_NOT_NOW if the copy is not READY or a worker takes nothing;
 * CLR_SCAN_STOPPED; or CLR_SCAN_FAILED with the status: no memory, or a device that failed.
 */
enum clr_scan_outcome clr_sharded_fetch(const struct clr_sharded *copy, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_column **column,
                                        struct clr_status *status);

#endif
