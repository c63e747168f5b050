/*
 * What kernels that evaluate a row's expressions are given: columns, constants, and the results of
 * lookups, of which those used last stay in the device's memory. For ext/opencl alone.
 */
#ifndef CLR_OPENCL_ROW_ARGUMENTS_H
#define CLR_OPENCL_ROW_ARGUMENTS_H

#include "numeric/scan/scan.h"
#include "opencl/core/api.h"
#include "opencl/core/calls.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"
#include "opencl/scan/row_text.h"

#include <stddef.h>
#include <stdint.h>

/* ---- Lookups. */

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

/* ---- Arguments. */

/* So many arguments at most. */
enum {
    CLR_MOST_ROW_ARGUMENTS =
        5 * CLR_MOST_COLUMNS + 2 * CLR_MOST_LOOKUPS + CLR_MOST_SCAN_INSTRUCTIONS
};

/*
 * Stores what the generated text calls ROW_FORMALS in list, which has room for
 * CLR_MOST_ROW_ARGUMENTS: those of the scan, whose columns and lookups are there. They point to
 * these and to the scan's constants. Returns how many they are.
 */
cl_uint clr_row_arguments_list(const struct clr_row_arguments *arguments,
                               const struct clr_scan *scan,
                               struct clr_resident_column *const *columns,
                               const struct clr_kept_lookup *const *lookups,
                               struct clr_argument *list);

#endif
