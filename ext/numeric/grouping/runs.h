/* Rows that groups take without running their block: all of one group, by zones, and runs of rows
   beside each other, by the sums of what is kept of their values. */
#ifndef CLR_NUMERIC_GROUP_RUNS_H
#define CLR_NUMERIC_GROUP_RUNS_H

#include "numeric/scan/block.h"

/*
 * What take_zones of struct clr_taking does, for a struct clr_group_part that has begun. It takes
 * rows only where the plan numbers groups directly, by keys that are columns and lookups.
 */
bool clr_group_part_take_zones(void *part, const struct clr_block *block, uint64_t *left,
                               size_t *count);

#endif
