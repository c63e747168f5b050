/* What a sorter is made of, for ext/opencl alone. */
#ifndef CLR_OPENCL_SORTER_PRIVATE_H
#define CLR_OPENCL_SORTER_PRIVATE_H

#include "opencl/core/buffers.h"
#include "opencl/core/module_private.h"
#include "opencl/sort/sorter.h"

#include <stddef.h>

/* As in kernels/columns/sort.cl. KEYS_PER_ITEM: on an H200 8, 12 or 22 lost against 16. */
enum { CLR_SORT_DIGITS = 256, CLR_SORT_DIGIT_BITS = 8, CLR_SORT_LANES = 32 };
enum { CLR_SORT_KEYS_PER_ITEM = 16 };

enum clr_sort_kernel {
    CLR_SORT_BEGIN,
    CLR_SORT_COUNT,
    CLR_SORT_SCAN,
    CLR_SORT_SCATTER,
    CLR_SORT_RUNS,
    CLR_SORT_FIND,
    CLR_SORT_KERNELS
};

struct clr_sorter {
    struct clr_module module;
    /* For CLR_MOST_RANKS ranks or keys each. */
    cl_mem ranks, found;
    struct clr_pinned list; /* what goes to the one and comes from the other */
    /* The sizes that tests change. */
    size_t group_size;  /* work-items of a group, for all kernels; 1 on a CPU device */
    size_t most_groups; /* that are worth having in a launch */
    size_t step_keys;   /* keys of a launch, about, and of a step */
    size_t least_span;  /* keys of a group at least, in whole tiles */
};

/* Returns the keys that a group sorts at a time. */
static inline size_t clr_sorter_tile(const struct clr_sorter *sorter)
{
    return sorter->group_size == 1 ? 1 : sorter->group_size * CLR_SORT_KEYS_PER_ITEM;
}

/* Returns the bytes of local memory in which a group of so many work-items sorts a tile: its
   counters and their masks, an odd number of each for a digit, and later its keys. */
static inline size_t clr_sorter_room(size_t group_size)
{
    const size_t rows = (group_size + CLR_SORT_LANES - 1) / CLR_SORT_LANES;
    const size_t counters = 2 * CLR_SORT_DIGITS * (rows | 1) * sizeof(cl_uint);
    const size_t tile = group_size * CLR_SORT_KEYS_PER_ITEM * sizeof(cl_long);

    return counters > tile ? counters : tile;
}

/*
 * The module's test: sorts INTEGERs of all sizes and hard REALs (both zeros, infinities,
 * subnormals, many that are equal), and compares the order and what is said of their runs with the
 * host's.
 */
enum clr_code clr_sorter_test(struct clr_device *device, struct clr_status *status);

/* Returns the device's, or NULL while it has none. */
static inline struct clr_sorter *clr_sorter_of(const struct clr_device *device)
{
    return clr_device_find(device, &clr_sorter_kind.attachment);
}

#endif
