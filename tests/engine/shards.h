/* For tests of operations on devices: columns, and copies of them in one shard. */
#ifndef CLR_TESTS_SHARDS_H
#define CLR_TESTS_SHARDS_H

#include "base/clock.h"
#include "base/memory.h"
#include "engine/columns/copies.h"
#include "numeric/scans.h"
#include "random.h"

#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

enum { SHARDS_TIMEOUT_MS = 60000 };

static inline bool shards_late(int64_t start)
{
    return clr_clock_ns() - start > (int64_t)SHARDS_TIMEOUT_MS * 1000000;
}

/* A column without NULLs, of which many are equal. */
static inline struct clr_column *shards_column(uint8_t kind, size_t rows)
{
    struct clr_column *column = scans_column(kind, rows, 0);
    size_t i;

    for (i = 0; i < rows; i += 1 + (size_t)random_below(3))
        column->values[i] = kind == CLR_TAG_REAL ? scans_bits(random_below(2) ? -0.0 : 0.0)
                                                 : (int64_t)random_below(100);
    return column;
}

/* Waits until the column is on its device, or can't be. */
static inline enum clr_residence shards_settle(const struct clr_sharded *copy)
{
    const int64_t start = clr_clock_ns();
    enum clr_residence state;

    while ((state = clr_sharded_state(copy)) == CLR_RESIDENT_COMING && !shards_late(start))
        usleep(500);
    return state;
}

/* Starts copying a column to the worker's device. */
static inline struct clr_sharded *shards_begin(struct clr_worker *worker, struct clr_column *column)
{
    const struct clr_division division = {
        .count = 1, .shards = {{.device = {.worker = worker}, .rows = column->rows}}};
    struct clr_sharded *copy = clr_sharded_new(&division, column);

    if (copy == NULL)
        tap_bail("no memory");
    return copy;
}

/* Has a column copied there. */
static inline struct clr_sharded *shards_copy(struct clr_worker *worker, struct clr_column *column)
{
    struct clr_sharded *copy = shards_begin(worker, column);

    shards_settle(copy);
    return copy;
}

#endif
