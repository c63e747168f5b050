/*
 * A few leaves of a table, decoded one by one into columns of their own: those that a refresh finds
 * to be changed.
 */
#ifndef CLR_STORAGE_FEW_LEAVES_H
#define CLR_STORAGE_FEW_LEAVES_H

#include "storage/leaves/leaf_reader.h"

struct clr_few_leaves {
    int count;
    struct clr_column **columns; /* one for each field, at its position */
    atomic_int_least64_t left;   /* bytes that TEXT, BLOBs and dictionaries may still take */
    size_t leaf_count, room;
    struct clr_leaf *leaves;
    size_t *at; /* where their rows begin */
    struct clr_leaf_reader reader;
};

/*
 * Begins with columns for the fields, and room for so many leaves, of pages that are read by way of
 * pages; fields and pages are as for clr_leaf_reader_init(). The bytes of TEXT and BLOBs, and the
 * dictionaries of the columns with codes, whose seed is given, may take most_bytes, 0: any. Returns
 * CLR_LOAD_DONE or CLR_LOAD_FAILED. Free in any case; it may be zeros then, and stays where it is.
 */
enum clr_load_outcome clr_few_leaves_init(struct clr_few_leaves *few, struct clr_pages *pages,
                                          const struct clr_field *fields, int count, size_t room,
                                          size_t most_bytes, uint64_t seed);
void clr_few_leaves_free(struct clr_few_leaves *few);

/* Decodes a leaf whose rows come after those of the leaves before; only if it is the table's only
   one it may be empty. CLR_LOAD_TOO_LARGE: there is no more room. */
enum clr_load_outcome clr_few_leaves_add(struct clr_few_leaves *few, uint32_t number, bool is_only);

/* Completes the columns, which stay here. */
void clr_few_leaves_end(struct clr_few_leaves *few);

#endif
