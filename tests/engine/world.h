/* The columns of scans.h and their copies on a device. For tests of copies and of scans over them.
 */
#ifndef CLR_TESTS_WORLD_H
#define CLR_TESTS_WORLD_H

#include "engine/shards.h"
#include "numeric/scans.h"

#include "tap.h"

#include <stdatomic.h>

struct world {
    struct clr_column *columns[SCANS_COLUMNS];
    struct clr_sharded *copies[SCANS_COLUMNS];
};

/* Whether the worker's device has the host's columns themselves. */
static inline bool world_shares(const struct clr_worker *worker)
{
    return clr_worker_info(worker)->shared_alignment > 0;
}

/* bytes: of the values of the columns that are to be narrow, those of INTEGERs, of REALs and of
   several types; 0: none. */
static inline void world_open(struct world *world, struct clr_worker *worker, size_t rows,
                              uint8_t bytes)
{
    int i, ready = 0;

    scans_columns(world->columns, rows);
    for (i = 0; i < 3 && bytes > 0; i++)
        scans_narrow(&world->columns[i], bytes);
    for (i = 0; i < SCANS_COLUMNS; i++) {
        world->copies[i] = shards_copy(worker, world->columns[i]);
        ready += clr_sharded_state(world->copies[i]) == CLR_RESIDENT_READY;
    }
    tap_ok(ready == SCANS_COLUMNS, "columns of %zu rows, %d bytes, are on the device", rows, bytes);
    for (i = 0; i < 3 && bytes > 0; i++)
        tap_is_int64((int64_t)clr_sharded_size(world->copies[i], NULL),
                     world_shares(worker) ? 0 : (int64_t)rows * (bytes + (i == 2)), "bytes there");
    tap_is_int64(atomic_load(&world->columns[0]->references), 1 + world_shares(worker),
                 world_shares(worker) ? "and are used here" : "and are no longer needed here");
}

static inline void world_close(struct world *world)
{
    int i;

    for (i = 0; i < SCANS_COLUMNS; i++) {
        clr_sharded_release(world->copies[i]);
        clr_column_release(world->columns[i]);
    }
}

#endif
