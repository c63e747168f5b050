/*
 * The codes of values that a column had lately, of numbers and short TEXT and BLOBs: found with one
 * multiplication and one comparison, none of which waits for what the row before had. Whatever is
 * not there the dictionary knows.
 */
#ifndef CLR_STORAGE_CODE_CACHE_H
#define CLR_STORAGE_CODE_CACHE_H

#include "storage/format/record.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CLR_CODE_WORDS = 3, /* of eight bytes, of which a page's slack has room for one more */
    CLR_CODE_CACHE_BITS = 13,
    CLR_CODE_CACHE_SLOTS = 1 << CLR_CODE_CACHE_BITS
};

_Static_assert((CLR_CODE_WORDS + 1) * 8 <= CLR_PAGE_SLACK, "words after a value can be read");

/* A value: its bytes, and zeros up to the last word, and what it is; and, in a slot, its code. */
struct clr_code_key {
    uint64_t words[CLR_CODE_WORDS];
    uint32_t what; /* never 0 */
    uint32_t code;
};

/* Zeros: nothing is there. A value's slot follows from its key. */
struct clr_code_cache {
    struct clr_code_key slots[CLR_CODE_CACHE_SLOTS];
};

/* Which of a word's bytes are a value's, that has so many from the word's first on. */
#define CLR_CODE_MASK(size)                                                                        \
    ((size) <= 0 ? 0 : (size) >= 8 ? UINT64_MAX : ~(UINT64_MAX >> (8 * ((size)&7))))
#define CLR_CODE_MASKS(size)                                                                       \
    {                                                                                              \
        CLR_CODE_MASK(size), CLR_CODE_MASK((size)-8), CLR_CODE_MASK((size)-16)                     \
    }

/* Returns whether a TEXT or BLOB of that one-byte serial type is short enough. */
static inline bool clr_code_is_short(uint32_t type)
{
    return clr_serial_sizes[type] <= CLR_CODE_WORDS * 8;
}

/* Returns the key of a TEXT or BLOB that is. */
static inline __attribute__((always_inline)) struct clr_code_key
clr_code_key_of_bytes(uint32_t type, const unsigned char *from)
{
    static const uint64_t masks[][CLR_CODE_WORDS] = {
        CLR_CODE_MASKS(0),  CLR_CODE_MASKS(1),  CLR_CODE_MASKS(2),  CLR_CODE_MASKS(3),
        CLR_CODE_MASKS(4),  CLR_CODE_MASKS(5),  CLR_CODE_MASKS(6),  CLR_CODE_MASKS(7),
        CLR_CODE_MASKS(8),  CLR_CODE_MASKS(9),  CLR_CODE_MASKS(10), CLR_CODE_MASKS(11),
        CLR_CODE_MASKS(12), CLR_CODE_MASKS(13), CLR_CODE_MASKS(14), CLR_CODE_MASKS(15),
        CLR_CODE_MASKS(16), CLR_CODE_MASKS(17), CLR_CODE_MASKS(18), CLR_CODE_MASKS(19),
        CLR_CODE_MASKS(20), CLR_CODE_MASKS(21), CLR_CODE_MASKS(22), CLR_CODE_MASKS(23),
        CLR_CODE_MASKS(24),
    };
    const uint64_t *mask = masks[clr_serial_sizes[type]];

    return (struct clr_code_key){{clr_get_u64(from) & mask[0], clr_get_u64(from + 8) & mask[1],
                                  clr_get_u64(from + 16) & mask[2]},
                                 type + CLR_TAG_MIXED,
                                 0};
}

/* Returns the key of NULL or a number. */
static inline __attribute__((always_inline)) struct clr_code_key
clr_code_key_of_number(struct clr_scalar value)
{
    return (struct clr_code_key){{(uint64_t)value.bits}, value.tag + 1u, 0};
}

/* Returns the slot where a value is, if it is there. */
static inline __attribute__((always_inline)) struct clr_code_key *
clr_code_cache_slot(struct clr_code_cache *cache, const struct clr_code_key *key)
{
    const uint64_t hash = key->words[0] + key->words[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
                          key->words[2] * UINT64_C(0x165667b19e3779f9) + key->what;

    return &cache->slots[hash * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CLR_CODE_CACHE_BITS)];
}

static inline __attribute__((always_inline)) bool clr_code_slot_has(const struct clr_code_key *slot,
                                                                    const struct clr_code_key *key)
{
    return ((slot->words[0] ^ key->words[0]) | (slot->words[1] ^ key->words[1]) |
            (slot->words[2] ^ key->words[2]) | (slot->what ^ key->what)) == 0;
}

#endif
