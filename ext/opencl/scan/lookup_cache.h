/* The results of lookups in a device's memory: those used last. For ext/opencl alone. */
#ifndef CLR_OPENCL_LOOKUP_CACHE_H
#define CLR_OPENCL_LOOKUP_CACHE_H

#include "numeric/scan/scan.h"
#include "opencl/core/api.h"
#include "opencl/core/device.h"

#include <stddef.h>
#include <stdint.h>

/* Results that are there. */
struct clr_kept_lookup {
    uint64_t id;              /* theirs; 0: nothing is kept here */
    struct clr_lookup lookup; /* of few entries, with a reference to the results; else zeros */
    cl_mem values;            /* a byte each if they are short; NULL: the kind says all */
    cl_mem tags;              /* of CLR_TAG_MIXED */
    size_t size;              /* bytes of both */
    uint64_t used;            /* by which scan, last */
};

/* Room for those of any one scan. Zeroed by its owner at first. */
struct clr_lookup_cache {
    struct clr_kept_lookup kept[CLR_MOST_LOOKUPS];
    uint64_t scan; /* the number of the one that asks */
};

/*
 * Brings a scan's lookups to the device, by commands of that queue, which is in order: the same
 * results are not sent again. Stores where each is, for as long as nothing else is brought. Adds
 * the bytes that were sent to work. Returns CLR_OK; CLR_NOMEM without room for them, or when it
 * failed for now; or CLR_DEVICE.
 */
enum clr_code clr_lookup_cache_bring(struct clr_lookup_cache *cache, struct clr_device *device,
                                     cl_command_queue queue, const struct clr_scan *scan,
                                     const struct clr_kept_lookup *found[CLR_MOST_LOOKUPS],
                                     struct clr_device_work *work, struct clr_status *status);

/* Gives back all of it. */
void clr_lookup_cache_clear(struct clr_lookup_cache *cache);

#endif
