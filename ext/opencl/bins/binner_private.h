/* What a binner is made of, for ext/opencl alone. */
#ifndef CLR_OPENCL_BINNER_PRIVATE_H
#define CLR_OPENCL_BINNER_PRIVATE_H

#include "opencl/bins/binner.h"
#include "opencl/core/buffers.h"
#include "opencl/core/module_private.h"

#include <stdbool.h>
#include <stddef.h>

enum clr_bin_kernel { CLR_BINS_IN_GROUP, CLR_BINS_IN_MEMORY, CLR_BIN_KERNELS };

/* Memory for a number of slots. */
struct clr_bin_room {
    size_t slots;
    cl_mem firsts, counts;    /* 8 and 4 bytes for each */
    struct clr_pinned pinned; /* the host's side of both: */
    int64_t *sent;            /* the first keys that firsts has */
    cl_uint *found;           /* counts, as they come back */
};

struct clr_binner {
    struct clr_module module; /* its queue is in order */
    struct clr_bin_room room; /* for the most that has been asked, and what comes next */
    size_t sent;              /* how many first keys the device has: those of the last question */
    bool clean;               /* all counts on the device are 0 */
    /* The sizes that tests change. */
    size_t group_size;    /* work-items of a group */
    size_t most_groups;   /* that are worth having in a launch */
    size_t most_copies;   /* of a group's counters */
    size_t local_memory;  /* bytes that a group may use */
    uint64_t most_values; /* of a launch: counts have 32 bits */
};

/* Releases a room's memory, which is mapped in that queue. */
void clr_bin_room_release(cl_command_queue queue, struct clr_bin_room *room);

/*
 * The module's test: counts INTEGERs and hard REALs by few bins and by more than a group's memory
 * has room for, with and without a guess, in several launches, and compares the counts with the
 * host's.
 */
enum clr_code clr_binner_test(struct clr_device *device, struct clr_status *status);

/* Returns the device's, or NULL while it has none. */
static inline struct clr_binner *clr_binner_of(const struct clr_device *device)
{
    return clr_device_find(device, &clr_binner_kind.attachment);
}

#endif
