/*
 * The distinct values of a column, each with a code: its number, from 0, in the order in which they
 * were added. Codes stay valid while values are added. Two values are the same if their types and
 * all their bits are: 1 and 1.0 are two, as are 0.0 and -0.0, and NULL is one.
 */
#ifndef CLR_NUMERIC_DICTIONARY_H
#define CLR_NUMERIC_DICTIONARY_H

#include "base/status.h"
#include "numeric/values/bytes.h"
#include "numeric/values/value.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most entries: what is asked of a column of more is quicker asked of its rows. */
enum { CLR_DICTIONARY_MOST = 1 << 24 };

/*
 * A column has too many values for a dictionary if these are more than CLR_DICTIONARY_FEW, and
 * more than one in CLR_DICTIONARY_PART of its rows.
 */
enum { CLR_DICTIONARY_FEW = 1 << 16, CLR_DICTIONARY_PART = 4 };

struct clr_dictionary {
    atomic_int references;
    uint32_t count;             /* of the entries */
    struct clr_scalar *entries; /* of BYTES the bits are an address in `bytes` */
    struct clr_bytes bytes;     /* its `left` is that of the dictionary */
    bool has_null;              /* NULL is an entry */
    uint32_t capacity;          /* entries there is room for */
    /* A hash table: of an entry 32 bits of its hash, and below them 1 + its code; else 0. */
    uint64_t *slots;
    size_t slot_count; /* a power of two */
    uint64_t seed;
    uint64_t id;                   /* no other dictionary of the process has it */
    uint32_t last;                 /* the code that was returned last: rows often repeat */
    struct clr_dictionary *viewed; /* of a view: the dictionary, with a reference; else NULL */
};

/*
 * Returns an empty dictionary with one reference, or NULL without memory. seed: any number that who
 * chooses the values does not know. left: bytes that it may take, shared as that of clr_bytes is;
 * NULL: any. What it takes is clr_dictionary_size(), which nobody gives back.
 */
struct clr_dictionary *clr_dictionary_new(uint64_t seed, atomic_int_least64_t *left);

/*
 * Returns a view of a dictionary that does not change while there are views, with one reference, or
 * NULL without memory: a dictionary of the same entries, one for each thread that finds codes. A
 * new value is CLR_LIMIT there.
 */
struct clr_dictionary *clr_dictionary_new_view(struct clr_dictionary *dictionary);

/* Sees that there is room for count entries in all, as adding them one by one does in steps that
   double it. Returns as clr_dictionary_add() does. */
enum clr_code clr_dictionary_reserve(struct clr_dictionary *dictionary, uint32_t count);

/* Any thread may take and drop references; the last one frees. NULL is fine for both. */
struct clr_dictionary *clr_dictionary_retain(struct clr_dictionary *dictionary);
void clr_dictionary_release(struct clr_dictionary *dictionary);

/* As clr_dictionary_add() below, for a value that is not the one that was returned last. */
enum clr_code clr_dictionary_find(struct clr_dictionary *dictionary, struct clr_scalar number,
                                  uint32_t *code);

/*
 * The same of TEXT and BLOBs, in two steps. For many values one after the other, what the second
 * looks at for a hash lies apart, and is fetched before it is needed, each time for all values.
 * That is worth it where clr_dictionary_is_far().
 */
uint32_t clr_dictionary_hash(const struct clr_dictionary *dictionary, enum clr_kind kind,
                             const void *bytes, size_t size);
enum clr_code clr_dictionary_find_hashed(struct clr_dictionary *dictionary, enum clr_kind kind,
                                         const void *bytes, size_t size, uint32_t hash,
                                         uint32_t *code);

/* Whether its hash table takes more than stays near a processor. */
static inline bool clr_dictionary_is_far(const struct clr_dictionary *dictionary)
{
    return dictionary->slot_count > (size_t)1 << 15;
}

/* Fetches the slot where a value is looked for first. This function, and the other one that
   fetches, are inlined in any case: GCC takes one that does nothing else for one without effects,
   and leaves out its calls. */
static inline __attribute__((always_inline)) void
clr_dictionary_fetch_slot(const struct clr_dictionary *dictionary, uint32_t hash)
{
    __builtin_prefetch(&dictionary->slots[hash & (dictionary->slot_count - 1)]);
}

/* Returns the first entry with that hash, or NULL. */
static inline __attribute__((always_inline)) const struct clr_scalar *
clr_dictionary_likely(const struct clr_dictionary *dictionary, uint32_t hash)
{
    const size_t mask = dictionary->slot_count - 1;
    size_t i = hash & mask;

    while (dictionary->slots[i] != 0 && dictionary->slots[i] >> 32 != hash)
        i = (i + 1) & mask;
    return dictionary->slots[i] == 0 ? NULL
                                     : &dictionary->entries[(uint32_t)dictionary->slots[i] - 1];
}

/* Fetches the entries that are likely to have so many hashes, whose slots have been fetched, and
   then their bytes. */
static inline __attribute__((always_inline)) void
clr_dictionary_fetch_entries(const struct clr_dictionary *dictionary, const uint32_t *hashes,
                             size_t count)
{
    const struct clr_scalar *entry;
    size_t i;

    for (i = 0; i < count; i++) {
        entry = clr_dictionary_likely(dictionary, hashes[i]);
        if (entry != NULL)
            __builtin_prefetch(entry);
    }
    for (i = 0; i < count; i++) {
        entry = clr_dictionary_likely(dictionary, hashes[i]);
        if (entry != NULL && entry->tag == CLR_TAG_BYTES)
            __builtin_prefetch((const void *)(uintptr_t)entry->bits);
    }
}

/* Whether an entry is the TEXT or BLOB. */
static inline __attribute__((always_inline)) bool
clr_dictionary_has_bytes(const struct clr_scalar *entry, enum clr_kind kind,
                         const unsigned char *bytes, size_t size)
{
    struct clr_value value;

    if (entry->tag != CLR_TAG_BYTES)
        return false;
    value = clr_bytes_value(entry->bits);
    if (value.kind != kind || value.as.size != size)
        return false;
    /* Most are short. The ends of both overlap. */
    if (size > 2 * sizeof(uint64_t))
        return memcmp(value.bytes, bytes, size) == 0;
    if (size <= sizeof(uint64_t))
        return clr_bytes_word(value.bytes, size) == clr_bytes_word(bytes, size);
    return ((clr_bytes_word(value.bytes, sizeof(uint64_t)) ^
             clr_bytes_word(bytes, sizeof(uint64_t))) |
            (clr_bytes_word(value.bytes + size - sizeof(uint64_t), sizeof(uint64_t)) ^
             clr_bytes_word(bytes + size - sizeof(uint64_t), sizeof(uint64_t)))) == 0;
}

/*
 * Find the code of a value, which is added if it is new: of NULL, an INTEGER or a REAL, and of a
 * TEXT or BLOB of size bytes, 2^31 - 1 at most. Return CLR_OK with *code; CLR_NOMEM; CLR_LIMIT if
 * the value would take more than is left, or there are CLR_DICTIONARY_MOST; the dictionary is as it
 * was then. To be used by one thread at a time.
 */
static inline __attribute__((always_inline)) enum clr_code
clr_dictionary_add(struct clr_dictionary *dictionary, struct clr_scalar number, uint32_t *code)
{
    const struct clr_scalar last = dictionary->entries[dictionary->last];

    if (last.tag == number.tag && last.bits == number.bits && dictionary->count > 0) {
        *code = dictionary->last;
        return CLR_OK;
    }
    return clr_dictionary_find(dictionary, number, code);
}

static inline __attribute__((always_inline)) enum clr_code
clr_dictionary_add_bytes(struct clr_dictionary *dictionary, enum clr_kind kind, const void *bytes,
                         size_t size, uint32_t *code)
{
    if (dictionary->count > 0 &&
        clr_dictionary_has_bytes(&dictionary->entries[dictionary->last], kind, bytes, size)) {
        *code = dictionary->last;
        return CLR_OK;
    }
    return clr_dictionary_find_hashed(dictionary, kind, bytes, size,
                                      clr_dictionary_hash(dictionary, kind, bytes, size), code);
}

/*
 * Adds those of count values that are new, as another dictionary has them, of bytes with an
 * address, and stores the code of each. The processor waits once for memory that many of them are
 * looked for in. Returns as the others do; some may have been added then.
 */
enum clr_code clr_dictionary_add_all(struct clr_dictionary *dictionary,
                                     const struct clr_scalar *entries, uint32_t count,
                                     uint32_t *codes);

/* Whether so many entries are too many for a column, or a part of one, of so many rows. */
static inline bool clr_dictionary_is_large(const struct clr_dictionary *dictionary, size_t rows)
{
    return dictionary->count > CLR_DICTIONARY_FEW && dictionary->count > rows / CLR_DICTIONARY_PART;
}

/* Returns the memory that it takes, in bytes. */
size_t clr_dictionary_size(const struct clr_dictionary *dictionary);

#endif
