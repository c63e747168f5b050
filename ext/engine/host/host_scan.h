/* A scan over columns on the host, in as many threads as it is worth. */
#ifndef CLR_ENGINE_HOST_SCAN_H
#define CLR_ENGINE_HOST_SCAN_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"

/* Computes the scan's tallies and answers its questions. watch may be NULL. Returns any outcome but
 * CLR_SCAN_NOT_NOW. */
enum clr_scan_outcome clr_host_scan(struct clr_scan *scan, const struct clr_watch *watch);

/* The same, of the scan's rows from that one on, a multiple of CLR_BLOCK: of a scan with blocks the
   one that many rows of its blocks come before. */
enum clr_scan_outcome clr_host_scan_from(struct clr_scan *scan, size_t first,
                                         const struct clr_watch *watch);

#endif
