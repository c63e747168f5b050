/* Groups of rows whose columns are in a device's memory. */
#ifndef CLR_OPENCL_GROUPER_H
#define CLR_OPENCL_GROUPER_H

#include "numeric/grouping/plan.h"
#include "numeric/grouping/room.h"
#include "opencl/core/device.h"
#include "opencl/memory/resident_column.h"
#include "opencl/reduction/program.h"
#include "opencl/scan/row_text.h"

#include <stdbool.h>

/* A device's programs and buffers for groups; kept from one scan to the next. */
struct clr_grouper;

/* What a device has found: the caller's, who frees the spills with clr_memory_free(). */
struct clr_group_result {
    int64_t *records; /* room for all places, of plan->stride words each */
    struct clr_group_spill *spills;
    size_t spill_count;
    struct clr_group_doubts doubts; /* if there are any, the plan will not do */
};

/* Whether the device takes the plan: its keys' places are the groups, and their records have all
   that is kept, and have room there, as it seems. */
bool clr_grouper_fits(const struct clr_device_info *info, const struct clr_group_plan *plan);

/*
 * Groups the rows of a plan's scan, which fits (clr_grouper_fits()), by the device's copies of
 * its columns, of those kinds, which are not looked at themselves. The result has no spills yet.
 * *outcome: DONE; UNSURE; or NOT_NOW: the result has doubts, or there is no program yet, or can't
 * be. *requested: whether there is one to build. Returns CLR_OK, CLR_NOMEM, or CLR_DEVICE.
 */
enum clr_code clr_grouper_run(struct clr_device *device, const struct clr_group_plan *plan,
                              const uint8_t *kinds, struct clr_resident_column *const *columns,
                              struct clr_group_result *result, enum clr_scan_outcome *outcome,
                              bool *requested, struct clr_device_work *work,
                              struct clr_status *status);

#endif
