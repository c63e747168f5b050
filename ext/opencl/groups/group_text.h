/* The programs for groups: the part of their text that depends on the plan, and their building. For
   ext/opencl alone. */
#ifndef CLR_OPENCL_GROUP_TEXT_H
#define CLR_OPENCL_GROUP_TEXT_H

#include "numeric/grouping/plan.h"
#include "opencl/core/api.h"
#include "opencl/core/device.h"
#include "opencl/scan/row_text.h"

/* Whether a device takes the plan: its keys' places are the groups, and their records have all that
   is kept. */
bool clr_group_text_fits(const struct clr_group_plan *plan);

/* Returns how many 64-bit words a record has on a device: the plan's, and one more for the first
   row if the order is by that. */
static inline size_t clr_group_device_words(const struct clr_group_plan *plan)
{
    return (size_t)plan->words + plan->grouping.by_first;
}

/* Returns how many of a record's words that are added are no counts of rows: in a work-group those
   take 64 bits, and counts 32. */
int clr_group_wide_words(const struct clr_group_plan *plan);

/* Makes the key of a plan that fits. kinds: those of the scan's columns on the device. */
void clr_group_key(struct clr_row_key *key, const struct clr_group_plan *plan,
                   const uint8_t *kinds);

/* Makes the text of a key, in one part: kernels/groups/grouping.cl follows it. */
void clr_group_text(struct clr_row_text *text, const struct clr_row_key *key);

/*
 * The ways of a grouping: records are in local memory; slices of them are, whose rows
 * kernels/groups/group_tiles.cl has found before; or they are in global memory. And that kernel.
 */
enum clr_group_kernel {
    CLR_GROUP_LOCALLY,
    CLR_GROUP_SORTED,
    CLR_GROUP_GLOBALLY,
    CLR_GROUP_TILES,
    CLR_GROUP_KERNELS
};

/* The bytes of local memory that a work-item takes in kernels/groups/group_records.cl. */
enum { CLR_GROUP_STAGED_BYTES = 4 * sizeof(cl_ulong) + sizeof(cl_uint) };

/* Makes a program's kernels of the text that clr_group_text() has made, for how the device computes
   REALs, and stores how many work-items a work-group has. *log as in clr_program_build(). Returns
   CLR_OK, or CLR_DEVICE. */
enum clr_code clr_group_kernels_build(const char *text, cl_context context,
                                      const struct clr_device_info *info,
                                      cl_kernel kernels[CLR_GROUP_KERNELS], size_t *group_size,
                                      char **log, struct clr_status *status);

#endif
