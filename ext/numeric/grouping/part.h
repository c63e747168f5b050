/* The groups of a part of a scan's rows, which one thread goes through. */
#ifndef CLR_NUMERIC_GROUP_PART_H
#define CLR_NUMERIC_GROUP_PART_H

#include "numeric/grouping/addends.h"
#include "numeric/grouping/numbers.h"

/* The first row of a group of which there is none. */
#define CLR_NO_ROW UINT64_MAX

struct clr_group_part {
    const struct clr_group_plan *plan;
    struct clr_group_memory *memory;
    size_t first, last; /* rows */
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

/* Returns a part without rows, or NULL without memory. Free with clr_group_part_free(). */
struct clr_group_part *clr_group_part_new(const struct clr_group_plan *plan,
                                          struct clr_group_memory *memory, size_t first,
                                          size_t last);

/* Makes the rooms of a part, whose records are all zero then: clr_group_part_run() does it, and
   whoever fills the part by other means. Returns CLR_SCAN_DONE, CLR_SCAN_LIMIT or CLR_SCAN_FAILED.
 */
enum clr_scan_outcome clr_group_part_open(struct clr_group_part *part);

/* Whether something has turned out to be another way than planned. */
bool clr_group_part_has_doubts(const struct clr_group_part *part);

/* NULL is fine. */
void clr_group_part_free(struct clr_group_part *part);

/*
 * Goes through the rows, until *stop becomes true. Stores the outcome: CLR_SCAN_DONE,
 * CLR_SCAN_UNSURE, CLR_SCAN_LIMIT, CLR_SCAN_STOPPED, CLR_SCAN_FAILED without memory, or
 * CLR_SCAN_NOT_NOW if the plan will not do: the doubts say why.
 */
void clr_group_part_run(struct clr_group_part *part, const atomic_bool *stop);

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
