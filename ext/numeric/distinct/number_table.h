/*
 * A set of 64-bit keys, each with how often it is there: an open-addressing hash table with linear
 * probing (Knuth, TAOCP 3, 6.4). Keys go through a bijective mixing first, so that a slot holds no
 * hash beside its key; a slot is found by the mixed key's upper bits, so that a table that doubles
 * is read and written from one end to the other.
 *
 * Counts are optional: a table that forgets them takes half the memory, and none of its keys can
 * leave.
 */
#ifndef CLR_NUMERIC_NUMBER_TABLE_H
#define CLR_NUMERIC_NUMBER_TABLE_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_number_table {
    struct clr_budget *budget;
    uint64_t seed;       /* of the mixing: who chooses the keys must not know it */
    uint64_t *slots;     /* mixed keys; each is followed by its count if counted; 0: empty */
    size_t capacity;     /* slots: 0 or a power of two */
    size_t used;         /* keys in slots */
    uint64_t zero_count; /* how often the key is there whose mixed form is 0 */
    bool counted;
};

/* Sets up an empty, counted table without memory. */
void clr_number_table_init(struct clr_number_table *table, struct clr_budget *budget,
                           uint64_t seed);

/* Frees the table's memory; it is empty then. */
void clr_number_table_free(struct clr_number_table *table);

/*
 * Adds keys, each once more. Returns CLR_OK, or CLR_NOMEM or CLR_LIMIT, after which part of them
 * may have been added. Best with some hundred keys at a time: their slots are fetched together.
 */
enum clr_code clr_number_table_add(struct clr_number_table *table, const uint64_t *keys,
                                   size_t count);

/* Makes room for so many keys in all, so that the table need not grow before there are more.
   Returns CLR_OK, or CLR_NOMEM or CLR_LIMIT, after which the table is as it was. */
enum clr_code clr_number_table_reserve(struct clr_number_table *table, size_t keys);

/* Adds all keys of another table as often as they are there. Both are counted and have one seed.
   Returns as above. */
enum clr_code clr_number_table_merge(struct clr_number_table *table,
                                     const struct clr_number_table *other);

/* Forgets the counts. Returns CLR_OK, or CLR_NOMEM or CLR_LIMIT and has forgotten nothing. */
enum clr_code clr_number_table_forget_counts(struct clr_number_table *table);

/* Returns how many different keys there are. */
static inline uint64_t clr_number_table_size(const struct clr_number_table *table)
{
    return table->used + (table->zero_count != 0);
}

/*
 * Goes through the keys of a table, in no particular order: *position starts at 0. Stores the next
 * key and its count, which is 1 if the table has forgotten it; returns false at the end.
 */
bool clr_number_table_next(const struct clr_number_table *table, size_t *position, uint64_t *key,
                           uint64_t *count);

/* Takes a key out once; one that is not there changes nothing. The table is counted. */
void clr_number_table_remove(struct clr_number_table *table, uint64_t key);

/* Returns how often a key is there. The table is counted. */
uint64_t clr_number_table_find(const struct clr_number_table *table, uint64_t key);

#endif
