/* The part of a program for groups that depends on their plan, and what the program finds. Needs no
   OpenCL. */
#ifndef CLR_OPENCL_GROUP_TEXT_H
#define CLR_OPENCL_GROUP_TEXT_H

#include "numeric/grouping/plan.h"
#include "numeric/grouping/room.h"
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

/* What a device has found: the caller's, who frees the spills with clr_memory_free(). */
struct clr_group_result {
    int64_t *records; /* room for all places, of clr_group_device_words() each */
    struct clr_group_spill *spills;
    size_t spill_count;
    bool is_doubtful; /* the plan will not do, as the doubts say */
    struct clr_group_doubts doubts;
};

#endif
