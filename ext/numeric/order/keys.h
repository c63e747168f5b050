/*
 * Keys: unsigned integers in the order of the numbers that they stand for. -0.0 comes right before
 * +0.0; INTEGER 0 is +0.0. NaN has no place.
 *
 * Three kinds. INTEGERs alone and REALs alone have keys of 64 bits. Where both occur, the place of
 * a number is the key of the greatest double that is not above it, and then its tail, the distance
 * from that double: 0 for a REAL and for an INTEGER that a double holds, up to 1023 else.
 */
#ifndef CLR_NUMERIC_KEYS_H
#define CLR_NUMERIC_KEYS_H

#include "numeric/values/int192.h"
#include "numeric/values/value.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_KEY_TAILS = 1024 };

#define CLR_KEY_SIGN ((uint64_t)1 << 63)

static inline uint64_t clr_integer_to_key(int64_t integer)
{
    return (uint64_t)integer ^ CLR_KEY_SIGN;
}

static inline int64_t clr_key_to_integer(uint64_t key)
{
    return (int64_t)(key ^ CLR_KEY_SIGN);
}

static inline uint64_t clr_double_to_key(double real)
{
    return (uint64_t)clr_real_to_key(clr_bits_of(real)) ^ CLR_KEY_SIGN;
}

static inline double clr_key_to_double(uint64_t key)
{
    return clr_real_of(clr_real_to_key((int64_t)(key ^ CLR_KEY_SIGN)));
}

/* Returns the key of the greatest double that is not above the integer. */
static inline uint64_t clr_integer_to_floor_key(int64_t integer)
{
    double real = (double)integer; /* rounded to nearest: at most one double too far */
    uint64_t key = clr_double_to_key(real);
    return real >= 0x1p63 || (int64_t)real > integer ? key - 1 : key;
}

/* Returns how far the integer is above the double of its floor key: 0 .. CLR_KEY_TAILS - 1. */
static inline uint64_t clr_integer_tail(int64_t integer, uint64_t floor_key)
{
    return (uint64_t)integer - (uint64_t)(int64_t)clr_key_to_double(floor_key);
}

/* A number's place among numbers of both types: floor key and tail in one. */
static inline clr_u128 clr_integer_to_place(int64_t integer)
{
    uint64_t key = clr_integer_to_floor_key(integer);
    return (clr_u128)key << 64 | clr_integer_tail(integer, key);
}

static inline clr_u128 clr_double_to_place(double real)
{
    return (clr_u128)clr_double_to_key(real) << 64;
}

/* Returns the number at a place: an INTEGER if no double holds it, else a REAL. */
static inline struct clr_value clr_place_to_value(clr_u128 place)
{
    struct clr_value value = {.kind = CLR_KIND_REAL};
    uint64_t tail = (uint64_t)place;

    value.as.real = clr_key_to_double((uint64_t)(place >> 64));
    if (tail != 0) {
        value.as.integer = (int64_t)value.as.real + (int64_t)tail;
        value.kind = CLR_KIND_INTEGER;
    }
    return value;
}

/* ---- Keys of 64 bits, sorted and by their ranks. */

/*
 * Sorts keys[0 .. count-1] in ascending order. scratch has room for as many and is overwritten;
 * for up to CLR_INSERTION_LIMIT keys it may be NULL. A digit of 8 bits that is the same in all keys
 * costs nothing but the look at it.
 *
 * Source: Knuth, TAOCP 3, 5.2.5 (radix sort from the least significant digit).
 */
void clr_radix_sort(uint64_t *keys, uint64_t *scratch, size_t count);

enum { CLR_INSERTION_LIMIT = 32 };

/* The same for items of CLR_SORTED_ITEM bytes, whose keys are the first eight of them; equal ones
   stay in their order. Returns false soon after *stop has become true. */
bool clr_radix_sort_items(void *items, void *scratch, size_t count, const atomic_bool *stop);

enum { CLR_SORTED_ITEM = 16 };

/*
 * Of keys so few that they stay in a cache, stores the key of a rank, 0 .. count - 1, in ascending
 * order, and the next one in that order; of the last rank the key twice. keys, at least one, stay
 * as they are; scratch has room for as many. A key's place between the least and the greatest says
 * which of some buckets it is in; what is looked for is then in one or two of them.
 */
void clr_few_select(const uint64_t *keys, uint64_t *scratch, size_t count, size_t rank,
                    uint64_t found[2]);

#endif
