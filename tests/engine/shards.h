/* For tests of operations on one device: copies of columns in one shard. */
#ifndef CLR_TESTS_SHARDS_H
#define CLR_TESTS_SHARDS_H

#include "engine/columns/sharded.h"
#include "engine/orders.h"

#include "tap.h"

#include <unistd.h>

/* Waits until the column is on its device, or can't be. */
static inline enum clr_residence shards_settle(const struct clr_sharded *copy)
{
    const int64_t start = clr_clock_ns();
    enum clr_residence state;

    while ((state = clr_sharded_state(copy)) == CLR_RESIDENT_COMING && !orders_late(start))
        usleep(500);
    return state;
}

/* Has a column copied to the worker's device. */
static inline struct clr_sharded *shards_copy(struct clr_worker *worker, struct clr_column *column)
{
    const struct clr_division division = {
        .count = 1, .shards = {{.device = {.worker = worker}, .rows = column->rows}}};
    struct clr_sharded *copy = clr_sharded_new(&division, column);

    if (copy == NULL)
        tap_bail("no memory");
    shards_settle(copy);
    return copy;
}

#endif
