/* What a sorter is made of, for ext/opencl alone. */
#ifndef CLR_OPENCL_SORTER_PRIVATE_H
#define CLR_OPENCL_SORTER_PRIVATE_H

#include "opencl/core/buffers.h"
#include "opencl/core/module_private.h"
#include "opencl/sort/sorter.h"

#include <stddef.h>

/* As in kernels/sort.cl. KEYS_PER_ITEM: what lets as many groups as a GPU's multiprocessor has
   work-items for share its local memory. */
enum { CLR_SORT_DIGITS = 256, CLR_SORT_DIGIT_BITS = 8, CLR_SORT_NIBBLES = 16 };
enum { CLR_SORT_KEYS_PER_ITEM = 7 };

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
    size_t step_keys;   /* keys of a launch, about: what somebody may have to wait for */
    size_t least_span;  /* keys of a group at least, in whole tiles */
};

/* Returns the keys that a group sorts at a time. */
static inline size_t clr_sorter_tile(const struct clr_sorter *sorter)
{
    return sorter->group_size == 1 ? 1 : sorter->group_size * CLR_SORT_KEYS_PER_ITEM;
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
