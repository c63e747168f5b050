/*
 * Whether rowids ascend, without the work of finding them. Of two varints that are as short as they
 * can be the longer one is the greater, and if they are equally long the one whose bytes are. So
 * the bytes of a short one, taken as one number, serve as a key.
 */
#ifndef CLR_STORAGE_ORDER_H
#define CLR_STORAGE_ORDER_H

#include "storage/format/varint.h"

#include <stdbool.h>

enum { CLR_ORDER_SHORT = 6 }; /* bytes of a varint that has a key */

/* The rows so far. */
struct clr_order {
    int64_t least; /* key that may follow */
    int64_t rowid; /* of the last row, if it had no key: least is 0, or INT64_MAX */
};

static inline void clr_order_init(struct clr_order *order)
{
    *order = (struct clr_order){.least = 0, .rowid = INT64_MIN};
}

/* Returns the rowid that a key stands for. */
static inline int64_t clr_order_rowid(int64_t key)
{
    uint64_t rowid = (uint64_t)key;

    /* Pushes seven bits of each byte together, then 14 of each two and 28 of each four. */
    rowid = (rowid & UINT64_C(0x007f007f007f007f)) | (rowid & UINT64_C(0x7f007f007f007f00)) >> 1;
    rowid = (rowid & UINT64_C(0x00003fff00003fff)) | (rowid & UINT64_C(0x3fff00003fff0000)) >> 2;
    rowid = (rowid & UINT64_C(0x000000000fffffff)) | (rowid & UINT64_C(0x0fffffff00000000)) >> 4;
    return (int64_t)rowid;
}

/* Whether there is a last row, and it has a key. */
static inline bool clr_order_has_key(const struct clr_order *order)
{
    return order->least > 0 && order->least < INT64_MAX;
}

/* Returns how many bytes the last row's key has. */
static inline uint32_t clr_order_key_bytes(const struct clr_order *order)
{
    return (71 - (uint32_t)__builtin_clzll((uint64_t)(order->least - 1) | 1)) / 8;
}

/* Returns the last row's rowid. */
static inline int64_t clr_order_last(const struct clr_order *order)
{
    return clr_order_has_key(order) ? clr_order_rowid(order->least - 1) : order->rowid;
}

/* Returns the key of a rowid that has one. */
static inline int64_t clr_order_key(int64_t rowid)
{
    int64_t key = rowid & 0x7f;
    int shift;

    for (shift = 8; (rowid >>= 7) > 0; shift += 8)
        key |= ((rowid & 0x7f) | 0x80) << shift;
    return key;
}

/* Takes a row by its rowid. Returns false if it does not come after the rows so far. */
static inline bool clr_order_take(struct clr_order *order, int64_t rowid, bool is_first)
{
    if (!is_first && rowid <= clr_order_last(order))
        return false;
    order->rowid = rowid;
    if (rowid < 0)
        order->least = 0;
    else
        order->least = rowid >> (7 * CLR_ORDER_SHORT) > 0 ? INT64_MAX : clr_order_key(rowid) + 1;
    return true;
}

/* The same by its key; the first row always follows. */
static inline bool clr_order_take_key(struct clr_order *order, int64_t key)
{
    if (key < order->least)
        return false;
    order->least = key + 1;
    return true;
}

/* Stores the key of the varint and returns where the next begins, or returns NULL: no key. */
static inline const unsigned char *clr_order_get_key(const unsigned char *bytes, int64_t *key)
{
    uint64_t eight = clr_get_u64(bytes), ends = ~eight & UINT64_C(0x8080808080800000);
    int bits;

    /* Beginning with a zero it is longer than it has to be. */
    if (__builtin_expect(ends == 0 || bytes[0] == 0x80, 0))
        return NULL;
    bits = __builtin_clzll(ends); /* in the bytes before the last */
    *key = (int64_t)(eight >> (56 - bits));
    return bytes + bits / 8 + 1;
}

#endif
