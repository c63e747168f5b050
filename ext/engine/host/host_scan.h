/* Scans over columns on the host, in as many threads as they are worth. */
#ifndef CLR_ENGINE_HOST_SCAN_H
#define CLR_ENGINE_HOST_SCAN_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"

/* Computes the scan's tallies and answers its questions. watch may be NULL. Returns any outcome but
 * CLR_SCAN_NOT_NOW. */
enum clr_scan_outcome clr_host_scan(struct clr_scan *scan, const struct clr_watch *watch);

/*
 * Gives a scan over whole columns the blocks that are left and their rows, where zones tell that
 * some can be left out. The list, scan->blocks, is the caller's to free when the scan is done. The
 * first scan that could use a column's zones takes note of that alone, and the next one makes them,
 * in threads, unless the watch, which may be NULL, wants a stop. *made: whether columns take more
 * memory now. Without memory the scan stays as it is.
 */
void clr_host_skip(struct clr_scan *scan, const struct clr_watch *watch, bool *made);

#endif
