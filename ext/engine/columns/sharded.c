#include "engine/columns/sharded.h"

#include "base/memory.h"
#include "engine/worker/runtime.h"

#include <stdatomic.h>

struct clr_sharded {
    atomic_int references;
    struct clr_division division;
    struct clr_resident *residents[];
};

static struct clr_sharded *make(const struct clr_division *division)
{
    struct clr_sharded *sharded = clr_memory_alloc_zero(
        sizeof *sharded + (size_t)division->count * sizeof(struct clr_resident *));

    if (sharded == NULL)
        return NULL;
    atomic_init(&sharded->references, 1);
    sharded->division = *division;
    return sharded;
}

struct clr_sharded *clr_sharded_new(const struct clr_division *division, struct clr_column *column)
{
    struct clr_sharded *sharded = make(division);
    int i;

    for (i = 0; sharded != NULL && i < division->count; i++) {
        const struct clr_shard *shard = &division->shards[i];

        sharded->residents[i] =
            clr_resident_new(shard->device.worker, column, shard->first, shard->rows);
        if (sharded->residents[i] == NULL) {
            clr_sharded_release(sharded);
            return NULL;
        }
    }
    return sharded;
}

struct clr_sharded *clr_sharded_change(const struct clr_sharded *before, struct clr_column *column,
                                       const struct clr_row_ranges *ranges)
{
    const struct clr_devices devices = {.count = 1, .list = {before->division.shards[0].device}};
    struct clr_division division;
    struct clr_resident *changed;
    struct clr_sharded *sharded;

    if (before->division.count > 1 || !clr_division_make(&devices, column->rows, &division) ||
        division.count > 1)
        return NULL;
    changed = clr_resident_change(before->residents[0], column, ranges);
    if (changed == NULL)
        return NULL;
    sharded = make(&division);
    if (sharded == NULL)
        clr_resident_free(changed);
    else
        sharded->residents[0] = changed;
    return sharded;
}

struct clr_sharded *clr_sharded_retain(struct clr_sharded *sharded)
{
    if (sharded != NULL)
        atomic_fetch_add(&sharded->references, 1);
    return sharded;
}

void clr_sharded_release(struct clr_sharded *sharded)
{
    int i;

    if (sharded == NULL || atomic_fetch_sub(&sharded->references, 1) > 1)
        return;
    for (i = 0; i < sharded->division.count; i++)
        clr_resident_free(sharded->residents[i]);
    clr_memory_free(sharded);
}

const struct clr_division *clr_sharded_division(const struct clr_sharded *sharded)
{
    return &sharded->division;
}

struct clr_resident *clr_sharded_resident(const struct clr_sharded *sharded, int shard)
{
    return sharded->residents[shard];
}

enum clr_residence clr_sharded_state(const struct clr_sharded *sharded)
{
    enum clr_residence all = CLR_RESIDENT_READY, one;
    int i;

    /* Of all of them, as those that have failed are tried again by being asked. */
    for (i = 0; i < sharded->division.count; i++) {
        one = clr_resident_state(sharded->residents[i]);
        if (one == CLR_RESIDENT_FAILED || all == CLR_RESIDENT_READY)
            all = one;
    }
    return all;
}

bool clr_sharded_has_failed(const struct clr_sharded *sharded)
{
    int i;

    for (i = 0; i < sharded->division.count; i++) {
        if (clr_resident_has_failed(sharded->residents[i]))
            return true;
    }
    return false;
}

bool clr_sharded_is_lost(const struct clr_sharded *sharded)
{
    int i;

    if (clr_runtime_forked())
        return true;
    for (i = 0; i < sharded->division.count; i++) {
        if (clr_worker_has_failed(sharded->division.shards[i].device.worker))
            return true;
    }
    return false;
}

bool clr_sharded_is_shared(const struct clr_sharded *sharded)
{
    int i;

    for (i = 0; i < sharded->division.count; i++) {
        if (!clr_resident_is_shared(sharded->residents[i]))
            return false;
    }
    return true;
}

bool clr_sharded_lends(const struct clr_sharded *sharded)
{
    return atomic_load(&sharded->references) == 1 && sharded->division.count == 1 &&
           clr_resident_lends(sharded->residents[0]);
}

size_t clr_sharded_size(const struct clr_sharded *sharded, const struct clr_worker *worker)
{
    size_t size = 0;
    int i;

    for (i = 0; i < sharded->division.count; i++) {
        if (worker == NULL || sharded->division.shards[i].device.worker == worker)
            size += clr_resident_size(sharded->residents[i]);
    }
    return size;
}

size_t clr_sharded_cost(const struct clr_division *division, const struct clr_column *column,
                        const struct clr_worker *worker)
{
    size_t size = 0;
    int i;

    for (i = 0; i < division->count; i++) {
        if (division->shards[i].device.worker == worker)
            size += clr_resident_cost(worker, column, division->shards[i].rows);
    }
    return size;
}
