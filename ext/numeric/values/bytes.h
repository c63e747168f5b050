/*
 * The bytes of a column's TEXT and BLOBs: each value is a record in blocks of memory, where it
 * stays until all of them are freed, and its address stands for it in the column.
 */
#ifndef CLR_NUMERIC_BYTES_H
#define CLR_NUMERIC_BYTES_H

#include "base/status.h"
#include "numeric/values/int192.h"
#include "numeric/values/value.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct clr_bytes_block;

/* To be used by one thread at a time. Zeros: no values, and no limit. */
struct clr_bytes {
    struct clr_bytes_block *blocks; /* the first one is being filled */
    unsigned char *next, *end;      /* of what is free in it */
    size_t step;                    /* size of the latest block that is to be filled */
    size_t size;                    /* bytes that all blocks take */
    size_t longest;                 /* bytes of the longest value */
    /* Bytes that blocks may still take, with those of others who share the number; NULL: any. */
    atomic_int_least64_t *left;
    enum clr_code code; /* CLR_OK, or why a value could not be added: CLR_NOMEM, CLR_LIMIT */
};

/*
 * Makes room for a TEXT or BLOB of size bytes, 2^31 - 1 at most. Stores its address, and returns
 * where the caller has to put the bytes; NULL without memory, or beyond what is left: code says
 * which, and from then on nothing is added.
 */
unsigned char *clr_bytes_add(struct clr_bytes *bytes, enum clr_kind kind, size_t size,
                             int64_t *address);

/* Returns the value at an address, whose bytes stay where they are. */
static inline struct clr_value clr_bytes_value(int64_t address)
{
    const unsigned char *record = (const unsigned char *)(uintptr_t)address;
    struct clr_value value;
    uint32_t head;

    memcpy(&head, record, sizeof head);
    value.kind = head & 1 ? CLR_KIND_BLOB : CLR_KIND_TEXT;
    value.as.size = head >> 1;
    value.bytes = record + sizeof head;
    return value;
}

/* Returns the value that a scalar is, of kind NONE if that is NULL. */
static inline struct clr_value clr_scalar_value(const struct clr_scalar *scalar)
{
    return scalar->tag == CLR_TAG_BYTES ? clr_bytes_value(scalar->bits) : clr_number_value(*scalar);
}

/* Moves all values of `from` to `to`; they keep their addresses. */
void clr_bytes_append(struct clr_bytes *to, struct clr_bytes *from);

/* Forgets all values. Keeps one block to reuse, and gives what the others took back to what is
   left. */
void clr_bytes_clear(struct clr_bytes *bytes);

/* Frees all values, but gives nothing back to what is left. */
void clr_bytes_free(struct clr_bytes *bytes);

/*
 * Eight bytes of a value, the last ones filled up: equal for equal bytes. For hashes, which know
 * the size.
 */
static inline uint64_t clr_bytes_word(const unsigned char *bytes, size_t size)
{
    uint64_t word = 0;
    uint32_t low, high;

    if (size >= sizeof word) {
        memcpy(&word, bytes, sizeof word);
    } else if (size >= sizeof low) {
        memcpy(&low, bytes, sizeof low);
        memcpy(&high, bytes + size - sizeof high, sizeof high);
        word = (uint64_t)high << 32 | low;
    } else if (size > 0) {
        word = (uint64_t)bytes[0] << 16 | (uint64_t)bytes[size / 2] << 8 | bytes[size - 1];
    }
    return word;
}

/* Both halves of a product: every bit of the result depends on many of the arguments'. */
static inline uint64_t clr_bytes_fold(uint64_t a, uint64_t b)
{
    clr_u128 product = (clr_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns a hash of a TEXT or BLOB. seed: any number that who chooses the values does not know. */
static inline uint64_t clr_bytes_hash(const struct clr_value *value, uint64_t seed)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    const unsigned char *bytes = value->bytes;
    size_t size = value->as.size, step;
    uint64_t hash = seed ^ clr_bytes_fold(size ^ factor, (uint64_t)value->kind + factor);

    for (; size > 0; size -= step, bytes += step) {
        step = size < sizeof hash ? size : sizeof hash;
        hash = clr_bytes_fold(hash ^ clr_bytes_word(bytes, step), factor) + seed;
    }
    return clr_bytes_fold(hash ^ factor, seed | 1);
}

/* Whether two values, TEXT or BLOB, are the same. */
static inline bool clr_bytes_equal(const struct clr_value *a, const struct clr_value *b)
{
    return a->kind == b->kind && a->as.size == b->as.size &&
           (a->as.size == 0 || memcmp(a->bytes, b->bytes, a->as.size) == 0);
}

/* ---- SQLite's LIKE of TEXT in UTF-8, for patterns of a simple kind. */

/* Whether a pattern is one that clr_text_is_like() knows: of ASCII letters, without '_' and zeros,
   and no longer than is sensible. */
bool clr_like_knows(const char *pattern, size_t size);

/*
 * Whether a text is like such a pattern, as SQLite has it: case of ASCII letters does not matter,
 * '%' stands for any bytes, and a zero ends the text. No byte of a character beyond ASCII is an
 * ASCII letter, so characters need not be found.
 */
bool clr_text_is_like(const char *pattern, size_t size, const unsigned char *text,
                      size_t text_size);

#endif
