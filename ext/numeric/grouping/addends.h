/* What the rows of a block add to their groups: a value for each word of a record. */
#ifndef CLR_NUMERIC_GROUP_ADDENDS_H
#define CLR_NUMERIC_GROUP_ADDENDS_H

#include "numeric/grouping/group_loops.h"
#include "numeric/grouping/plan.h"
#include "numeric/grouping/room.h"

struct clr_group_addends {
    const struct clr_group_plan *plan;
    const struct clr_group_loops *loops;
    struct clr_group_memory *memory;
    size_t rows;                  /* that there will be at most */
    const int64_t **words;        /* for each word the values of a block's rows; of word 0 NULL, if
                                     they are 1 */
    int64_t *own;                 /* room for them, and for one more */
    int64_t *of_block, *of_run;   /* for each word what all of their rows add to it */
    struct clr_group_list *lists; /* CLR_LISTS for each tally */
    int list_count;
    struct clr_group_spills spills;
    size_t spilled[CLR_MOST_TALLIES]; /* by their windows */
    struct clr_group_doubts *doubts;  /* the owner's */
};

/* Begins without rows. Returns CLR_SCAN_DONE or CLR_SCAN_FAILED; clr_group_addends_free() is due
   after both. */
enum clr_scan_outcome clr_group_addends_init(struct clr_group_addends *addends,
                                             const struct clr_group_plan *plan,
                                             struct clr_group_memory *memory, size_t rows,
                                             struct clr_group_doubts *doubts);
void clr_group_addends_free(struct clr_group_addends *addends);

/*
 * Finds the words for the selected rows of the block, which has run, and lists what is to be
 * listed; numbers are those of the rows' groups. Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE,
 * CLR_SCAN_LIMIT, or CLR_SCAN_FAILED without memory. Where a tally is not as planned, a doubt is
 * noted, and what there is then is of no use.
 */
enum clr_scan_outcome clr_group_addends_find(struct clr_group_addends *addends,
                                             struct clr_block *block, const uint64_t *selected,
                                             const uint32_t *numbers);

/* Returns what all rows of a block, which has not run, add to a record, as zones tell of them, or
   NULL if they do not tell all. The words are the addends', until the next call. */
const int64_t *clr_group_addends_of_block(struct clr_group_addends *addends,
                                          const struct clr_block *block);

/* Whether the sums of what is kept of values tell what rows beside each other add. */
bool clr_group_addends_tell_runs(const struct clr_group_addends *addends,
                                 const struct clr_block *block);

/* Returns what count rows of such a block add, from row `first` of the columns on, as above; or
   NULL if a sum has too many digits. */
const int64_t *clr_group_addends_of_run(struct clr_group_addends *addends,
                                        const struct clr_block *block, size_t first, size_t count);

/* The same of rows of the block from one to another, as what the others leave of it: their own
   values are not looked at. NULL also if zones do not tell of the block. */
const int64_t *clr_group_addends_of_rest(struct clr_group_addends *addends,
                                         const struct clr_block *block, size_t from, size_t to);

#endif
