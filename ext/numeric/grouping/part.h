/* The groups of a part of a scan's rows, which one thread goes through: all at once, or in portions
   as they come. */
#ifndef CLR_NUMERIC_GROUP_PART_H
#define CLR_NUMERIC_GROUP_PART_H

#include "numeric/grouping/addends.h"

/* The first row of a group of which there is none. */
#define CLR_NO_ROW UINT64_MAX

/*
 * Numbers for keys of one or more words: 0 for the first one that comes, 1 for the next, and so on.
 * A hash table with linear probing (Knuth, TAOCP 3, 6.4), whose slots have the whole hash, so that
 * it grows without a look at the keys.
 */
struct clr_group_slot {
    uint64_t hash;
    uint32_t number; /* plus 1; 0: empty */
    uint32_t unused;
};

struct clr_group_table {
    struct clr_group_memory *memory;
    struct clr_room slots, keys;
    size_t capacity;     /* slots, a power of two */
    int shift;           /* of a hash to a slot */
    size_t count;        /* keys */
    size_t key_capacity; /* there is room for, of those that are taken out of the limit */
    size_t most;         /* keys that there may be */
    size_t width;        /* words of a key */
    bool appends;        /* keys are no longer looked for: each gets a number of its own */
};

/* The group numbers of a block's rows. */
struct clr_group_numbers {
    const struct clr_group_plan *plan;
    const struct clr_group_loops *loops;
    struct clr_group_table table;    /* unless numbers are places */
    struct clr_room keys;            /* of a block's rows, if they are no places */
    uint32_t numbers[CLR_BLOCK + 1]; /* of the rows that are selected; one more to be read */
    uint64_t words[CLR_BLOCK];       /* places; or the types of the keys, two bits for each */
    uint64_t hashes[CLR_BLOCK];
};

struct clr_group_part {
    const struct clr_group_plan *plan;
    struct clr_group_memory *memory;
    uint64_t first; /* the number of its first row */
    size_t most;    /* rows that it is made for; only groups numbered directly may get more */
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
    bool is_lazy[CLR_MOST_INSTRUCTIONS]; /* as in struct clr_taking */
};

/* Returns a part of so many rows at most, or NULL without memory. Free with clr_group_part_free().
 */
struct clr_group_part *clr_group_part_new(const struct clr_group_plan *plan,
                                          struct clr_group_memory *memory, uint64_t first,
                                          size_t most);

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
   CLR_SCAN_DONE. made: NULL, or, of groups that are numbered directly, the records that a device
   has made, of all places and plan->stride words each, in memory of clr_memory_alloc(): where the
   outcome is CLR_SCAN_DONE then, it is the part's, and *made NULL. */
void clr_group_part_begin(struct clr_group_part *part, int64_t **made);
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

static inline const uint64_t *clr_group_table_key(const struct clr_group_table *table,
                                                  size_t number)
{
    return (const uint64_t *)table->keys.start + number * table->width;
}

static inline __attribute__((always_inline)) bool
clr_group_same_key(const uint64_t *a, const uint64_t *b, size_t width)
{
    size_t i;

    for (i = 0; i < width; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Returns the hash of a key in the table, of a scan with that plan. */
uint64_t clr_group_hash_key(const struct clr_group_plan *plan, const uint64_t *key);

/* A key in a table of keys is its values' bits, 0 for NULL, and then their tags. */
static inline struct clr_scalar clr_group_key_of_words(const uint64_t *words, int key_count,
                                                       int key)
{
    return (struct clr_scalar){(uint8_t)(words[key_count] >> 2 * key & 3), (int64_t)words[key]};
}

#endif
