/* The group numbers of a block's rows. */
#ifndef CLR_NUMERIC_GROUP_NUMBERS_H
#define CLR_NUMERIC_GROUP_NUMBERS_H

#include "numeric/grouping/group_loops.h"
#include "numeric/grouping/plan.h"
#include "numeric/grouping/room.h"

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

/* Sets up an empty table for at most so many keys, of so many words each. Free with
   clr_group_table_free(), which is due after a failure too. */
enum clr_scan_outcome clr_group_table_init(struct clr_group_table *table,
                                           struct clr_group_memory *memory, size_t most,
                                           size_t width);
void clr_group_table_free(struct clr_group_table *table);

/* Makes room for so many more keys. Returns CLR_SCAN_DONE, CLR_SCAN_LIMIT or CLR_SCAN_FAILED. */
enum clr_scan_outcome clr_group_table_make_room(struct clr_group_table *table, size_t more);

/* Lets the table grow at once for so many keys in all, as it may turn out to need; if it can't, no
   matter. */
void clr_group_table_expect(struct clr_group_table *table, size_t count);

/* Gives all further keys numbers of their own, the same key several ones, from now on. */
void clr_group_table_append(struct clr_group_table *table);

/* Mixes a word into a hash; for a given hash and seed, different words give different hashes.
   Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). */
static inline uint64_t clr_group_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

static inline const uint64_t *clr_group_table_key(const struct clr_group_table *table,
                                                  size_t number)
{
    return (const uint64_t *)table->keys.start + number * table->width;
}

static inline size_t clr_group_table_home(const struct clr_group_table *table, uint64_t hash)
{
    return hash >> table->shift;
}

static inline void clr_group_table_fetch(const struct clr_group_table *table, uint64_t hash)
{
    __builtin_prefetch((const struct clr_group_slot *)table->slots.start +
                       clr_group_table_home(table, hash));
}

/* Fetches the key that is likely to be looked at, of a slot that has been fetched. */
static inline void clr_group_table_fetch_key(const struct clr_group_table *table, uint64_t hash)
{
    const struct clr_group_slot *slots = table->slots.start;
    const uint32_t guess = slots[clr_group_table_home(table, hash)].number;

    if (guess != 0)
        __builtin_prefetch(clr_group_table_key(table, guess - 1));
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

/* Returns the number of a key with that hash; there must be room for one more. If its hash alone
   says which key it is, width is 0, else the table's. */
static inline __attribute__((always_inline)) uint32_t
clr_group_table_find(struct clr_group_table *table, uint64_t hash, const uint64_t *key,
                     size_t width)
{
    struct clr_group_slot *slots = table->slots.start;
    size_t place = clr_group_table_home(table, hash), i;

    for (; slots[place].number != 0; place = (place + 1) & (table->capacity - 1))
        if (slots[place].hash == hash &&
            clr_group_same_key(clr_group_table_key(table, slots[place].number - 1), key, width))
            return slots[place].number - 1;
    for (i = 0; i < table->width; i++)
        ((uint64_t *)table->keys.start)[table->count * table->width + i] = key[i];
    slots[place] = (struct clr_group_slot){hash, (uint32_t)++table->count, 0};
    return slots[place].number - 1;
}

/* ---- Of rows. */

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
