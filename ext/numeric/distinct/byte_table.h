/*
 * A set of TEXT and BLOB values with copies of their bytes, each with how often it is there: an
 * open-addressing hash table with linear probing (Knuth, TAOCP 3, 6.4) of pointers to them. Equal
 * are values of one kind with the same bytes (BINARY collation).
 */
#ifndef CLR_NUMERIC_BYTE_TABLE_H
#define CLR_NUMERIC_BYTE_TABLE_H

#include "base/budget.h"
#include "numeric/values/value.h"

#include <stdbool.h>

/* One value, at the same address for as long as it is in the table or has holders. */
struct clr_byte_entry {
    uint64_t hash;
    uint64_t count;   /* 0: no longer in the table */
    uint64_t holders; /* calls of clr_byte_table_hold() that were not undone */
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

/* Sets up an empty table without memory. */
void clr_byte_table_init(struct clr_byte_table *table, struct clr_budget *budget, uint64_t seed);

/* Empties the table; keeps a small amount of memory to reuse. */
void clr_byte_table_clear(struct clr_byte_table *table);

/* Frees the table's memory; it is empty then. */
void clr_byte_table_free(struct clr_byte_table *table);

/* Adds a TEXT or BLOB once more, and copies its bytes if it is new. Returns CLR_OK, or CLR_NOMEM or
   CLR_LIMIT and has not added it. */
enum clr_code clr_byte_table_add(struct clr_byte_table *table, const struct clr_value *value);

/* Takes a value out once; one that is not there changes nothing. */
void clr_byte_table_remove(struct clr_byte_table *table, const struct clr_value *value);

/* Returns the entry of a value that is there, else NULL. */
struct clr_byte_entry *clr_byte_table_find(const struct clr_byte_table *table,
                                           const struct clr_value *value);

/* Keep an entry at its place when it leaves the table, and no longer. What is still held when the
   table is cleared or freed is the holder's to release before that. */
void clr_byte_table_hold(struct clr_byte_entry *entry);
void clr_byte_table_release(struct clr_byte_table *table, struct clr_byte_entry *entry);

/*
 * Goes through the values, in no particular order: *position starts at 0. Returns the next one, or
 * NULL at the end.
 */
const struct clr_byte_entry *clr_byte_table_next(const struct clr_byte_table *table,
                                                 size_t *position);

#endif
