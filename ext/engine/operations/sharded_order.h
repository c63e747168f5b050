/* The order of a column whose copy is in shards. Any thread may call this. */
#ifndef CLR_ENGINE_SHARDED_ORDER_H
#define CLR_ENGINE_SHARDED_ORDER_H

#include "engine/columns/sharded.h"
#include "engine/operations/resident_order.h"

/*
 * Answers as clr_resident_order() does, of all rows of a column's copy. Of several shards, each of
 * which is sorted by itself on its own device, a rank is found by looking at some keys of each:
 * what lies below and above it is left out, until one is left. What equal keys there are is not
 * known then: if has_runs is true the answer is CLR_SCAN_NOT_NOW.
 */
enum clr_scan_outcome clr_sharded_order(const struct clr_sharded *copy, bool has_runs,
                                        struct clr_order *order, int64_t timeout_ms,
                                        const struct clr_watch *watch, struct clr_device_work *work,
                                        struct clr_status *status);

#endif
