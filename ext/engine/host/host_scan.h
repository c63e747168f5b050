/* A scan over columns on the host, in as many threads as it is worth. */
#ifndef CLR_ENGINE_HOST_SCAN_H
#define CLR_ENGINE_HOST_SCAN_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"

/* Computes the scan's tallies and answers its questions. watch may be NULL. Returns any outcome but
 * CLR_SCAN_NOT_NOW. */
enum clr_scan_outcome clr_host_scan(struct clr_scan *scan, const struct clr_watch *watch);

#endif
