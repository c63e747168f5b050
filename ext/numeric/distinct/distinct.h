/*
 * The different ones among many values, and how often each is there. Equal are values as SQLite's
 * = has them, collation BINARY: an INTEGER and a REAL of the same value, compared exactly, are one,
 * and so are 0.0 and -0.0; TEXT and BLOB differ from each other and from numbers.
 */
#ifndef CLR_NUMERIC_DISTINCT_H
#define CLR_NUMERIC_DISTINCT_H

#include "numeric/distinct/byte_table.h"
#include "numeric/distinct/number_table.h"

#include <string.h>

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

/* Empties the collection, as clr_distinct_init() does; keeps a small amount of memory to reuse. */
void clr_distinct_clear(struct clr_distinct *distinct, bool typed);

/* Frees its memory; it is empty then. */
void clr_distinct_free(struct clr_distinct *distinct);

/* Add values, each once more; REALs are no NaN. Return CLR_OK, or CLR_NOMEM or CLR_LIMIT, after
   which part of them may have been added. Best with some hundred numbers at a time. */
enum clr_code clr_distinct_add_integers(struct clr_distinct *distinct, const int64_t *integers,
                                        size_t count);
enum clr_code clr_distinct_add_reals(struct clr_distinct *distinct, const clr_stored_real *reals,
                                     size_t count);
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

/* Gives a number the type that the collection has for it, as clr_distinct_next() says. */
void clr_distinct_type(const struct clr_distinct *distinct, struct clr_value *value);

#endif
