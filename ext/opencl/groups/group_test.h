/*
 * The examination of a program for groups before it is trusted: it groups the rows of small
 * columns, and what it finds is compared with what the host finds. For ext/opencl alone.
 */
#ifndef CLR_OPENCL_GROUP_TEST_H
#define CLR_OPENCL_GROUP_TEST_H

#include "opencl/core/device.h"
#include "opencl/groups/group_text.h"
#include "opencl/memory/resident_column.h"

/* What a program computes: a plan, and the scan that it is for, as they are kept until the program
   is built. */
struct clr_group_trial;

/* Returns a copy of what the plan, which fits, needs, or NULL without memory. */
struct clr_group_trial *clr_group_trial_new(const struct clr_group_plan *plan,
                                            const uint8_t *kinds);

/* NULL is fine. */
void clr_group_trial_free(struct clr_group_trial *trial);

/* The plan, and the kinds of the columns. */
const struct clr_group_plan *clr_group_trial_plan(const struct clr_group_trial *trial);
const uint8_t *clr_group_trial_kinds(const struct clr_group_trial *trial);

/* How a trial has its program run, in each of several ways. */
struct clr_group_run {
    void *context;
    int ways;
    /* As clr_grouper_run(), in that way. */
    enum clr_code (*run)(void *context, int way, const struct clr_group_plan *plan,
                         struct clr_resident_column *const *columns,
                         struct clr_group_result *result, enum clr_scan_outcome *outcome,
                         struct clr_status *status);
};

/*
 * Has the program group hard values, common ones of several mixtures of types, what is no number,
 * and errors that lookups have. Where the host's plan will not do, that of the device has to say so
 * too. Returns CLR_OK; CLR_NOMEM; or CLR_DEVICE with a message: without an error of OpenCL's in the
 * status a result differs.
 */
enum clr_code clr_group_test(struct clr_device *device, struct clr_group_trial *trial,
                             const struct clr_group_run *run, struct clr_status *status);

#endif
