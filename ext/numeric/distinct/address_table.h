/*
 * A set of TEXT and BLOBs by their addresses (numeric/values/bytes.h), each with how often it is
 * there: an open-addressing hash table with linear probing (Knuth, TAOCP 3, 6.4) from which none
 * leaves.
 */
#ifndef CLR_NUMERIC_ADDRESS_TABLE_H
#define CLR_NUMERIC_ADDRESS_TABLE_H

#include "base/budget.h"

#include <stddef.h>
#include <stdint.h>

/* A different value: how often it is there, and one of the places where it is. */
struct clr_address_slot {
    uint64_t hash;
    int64_t address; /* 0: the slot is free */
    uint64_t count;
};

struct clr_address_table {
    struct clr_budget *budget;
    struct clr_address_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t used;
};

/* Sets up an empty table without memory. */
void clr_address_table_init(struct clr_address_table *table, struct clr_budget *budget);

/* Empties the table, and keeps its memory. */
void clr_address_table_clear(struct clr_address_table *table);

/* Frees the table's memory; it is empty then. */
void clr_address_table_free(struct clr_address_table *table);

/* Adds a value, whose hash is that of clr_bytes_hash(), count times. Returns CLR_OK, or CLR_NOMEM
   or CLR_LIMIT and has not added it. */
enum clr_code clr_address_table_add(struct clr_address_table *table, uint64_t hash, int64_t address,
                                    uint64_t count);

#endif
