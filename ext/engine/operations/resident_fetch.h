/* The way back: a column's rows from a device's memory. */
#ifndef CLR_ENGINE_RESIDENT_FETCH_H
#define CLR_ENGINE_RESIDENT_FETCH_H

#include "engine/columns/resident.h"
#include "numeric/scan/scan.h"

/*
 * Makes a column of the host's from a resident of the worker's device that is READY, and stores it
 * with one reference, the caller's. timeout_ms as in clr_worker_await(); watch may be NULL. Returns
 * CLR_SCAN_DONE; CLR_SCAN_NOT_NOW if the resident is not READY or the worker takes nothing;
 * CLR_SCAN_STOPPED; or CLR_SCAN_FAILED with the status: no memory, or a device that failed.
 */
enum clr_scan_outcome clr_resident_fetch(struct clr_worker *worker, struct clr_resident *resident,
                                         int64_t timeout_ms, const struct clr_watch *watch,
                                         struct clr_column **column, struct clr_status *status);

#endif
