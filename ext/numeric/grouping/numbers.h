/* The group numbers of a block's rows. */
#ifndef CLR_NUMERIC_GROUP_NUMBERS_H
#define CLR_NUMERIC_GROUP_NUMBERS_H

#include "numeric/grouping/group_loops.h"
#include "numeric/grouping/plan.h"
#include "numeric/grouping/table.h"

struct clr_group_numbers {
    const struct clr_group_plan *plan;
    const struct clr_group_loops *loops;
    struct clr_group_table table; /* unless numbers are places */
    struct clr_room keys;         /* of a block's rows, if they are no places */
    uint32_t numbers[CLR_BLOCK];  /* of the rows that are selected */
    uint64_t words[CLR_BLOCK];    /* places; or the types of the keys, two bits for each */
    uint64_t hashes[CLR_BLOCK];
};

/* Begins without groups, for so many rows; free with clr_group_numbers_free(), after a failure too.
 */
enum clr_scan_outcome clr_group_numbers_init(struct clr_group_numbers *numbers,
                                             const struct clr_group_plan *plan,
                                             struct clr_group_memory *memory, size_t rows);
void clr_group_numbers_free(struct clr_group_numbers *numbers);

/*
 * Stores the numbers of the selected rows, which are `rows`, count of them. The block has run.
 * *doubtful becomes true where keys are not as planned. Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE,
 * CLR_SCAN_LIMIT or CLR_SCAN_FAILED.
 */
enum clr_scan_outcome clr_group_numbers_find(struct clr_group_numbers *numbers,
                                             struct clr_block *block, const uint64_t *selected,
                                             const uint16_t *rows, size_t count, bool *doubtful);

/* Returns the hash of a key in the table, of a scan with that plan. */
uint64_t clr_group_hash_key(const struct clr_group_plan *plan, const uint64_t *key);

/* Returns the value of a key at a place. */
struct clr_scalar clr_group_key_at_place(const struct clr_group_plan *plan, uint64_t place,
                                         int key);

/* A key in a table of keys is its values' bits, 0 for NULL, and then their tags. */
static inline struct clr_scalar clr_group_key_of_words(const uint64_t *words, int key_count,
                                                       int key)
{
    return (struct clr_scalar){(uint8_t)(words[key_count] >> 2 * key & 3), (int64_t)words[key]};
}

#endif
