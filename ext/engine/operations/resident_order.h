/*
 * The order of a column that lies in a device's memory: a sorted copy of it, made there in the
 * background when somebody first asks, and kept for as long as the column. All functions may be
 * called by any thread.
 */
#ifndef CLR_ENGINE_RESIDENT_ORDER_H
#define CLR_ENGINE_RESIDENT_ORDER_H

#include "engine/columns/resident.h"
#include "opencl/sort/sorted_column.h"

/*
 * What is asked, and the answer. Keys are INTEGERs as they are, and of REALs clr_real_to_key()
 * (numeric/values/value.h), which is its own inverse; their order is that of signed integers.
 */
struct clr_order {
    int rank_count;                 /* 0 to CLR_MOST_RANKS */
    uint64_t ranks[CLR_MOST_RANKS]; /* 0: the least key; each is below the number of rows */
    int64_t keys[CLR_MOST_RANKS];   /* the keys of those ranks */
    struct clr_runs runs;           /* what equal keys there are, whatever is asked */
};

/*
 * Answers from the sorted copy of a resident of the worker's device, whose column is INTEGERs or
 * REALs alone. If there is none yet, it is made in the background, in short steps between which
 * the worker serves its other jobs, after the kernels have been built if need be: the answer is
 * CLR_SCAN_NOT_NOW, as it is while the resident itself is not READY. timeout_ms as in
 * clr_worker_collect(); after it the device counts as failed. watch may be NULL. work is increased
 * by what was done, with the first answer by what sorting cost. Returns CLR_SCAN_DONE,
 * CLR_SCAN_NOT_NOW, CLR_SCAN_STOPPED, or CLR_SCAN_FAILED with the status: a question that has no
 * answer (CLR_INVALID); no memory for it on the host; no memory to have it sorted (on the device,
 * twice that of the column), which is tried again after some askings; or, which is final for this
 * resident, kernels that cannot be built or do not pass their test, or a device that failed.
 */
enum clr_scan_outcome clr_resident_order(struct clr_worker *worker, struct clr_resident *resident,
                                         struct clr_order *order, int64_t timeout_ms,
                                         const struct clr_watch *watch,
                                         struct clr_device_work *work, struct clr_status *status);

#endif
