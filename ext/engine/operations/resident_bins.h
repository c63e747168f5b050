/* Histograms of columns that lie in a device's memory. All functions may be called by any
   thread. */
#ifndef CLR_ENGINE_RESIDENT_BINS_H
#define CLR_ENGINE_RESIDENT_BINS_H

#include "engine/columns/sharded.h"
#include "numeric/bins/bins.h"
#include "numeric/scan/scan.h"

/*
 * Counts the values of a column's copy, whose shards are each INTEGERs or REALs alone, by bins, on
 * all of its devices at the same time: counts has room for bins->count + 2, of what is below, of
 * each bin, of what is above. If the kernels have not been built yet, they are in the background,
 * and the answer is CLR_SCAN_NOT_NOW, as it is while the copy is not READY. timeout_ms as in
 * clr_worker_collect(); after it a device counts as failed. watch may be NULL. work is increased
 * by what was done. Returns CLR_SCAN_DONE, CLR_SCAN_NOT_NOW, CLR_SCAN_STOPPED, or CLR_SCAN_FAILED
 * with the status: no column of one type (CLR_INVALID); no memory on the host or the device;
 * kernels that cannot be built or do not pass their test; or a device that failed. counts are
 * defined after CLR_SCAN_DONE only.
 */
enum clr_scan_outcome clr_resident_bins(const struct clr_sharded *copy, const struct clr_bins *bins,
                                        uint64_t *counts, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_device_work *work,
                                        struct clr_status *status);

/*
 * As clr_resident_scan(), for a scan whose questions are all CLR_ASK_BINS: the tallies are
 * computed, and the bins counted. The answer is CLR_SCAN_NOT_NOW until the kernels are there, and
 * always where a histogram is of less than a whole column of INTEGERs or of REALs, has more bins
 * than there are rows, or takes more than the scan's values_memory.
 */
enum clr_scan_outcome clr_resident_histograms(const struct clr_division *division,
                                              struct clr_scan *scan,
                                              struct clr_sharded *const *copies, int64_t timeout_ms,
                                              const struct clr_watch *watch,
                                              struct clr_device_work *work,
                                              struct clr_status *status);

/* Returns the bytes on the host that so many bins take meanwhile for a shard. */
size_t clr_resident_bins_memory(const struct clr_bins *bins);

#endif
