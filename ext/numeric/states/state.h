/*
 * The state of an aggregate: what is known so far, exact and mergeable. Host and device both
 * reduce chunks to it, and merging two of them is all the coupling between the paths.
 */
#ifndef CLR_NUMERIC_STATE_H
#define CLR_NUMERIC_STATE_H

#include "numeric/exact/sum.h"
#include "numeric/values/value.h"

#include <stdbool.h>
#include <stdint.h>

/* The extremes of the numbers seen, by element type; REALs as keys (clr_real_to_key). */
struct clr_range {
    bool seen;
    int64_t least, greatest;
};

struct clr_state {
    int64_t count;        /* rows that count: NULLs skipped, leaving rows subtracted */
    int64_t non_integers; /* of those, rows with an operand of another type: the result is REAL */
    struct clr_sum sum;   /* of x, or of x*y: that of the operation's first term */
    struct clr_range integers, reals;
    struct clr_sum *more; /* those of its further terms, in memory of the state's owner */
    int more_count;
};

/* Sets the state to that of no rows, without further sums. Must come before any other use. */
void clr_state_clear(struct clr_state *state);

/* Gives a cleared state its further sums, count of them, which are set to zero. They must live as
   long as the state. */
void clr_state_extend(struct clr_state *state, struct clr_sum *more, int count);

/* Returns the sum of an operation's term. */
static inline struct clr_sum *clr_state_sum(struct clr_state *state, int term)
{
    return term == 0 ? &state->sum : &state->more[term - 1];
}

/* Adds other to state, as if its rows had been state's own; other keeps its value. Both have the
   same further sums. */
void clr_state_merge(struct clr_state *state, struct clr_state *other);

/* Widens a range to include a value. */
static inline void clr_range_add(struct clr_range *range, int64_t value)
{
    if (!range->seen || value < range->least)
        range->least = value;
    if (!range->seen || value > range->greatest)
        range->greatest = value;
    range->seen = true;
}

/*
 * Stores the least (sign < 0) or greatest (sign > 0) number; its kind is CLR_KIND_NONE if there
 * was none. Equal numbers of two types: the INTEGER.
 */
void clr_state_extreme(const struct clr_state *state, int sign, struct clr_value *result);

#endif
