/*
 * Numbers kept in order while they come and go: the order statistics of a sliding window.
 *
 * The places (see keys.h) lie in order in blocks of some hundred, so that one comes or goes by a
 * binary search and a move within a block. A rank is looked for from where the last one was found:
 * in a window it is never far.
 */
#ifndef CLR_NUMERIC_ORDERED_H
#define CLR_NUMERIC_ORDERED_H

#include "base/memory.h"
#include "numeric/order/keys.h"

struct clr_ordered_block;

struct clr_ordered {
    struct clr_budget *budget;
    struct clr_ordered_block **blocks; /* in order; none is empty */
    size_t block_count, block_capacity;
    uint64_t count;
    size_t near_block;   /* where a rank was found last */
    uint64_t near_start; /* how many numbers come before that block */
};

/* Sets up an empty structure without memory, which will take it from the budget. */
void clr_ordered_init(struct clr_ordered *ordered, struct clr_budget *budget);

/* Frees its memory; it is empty then. */
void clr_ordered_clear(struct clr_ordered *ordered);

/* Takes in a number. Returns CLR_OK, or CLR_NOMEM or CLR_LIMIT and has not taken it. */
enum clr_code clr_ordered_insert(struct clr_ordered *ordered, clr_u128 place);

/* Takes out a number; one that is not there changes nothing. */
void clr_ordered_remove(struct clr_ordered *ordered, clr_u128 place);

/* Returns the place of the given rank, 0 for the least; rank is less than ordered->count. */
clr_u128 clr_ordered_at(struct clr_ordered *ordered, uint64_t rank);

#endif
