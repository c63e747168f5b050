/* Operations on columns that lie in devices' memory. Any thread may call these. */
#ifndef CLR_ENGINE_RESIDENT_H
#define CLR_ENGINE_RESIDENT_H

#include "engine/columns/copies.h"
#include "numeric/bins/bins.h"
#include "numeric/grouping/part.h"
#include "numeric/scan/scan.h"

#include <stddef.h>
#include <stdint.h>

/* What devices that have copies of a scan's columns are asked with, all at the same time, and what
   comes of it. */
struct clr_device_scan {
    const struct clr_division *division;
    struct clr_sharded *const *copies; /* of each column, of this division and READY */
    int64_t timeout_ms;            /* as in clr_worker_await(): then a device counts as failed */
    const struct clr_watch *watch; /* may be NULL */
    struct clr_device_work work;   /* increased by what was done */
    struct clr_status status;      /* why a device failed, if one has */
    enum clr_scan_outcome outcome;
};

/*
 * If a program that is needed has not been built yet, it is built in the background and the answer
 * is CLR_SCAN_NOT_NOW. These return the outcome: CLR_SCAN_DONE, CLR_SCAN_NOT_NOW, CLR_SCAN_STOPPED,
 * or CLR_SCAN_FAILED with the status; and what else is said.
 */

/*
 * Computes the scan's tallies, and counts the bins of its questions, which are all CLR_ASK_BINS.
 * What the scan's lookups have is copied to the devices as well, unless it is there from an earlier
 * scan. Also returns CLR_SCAN_UNSURE. The answer is always CLR_SCAN_NOT_NOW where a histogram is of
 * less than a whole column of INTEGERs or of REALs, has more bins than there are rows, or takes
 * more than the scan's values_memory.
 */
enum clr_scan_outcome clr_resident_scan(struct clr_device_scan *asked, struct clr_scan *scan);

/* Groups all rows of the parts' plan: those of each shard into a part, which it opens, and which
   begins with the shard's first row. Also returns CLR_SCAN_UNSURE, CLR_SCAN_LIMIT, or
   CLR_SCAN_NOT_NOW: the plan will not do, and a part has doubts; or threads are to do it. Unless it
   is CLR_SCAN_DONE, the parts are of no use. */
enum clr_scan_outcome clr_resident_group(struct clr_device_scan *asked,
                                         struct clr_group_part *const *parts);

/*
 * Counts the values of the one column, whose shards are each INTEGERs or REALs alone, by bins:
 * counts has room for bins->count + 2, of what is below, of each bin, of what is above. The answer
 * is CLR_SCAN_NOT_NOW while the copy is not READY, too, and CLR_SCAN_FAILED also if the column is
 * not of one type (CLR_INVALID). counts are defined after CLR_SCAN_DONE only.
 */
enum clr_scan_outcome clr_resident_bins(struct clr_device_scan *asked, const struct clr_bins *bins,
                                        uint64_t *counts);

/* Returns the bytes on the host that so many bins take meanwhile for a shard. */
size_t clr_resident_bins_memory(const struct clr_bins *bins);

#endif
