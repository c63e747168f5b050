/*
 * A signed integer of 192 bits, two's complement: the exact sum of up to 2^64 products of two
 * 64-bit integers (each below 2^126 in magnitude) fits with room to spare.
 */
#ifndef CLR_NUMERIC_INT192_H
#define CLR_NUMERIC_INT192_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 clr_i128;
__extension__ typedef unsigned __int128 clr_u128;

struct clr_int192 {
    uint64_t low, middle, high;
};

/* Adds the 192-bit value whose parts are given; wraps at 2^192. */
static inline void clr_int192_add_parts(struct clr_int192 *sum, uint64_t low, uint64_t middle,
                                        uint64_t high)
{
    clr_u128 part = (clr_u128)sum->low + low;
    sum->low = (uint64_t)part;
    part = (clr_u128)sum->middle + middle + (uint64_t)(part >> 64);
    sum->middle = (uint64_t)part;
    sum->high += high + (uint64_t)(part >> 64);
}

static inline void clr_int192_add(struct clr_int192 *sum, const struct clr_int192 *value)
{
    clr_int192_add_parts(sum, value->low, value->middle, value->high);
}

static inline void clr_int192_add_i128(struct clr_int192 *sum, clr_i128 value)
{
    uint64_t sign = value < 0 ? UINT64_MAX : 0;
    clr_int192_add_parts(sum, (uint64_t)value, (uint64_t)((clr_u128)value >> 64), sign);
}

static inline bool clr_int192_is_zero(const struct clr_int192 *value)
{
    return (value->low | value->middle | value->high) == 0;
}

static inline bool clr_int192_is_negative(const struct clr_int192 *value)
{
    return (int64_t)value->high < 0;
}

static inline void clr_int192_negate(struct clr_int192 *value)
{
    struct clr_int192 result = {0, 0, 0};
    clr_int192_add_parts(&result, ~value->low, ~value->middle, ~value->high);
    clr_int192_add_parts(&result, 1, 0, 0);
    *value = result;
}

/* Returns whether the value lies in the range of int64_t, and if so stores it. */
static inline bool clr_int192_to_int64(const struct clr_int192 *value, int64_t *result)
{
    uint64_t sign = (int64_t)value->low < 0 ? UINT64_MAX : 0;
    if (value->middle != sign || value->high != sign)
        return false;
    *result = (int64_t)value->low;
    return true;
}

#endif
