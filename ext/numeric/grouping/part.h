/* The groups of a part of a scan's rows, which one thread goes through: all at once, or in portions
   as they come. */
#ifndef CLR_NUMERIC_GROUP_PART_H
#define CLR_NUMERIC_GROUP_PART_H

#include "numeric/grouping/addends.h"
#include "numeric/grouping/numbers.h"

/* The first row of a group of which there is none. */
#define CLR_NO_ROW UINT64_MAX

struct clr_group_part {
    const struct clr_group_plan *plan;
    struct clr_group_memory *memory;
    uint64_t first; /* the number of its first row */
    size_t most;    /* rows that it has at most */
    size_t seen;    /* rows that it has gone through */
    enum clr_scan_outcome outcome;
    struct clr_group_doubts doubts;
    struct clr_group_numbers numbers;
    struct clr_group_addends addends;
    struct clr_room records;    /* int64_t, plan->stride for each group */
    size_t capacity;            /* there is room for so many groups */
    struct clr_room first_rows; /* uint64_t, if the order is by them and numbers are places */
    uint16_t rows[CLR_BLOCK];   /* those of a block that are selected */
    bool all_rows;              /* all of them are */
};

/* Returns a part of so many rows at most, or NULL without memory. Free with clr_group_part_free().
 */
struct clr_group_part *clr_group_part_new(const struct clr_group_plan *plan,
                                          struct clr_group_memory *memory, uint64_t first,
                                          size_t most);

/* Whether something has turned out to be another way than planned. */
bool clr_group_part_has_doubts(const struct clr_group_part *part);

/* NULL is fine. */
void clr_group_part_free(struct clr_group_part *part);

/*
 * Begins, goes through all of the plan's rows from the part's first on, `most` of them, and ends.
 * Stores the outcome: CLR_SCAN_DONE, CLR_SCAN_UNSURE, CLR_SCAN_LIMIT, CLR_SCAN_STOPPED soon after
 * *stop has become true, CLR_SCAN_FAILED without memory, or CLR_SCAN_NOT_NOW if the plan will not
 * do: the doubts say why.
 */
void clr_group_part_run(struct clr_group_part *part, const atomic_bool *stop);

/* Or it is done step by step: begin, which makes the rooms, whose records are all zero then; take
   the rows of a scan, which is the plan's but for its columns and rows, from one to another, as
   often as there are some; and end. Nothing more is taken once the outcome is another than
   CLR_SCAN_DONE. Whoever fills the records by other means begins it alone. */
void clr_group_part_begin(struct clr_group_part *part);
void clr_group_part_take(struct clr_group_part *part, const struct clr_scan *scan, size_t first,
                         size_t last, const atomic_bool *stop);
void clr_group_part_end(struct clr_group_part *part);

/* Returns how many groups have numbers; of places most may have no rows. */
static inline size_t clr_group_part_count(const struct clr_group_part *part)
{
    return part->plan->numbering == CLR_NUMBERED_DIRECTLY ? (size_t)part->plan->places
                                                          : part->numbers.table.count;
}

static inline int64_t *clr_group_part_record(const struct clr_group_part *part, size_t number)
{
    return (int64_t *)part->records.start + number * part->plan->stride;
}

#endif
