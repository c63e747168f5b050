/*
 * The groups of a scan with keys: for each combination of the keys' values that occurs among the
 * rows that pass the scan's filter, what each tally is of the group's rows, and the answers to the
 * scan's questions of them.
 */
#ifndef CLR_NUMERIC_GROUPS_H
#define CLR_NUMERIC_GROUPS_H

#include "numeric/scan/scan.h"
#include "numeric/values/value.h"

/* All groups of a scan, in the grouping's order. They never change, and any number of threads may
   read them. */
struct clr_groups;

/* NULL is fine. */
void clr_groups_free(struct clr_groups *groups);

/* How many there are: a group has one row at least. */
size_t clr_groups_count(const struct clr_groups *groups);

/* Bytes that they take. */
uint64_t clr_groups_size(const struct clr_groups *groups);

/* The value of a key, 0 .. key_count - 1, in the group: INTEGER, REAL or NULL. Of a lookup with
   ranks it is the rank. */
struct clr_scalar clr_groups_key(const struct clr_groups *groups, size_t group, int key);

/* Where values of groups that follow each other go: the first one, and each `step` behind the one
   before. They are the caller's. */
struct clr_group_cells {
    int64_t *bits;
    uint8_t *tags;
    size_t step;
};

/* Stores the key of `count` groups from `first` on. */
void clr_groups_keys(const struct clr_groups *groups, int key, size_t first, size_t count,
                     const struct clr_group_cells *cells);

/* Fetches what is kept of `count` groups, before it is asked for: it may lie anywhere. */
void clr_groups_fetch(const struct clr_groups *groups, size_t first, size_t count);

/*
 * Stores what is known of the tally's rows in the group: struct clr_tally says what of it is
 * defined. The state is the caller's, cleared or not before; no memory is taken for it.
 */
void clr_groups_state(const struct clr_groups *groups, size_t group, int tally,
                      struct clr_state *state);

/* What a group's record may have of a tally as it is, which takes a tenth of the time of a state:
   how many rows count, the sum and the average of their numbers, rounded once, and the least and
   the greatest. */
enum clr_group_number {
    CLR_GROUP_NOTHING,
    CLR_GROUP_COUNT,
    CLR_GROUP_SUM,
    CLR_GROUP_AVERAGE,
    CLR_GROUP_LEAST,
    CLR_GROUP_GREATEST
};

/* Whether clr_groups_read() gives that number of a tally, in most groups at least. */
bool clr_groups_may_read(const struct clr_groups *groups, int tally, enum clr_group_number number);

/* Whether no sum of some of a tally's INTEGERs is greater in size, by what the plan is sure of. */
bool clr_groups_sums_are_within(const struct clr_groups *groups, int tally, int64_t most);

/* Stores a number of a tally in `count` groups from `first` on: INTEGER or REAL; of no rows that
   count NULL, but for their count; CLR_TAG_UNSURE where the record has not all of it. Returns
   whether there is none of these. */
bool clr_groups_read(const struct clr_groups *groups, int tally, enum clr_group_number number,
                     size_t first, size_t count, const struct clr_group_cells *cells);

/* The answer to a question of the group's rows, as that of struct clr_question. Of CLR_ASK_BINS
 *counts are the groups' bins.count + 2 counts, else NULL. */
struct clr_value clr_groups_answer(const struct clr_groups *groups, size_t group, int question,
                                   const uint64_t **counts);

/* The answer to a question of kind CLR_ASK_VALUES; *count is their number. They are the groups'. */
const int64_t *clr_groups_values(const struct clr_groups *groups, size_t group, int question,
                                 size_t *count);

#endif
