/* Rows that groups take without running their block: all of one group, and runs of rows beside each
   other, by what is kept of their keys and values. */
#ifndef CLR_NUMERIC_GROUP_RUNS_H
#define CLR_NUMERIC_GROUP_RUNS_H

#include "numeric/grouping/addends.h"

/* Whether keys are plain: numbers are places, and keys are columns and lookups, so that what is
   kept of a row tells its group. The block need not have run. */
bool clr_group_has_plain_keys(const struct clr_group_plan *plan, const struct clr_block *block);

/* Stores the number of the group of which all rows of a block are, as zones tell. Returns false if
   they do not. Keys are plain. */
bool clr_group_find_only(const struct clr_group_plan *plan, const struct clr_block *block,
                         uint64_t *number);

/*
 * Takes the long runs of a block into the records, of all places and plan->stride words each, and
 * stores which rows are left, and how many. Returns false if it takes none. Keys are plain. A run
 * that has most of the rows is what the others leave of the block, if zones tell of that: its
 * values need not be loaded.
 */
bool clr_group_take_runs(const struct clr_group_plan *plan, struct clr_group_addends *addends,
                         int64_t *records, const struct clr_block *block, uint64_t *left,
                         size_t *count);

#endif
