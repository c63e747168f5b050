/*
 * Lookups: what an expression over a column of codes is for each entry of the column's dictionary.
 * A scan reads the results by the rows' codes.
 */
#ifndef CLR_NUMERIC_LOOKUP_H
#define CLR_NUMERIC_LOOKUP_H

#include "numeric/scan/row_truths.h"
#include "numeric/values/bytes.h"
#include "numeric/values/value.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For so many codes truths can be read, also where entries are fewer: those that a byte may be. */
enum { CLR_LEAST_TRUTHS = 256 };

/*
 * The results in memory that lookups of one or more queries, scans under way and devices share: the
 * last one frees it. Written by whoever made it, until a lookup has it; but for the truths of rows,
 * which have a lock of their own.
 */
struct clr_lookup_results {
    atomic_int references;
    uint64_t id; /* no other results of the process have it; not 0 */
    size_t size; /* of this struct and what is behind it, in bytes */
    struct clr_shared_truths rows;
    /* Of results that are needed in order: they are INTEGERs, the places of the values here. Else
       NULL. */
    struct clr_value *ranked;
    size_t ranked_count;
    struct clr_bytes bytes; /* theirs */
    uint32_t *truths;       /* behind the values; found by clr_lookup_set(), as are the next ones */
    uint32_t *truth_counts; /* behind them */
    uint8_t *tags;          /* behind these */
    int64_t values[];       /* bits */
};

/* Returns results of so many entries with one reference: all UNSURE, with values 0. NULL without
   memory. */
struct clr_lookup_results *clr_lookup_results_new(uint32_t count);

/* Any thread may take and drop references. NULL is fine for both. */
struct clr_lookup_results *clr_lookup_results_retain(struct clr_lookup_results *results);
void clr_lookup_results_release(struct clr_lookup_results *results);

/* A lookup as a scan has it. Zeros: none. A result is UNSURE where SQLite reports an error for that
   entry, or it is not known. */
struct clr_lookup {
    uint32_t count; /* of the dictionary's entries */
    uint8_t kind;   /* the tag of all results, or CLR_TAG_MIXED */
    uint8_t types;  /* bits 1 << tag of the results */
    bool is_short;  /* there is no REAL, and all values are from -128 to 127 */
    const uint8_t *tags;
    const int64_t
        *values; /* bits; 0 for NULL, UNSURE and BYTES, whose bytes nobody has asked for */
    /* Whether each result is true, 32 in a word, that of the first one its lowest bit, with one
       word more than are needed; NULL: nobody has found that out. */
    const uint32_t *truths;
    const uint32_t *truth_counts; /* of the words before each, how many have some */
    uint32_t true_count;          /* how many results are true */
    uint32_t first_true;          /* the first of them */
    bool are_beside; /* the true ones are beside each other, as those of a year are of days */
    const struct clr_value *ranked; /* the results' */
    size_t ranked_count;
    struct clr_lookup_results *results; /* where all of these lie, with a reference */
    struct clr_row_truths rows;         /* the results', as the lookup has taken them */
};

/* Returns the tag of an entry's result. */
static inline uint8_t clr_lookup_tag(const struct clr_lookup *lookup, uint32_t code)
{
    return lookup->kind == CLR_TAG_MIXED ? lookup->tags[code] : lookup->kind;
}

/* Returns whether the result for an entry, of a lookup that has truths, is true. */
static inline uint64_t clr_lookup_is_true(const struct clr_lookup *lookup, uint32_t code)
{
    return lookup->truths[code / 32] >> code % 32 & 1;
}

/* Makes a lookup of the results of count entries, whose reference becomes the lookup's, and finds
   out what they are. */
void clr_lookup_set(struct clr_lookup *lookup, struct clr_lookup_results *results, uint32_t count);

/* Makes a copy of a lookup, with a reference of its own, without truths of rows. */
void clr_lookup_copy(struct clr_lookup *copy, const struct clr_lookup *lookup);

/* Has a lookup take the truths of rows that its results have by now. */
void clr_lookup_take_truths(struct clr_lookup *lookup);

/* Returns how many bytes the results take, with their values; truths of rows are counted apart. */
size_t clr_lookup_size(const struct clr_lookup *lookup);

/* Drops what a lookup refers to: it is none then. */
void clr_lookup_free(struct clr_lookup *lookup);

#endif
