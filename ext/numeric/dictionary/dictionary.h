/*
 * The distinct values of a column, each with a code: its number, from 0, in the order in which they
 * were added. Codes stay valid while values are added. Two values are the same if their types and
 * all their bits are: 1 and 1.0 are two, as are 0.0 and -0.0, and NULL is one.
 */
#ifndef CLR_NUMERIC_DICTIONARY_H
#define CLR_NUMERIC_DICTIONARY_H

#include "base/status.h"
#include "numeric/values/bytes.h"
#include "numeric/values/scalar.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The most entries: what is asked of a column of more is quicker asked of its rows. */
enum { CLR_DICTIONARY_MOST = 1 << 24 };

struct clr_dictionary {
    atomic_int references;
    uint32_t count;         /* of the entries */
    struct clr_scalar *entries; /* of BYTES the bits are an address in `bytes` */
    struct clr_bytes bytes;
    uint32_t capacity;      /* entries there is room for */
    uint32_t *slots;        /* a hash table: 1 + a code, or 0; slot_count is a power of two */
    uint32_t *hashes;       /* of each entry */
    size_t slot_count;
    uint64_t seed;
    uint32_t last;          /* the code that was returned last: rows often repeat */
};

/*
 * Returns an empty dictionary with one reference, or NULL without memory. seed: any number that who
 * chooses the values does not know. left: bytes that the entries may take, shared as that of
 * clr_bytes is; NULL: any.
 */
struct clr_dictionary *clr_dictionary_new(uint64_t seed, atomic_int_least64_t *left);

/* Any thread may take and drop references; the last one frees. NULL is fine for the second. */
struct clr_dictionary *clr_dictionary_retain(struct clr_dictionary *dictionary);
void clr_dictionary_release(struct clr_dictionary *dictionary);

/*
 * Find the code of a value, which is added if it is new: of NULL, an INTEGER or a REAL, and of a
 * TEXT or BLOB of size bytes, 2^31 - 1 at most. Return CLR_OK with *code; CLR_NOMEM; CLR_LIMIT if
 * the value would take more than is left, or there are CLR_DICTIONARY_MOST. To be used by one thread
 * at a time.
 */
enum clr_code clr_dictionary_add(struct clr_dictionary *dictionary, struct clr_scalar number,
                                 uint32_t *code);
enum clr_code clr_dictionary_add_bytes(struct clr_dictionary *dictionary, enum clr_kind kind,
                                       const void *bytes, size_t size, uint32_t *code);

/* Adds the entries of another dictionary that are new, and stores the code that each of its entries
   has here in map[0 .. from->count - 1]. Returns as the others do. */
enum clr_code clr_dictionary_merge(struct clr_dictionary *dictionary,
                                   const struct clr_dictionary *from, uint32_t *map);

/* Returns the memory that it takes, in bytes. */
size_t clr_dictionary_size(const struct clr_dictionary *dictionary);

#endif
