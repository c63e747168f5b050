/* What groups consist of, and what is done by threads of a higher floor once parts have all the
   rows. */
#ifndef CLR_NUMERIC_GROUP_SCAN_H
#define CLR_NUMERIC_GROUP_SCAN_H

#include "numeric/grouping/part.h"
#include "numeric/groups/groups.h"
#include "numeric/order/keys.h"
#include "numeric/order/portions.h"

enum { CLR_GROUP_PARTS = 64 }; /* most */

/* Threads, which are the business of a higher floor. */
struct clr_group_team {
    int size; /* 1 to CLR_GROUP_PARTS */
    /* As struct clr_portions has it. */
    bool (*run)(void *context, int count, clr_portion_work *work, void *argument);
    void *context;
};

/* A group that a table has: its record, and its place, or the address of its key's words. */
struct clr_group_entry {
    int64_t *record;
    uint64_t key;
};

/*
 * An exact sum in little memory: what a group's record does not have. As an expansion; as an
 * INTEGER; or, which is rare, in full.
 */
struct clr_kept_sum {
    enum { CLR_KEPT_TERMS, CLR_KEPT_INTEGER, CLR_KEPT_FULL } form;
    union {
        double term[CLR_EXPANSION_TERMS];
        struct clr_int192 integer;
        struct clr_sum *full; /* the owner's */
    } as;
};

/* The sums of a tally that are kept: of all groups, or of those whose numbers are here, in order.
 */
struct clr_kept_sums {
    struct clr_room sums, groups; /* struct clr_kept_sum; uint32_t, or nothing: all groups */
    size_t count;
};

struct clr_gathered_answer {
    struct clr_room values; /* struct clr_value for each group, */
    struct clr_room counts; /* or of bins count + 2 of uint64_t */
    size_t bins;
    struct clr_room lists; /* or a struct clr_listed, of int64_t in numbers */
    struct clr_room numbers;
};

/* The values of a list. */
struct clr_listed {
    size_t first, count;
};

struct clr_groups {
    struct clr_group_plan plan;
    size_t rows;    /* at most */
    uint64_t limit; /* of memory, in bytes */
    struct clr_group_memory memory;
    struct clr_group_part *parts[CLR_GROUP_PARTS]; /* they have the records and the keys */
    int part_count;
    size_t count;
    /* In the groups' order: of places, uint32_t, whose records are those of the first part; or
       entries. */
    struct clr_room places, entries;
    struct clr_room ranks; /* uint32_t, of places that are codes */
    /* The number in this order, uint32_t, of each place or merged number; while there is need.
       None: the merged numbers are in this order. */
    struct clr_room finals;
    struct clr_room merged[CLR_GROUP_PARTS]; /* uint32_t: of each of a part's numbers, if parts have
                                                tables */
    struct clr_kept_sums sums[CLR_MOST_TALLIES];
    struct clr_gathered_answer answers[CLR_MOST_QUESTIONS];
};

/* What is done next to groups whose parts have run. Each returns CLR_SCAN_DONE, CLR_SCAN_UNSURE,
   CLR_SCAN_LIMIT, CLR_SCAN_STOPPED or CLR_SCAN_FAILED. */

/* Brings the parts' groups together, in order. */
enum clr_scan_outcome clr_groups_merge(struct clr_groups *groups,
                                       const struct clr_group_team *team);

/* What is sorted: a key, and the number of what it is of. */
struct clr_group_item {
    uint64_t key;
    uint32_t number;
    uint32_t part; /* whose number it is, where several parts' items are sorted */
};

_Static_assert(sizeof(struct clr_group_item) == CLR_SORTED_ITEM, "items can be sorted");

/* Sorts items by their keys; equal ones stay in their order. scratch has room for as many. Returns
   CLR_SCAN_DONE, or CLR_SCAN_STOPPED soon after *stop has become true. */
static inline enum clr_scan_outcome clr_group_sort(struct clr_group_item *items,
                                                   struct clr_group_item *scratch, size_t count,
                                                   const atomic_bool *stop)
{
    return clr_radix_sort_items(items, scratch, count, stop) ? CLR_SCAN_DONE : CLR_SCAN_STOPPED;
}

/*
 * Makes the list that a question of kind CLR_ASK_VALUES asks for, of the values x of a group, whose
 * rows are y: both have *count, at least one and at most UINT32_MAX. numbers gets the values, and
 * has room for all of them; *count becomes the number of those that are listed. Returns
 * CLR_SCAN_DONE, CLR_SCAN_LIMIT, CLR_SCAN_FAILED, or CLR_SCAN_STOPPED soon after *stop has become
 * true.
 */
enum clr_scan_outcome clr_group_list(const struct clr_question *question, const int64_t *x,
                                     const int64_t *y, size_t *count, int64_t *numbers,
                                     struct clr_group_memory *memory, const atomic_bool *stop);

/* Makes the sums, and answers the questions, of the listed values. */
enum clr_scan_outcome clr_groups_gather(struct clr_groups *groups,
                                        const struct clr_group_team *team);

/* Adds what has been spilled. */
enum clr_scan_outcome clr_groups_add_spilled(struct clr_groups *groups,
                                             const struct clr_group_team *team);

/* Returns the number, in the groups' order, of a part's group. */
static inline uint32_t clr_groups_final(const struct clr_groups *groups, int part, uint32_t number)
{
    const uint32_t *merged = groups->merged[part].start, *finals = groups->finals.start;

    if (merged != NULL)
        number = merged[number];
    return finals == NULL ? number : finals[number];
}

static inline const int64_t *clr_groups_record(const struct clr_groups *groups, size_t group)
{
    if (groups->plan.numbering == CLR_NUMBERED_DIRECTLY)
        return clr_group_part_record(groups->parts[0],
                                     ((const uint32_t *)groups->places.start)[group]);
    return ((const struct clr_group_entry *)groups->entries.start)[group].record;
}

/* Stores a sum, which keeps its value. Returns CLR_SCAN_DONE, CLR_SCAN_LIMIT or CLR_SCAN_FAILED. */
enum clr_scan_outcome clr_kept_sum_store(struct clr_kept_sum *kept, struct clr_group_memory *memory,
                                         struct clr_sum *sum);

#endif
