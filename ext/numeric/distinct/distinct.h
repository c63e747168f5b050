/*
 * The different ones among many values, and how often each is there. Equal are values as SQLite's
 * = has them, collation BINARY: an INTEGER and a REAL of the same value, compared exactly, are one,
 * and so are 0.0 and -0.0; TEXT and BLOB differ from each other and from numbers.
 */
#ifndef CLR_NUMERIC_DISTINCT_H
#define CLR_NUMERIC_DISTINCT_H

#include "base/memory.h"
#include "numeric/values/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A set of 64-bit keys, each with how often it is there: an open-addressing hash table with linear
 * probing (Knuth, TAOCP 3, 6.4). Keys go through a bijective mixing first, so that a slot holds no
 * hash beside its key; a slot is found by the mixed key's upper bits, so that a table that doubles
 * is read and written from one end to the other.
 *
 * Counts are optional: a table that forgets them takes half the memory, and none of its keys can
 * leave.
 */
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

/*
 * A set of TEXT and BLOB values with copies of their bytes, each with how often it is there: an
 * open-addressing hash table with linear probing (Knuth, TAOCP 3, 6.4) of pointers to them. Equal
 * are values of one kind with the same bytes (BINARY collation).
 */

/* One value, at the same address for as long as it is in the table or has holders. */
struct clr_byte_entry {
    uint64_t hash;
    uint64_t count;   /* 0: no longer in the table */
    uint64_t holders; /* calls of byte_table_hold() that were not undone */
    size_t size;
    enum clr_kind kind;
    unsigned char bytes[];
};

struct clr_byte_table {
    struct clr_budget *budget;
    uint64_t seed;                 /* of the hashes: who chooses the values must not know it */
    struct clr_byte_entry **slots; /* NULL: empty */
    size_t capacity;               /* slots: 0 or a power of two */
    size_t used;                   /* how many different values there are */
};

/*
 * Returns whether an INTEGER has the REAL's value, and stores the key of that number: the INTEGER's
 * bits, else the REAL's.
 */
static inline bool clr_distinct_key(double real, uint64_t *key)
{
    bool whole = real >= -0x1p63 && real < 0x1p63 && (double)(int64_t)real == real;

    if (whole)
        *key = (uint64_t)(int64_t)real;
    else
        memcpy(key, &real, sizeof *key);
    return whole;
}

/* Stores the keys of REALs, whole numbers apart from the others. Both arrays have room for all.
   Returns how many are whole. */
static inline size_t clr_distinct_keys(const clr_stored_real *reals, size_t count, uint64_t *whole,
                                       uint64_t *fractional)
{
    size_t wholes = 0, i;

    for (i = 0; i < count; i++) {
        uint64_t key;
        bool is_whole = clr_distinct_key(reals[i], &key);
        whole[wholes] = key;
        fractional[i - wholes] = key;
        wholes += is_whole;
    }
    return wholes;
}

/* Whole numbers of either type that an INTEGER can be go to whole; other REALs, by their bits, to
   fractional. */
struct clr_distinct {
    struct clr_number_table whole, fractional;
    struct clr_byte_table bytes;
    bool typed;                         /* it is known which numbers came as REAL */
    struct clr_number_table whole_real; /* if typed: those in whole that came as REAL */
};

/* Sets up an empty collection without memory, which will take it from the budget. typed: whether
   clr_mode_find() will be called. seed: any number that who chooses the values does not know. */
void clr_distinct_init(struct clr_distinct *distinct, struct clr_budget *budget, bool typed,
                       uint64_t seed);

/* Frees its memory; it is empty then. */
void clr_distinct_free(struct clr_distinct *distinct);

/* Add values, each once more; numbers of the kind are int64_t or REALs, no NaN. Return CLR_OK, or
   CLR_NOMEM or CLR_LIMIT, after which part of them may have been added. Best with some hundred
   numbers at a time. */
enum clr_code clr_distinct_add_numbers(struct clr_distinct *distinct, enum clr_kind kind,
                                       const void *numbers, size_t count);
enum clr_code clr_distinct_add_bytes(struct clr_distinct *distinct, const struct clr_value *value);

/* Takes a value out once; one that is not there changes nothing. */
void clr_distinct_remove(struct clr_distinct *distinct, const struct clr_value *value);

/* Returns how many different values there are. */
uint64_t clr_distinct_size(const struct clr_distinct *distinct);

/* Returns how often a value is there. */
uint64_t clr_distinct_find(const struct clr_distinct *distinct, const struct clr_value *value);

/* Where clr_distinct_next() is among the values of a typed collection. */
struct clr_distinct_cursor {
    int table;
    size_t position;
    struct clr_value value;
    uint64_t count; /* how often the value is there */
};

/*
 * Stores the next value, in no particular order, and its count, in a cursor that starts as {0};
 * returns false at the end. A number is an INTEGER if one of those equal to it is, else REAL; a
 * zero is +0.0. Bytes are the collection's, and stay valid until the value is taken out.
 */
bool clr_distinct_next(const struct clr_distinct *distinct, struct clr_distinct_cursor *cursor);

/*
 * The mode: the most frequent of many values, and the least of them if there are several. Numbers
 * come before TEXT and TEXT before BLOB; see clr_value_compare().
 */

/* Stores the mode of a typed collection by looking at all of it; returns false if it is empty.
   Bytes are the collection's. */
bool clr_mode_find(const struct clr_distinct *distinct, struct clr_value *mode);

/*
 * For a window, whose mode is asked for after every row: a heap of values by how often they are, or
 * were, there. What is no longer true is dropped when it comes to the top, and all of it when it is
 * more than the truth, so that a change costs O(log n) on average.
 */
struct clr_mode_entry {
    uint64_t count;
    struct clr_value value; /* bytes: of an entry of the collection, which is held */
};

struct clr_mode_heap {
    struct clr_distinct *distinct; /* the window's values, typed; the caller's */
    struct clr_budget *budget;
    struct clr_mode_entry *entries;
    size_t count, capacity;
    bool begun;                      /* the heap knows of all values */
    struct clr_distinct_cursor next; /* while it is filled: where it is among them */
};

/* Sets up the heap for a collection, which from then on must be told of each change. */
void clr_mode_heap_init(struct clr_mode_heap *heap, struct clr_distinct *distinct,
                        struct clr_budget *budget);

/* Frees the heap's memory. To be called before the collection is cleared or freed. */
void clr_mode_heap_free(struct clr_mode_heap *heap);

/* A value has come, or, before it is taken out of the collection, is about to leave: change is 1 or
   -1. Returns CLR_OK, CLR_NOMEM or CLR_LIMIT. */
enum clr_code clr_mode_heap_change(struct clr_mode_heap *heap, const struct clr_value *value,
                                   int change);

/* Takes in at most so many values of the collection, which has not changed since the last call
   unless heap->begun: that is true when the heap has all. Returns CLR_OK, CLR_NOMEM or CLR_LIMIT.
 */
enum clr_code clr_mode_heap_fill(struct clr_mode_heap *heap, size_t most);

/* Stores the mode, as clr_mode_find() does; kind CLR_KIND_NONE if there is no value. heap->begun.
 */
void clr_mode_heap_find(struct clr_mode_heap *heap, struct clr_value *mode);

/* What counting different values finds out. */
struct clr_distinct_result {
    uint64_t size;         /* how many different values there are */
    uint64_t count;        /* how often the most frequent one is there; 0: there is none */
    struct clr_value mode; /* that one; the least of them, if there are several. As above,
                              an INTEGER if one of those equal to it is, else REAL */
};

/* Makes a value that is there count times, 1 and up, the result's mode if it comes before that. A
   whole number is INTEGER here. */
static inline void clr_distinct_consider(struct clr_distinct_result *result, uint64_t count,
                                         const struct clr_value *value)
{
    if (count < result->count ||
        (count == result->count && clr_value_compare(value, &result->mode, 1) >= 0))
        return;
    result->count = count;
    result->mode = *value;
}

/* Adds the result of the TEXT and BLOBs beside some numbers to that of these. Of values that are
   equally frequent numbers come first. */
static inline void clr_distinct_join(struct clr_distinct_result *numbers,
                                     const struct clr_distinct_result *bytes)
{
    numbers->size += bytes->size;
    if (bytes->count > numbers->count) {
        numbers->count = bytes->count;
        numbers->mode = bytes->mode;
    }
}

#endif
