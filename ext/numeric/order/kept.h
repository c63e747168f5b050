/*
 * Numbers that are kept, all of them, in no order: INTEGERs and REALs apart, in blocks that grow.
 * A block is filled through a feed, so that the most frequent step is an append and no call.
 */
#ifndef CLR_NUMERIC_KEPT_H
#define CLR_NUMERIC_KEPT_H

#include "base/memory.h"
#include "numeric/order/selection.h"

#include <stdint.h>

/* Where numbers go that come one by one. */

/*
 * Where the next number of each element type goes. The owner appends at real or integer while they
 * are short of their ends (of pairs the second operand at a distance that the owner knows), and
 * else asks for room. All zeros: there is none yet.
 */
struct clr_feed {
    double *real, *real_end;
    int64_t *integer, *integer_end;
};

enum { CLR_KEPT_FIRST = 64 }; /* numbers of each type that the first block has room for */

/* A block counts towards the budget for as long as the store has it. */
struct clr_kept_block {
    struct clr_kept_block *next; /* in the store */
    size_t size;                 /* bytes of all of it */
    struct clr_run run;
    int64_t values[]; /* or as many doubles */
};

struct clr_kept {
    struct clr_budget *budget;
    struct clr_kept_block *blocks;           /* the newest first */
    struct clr_kept_block *reals, *integers; /* that each side of the feed fills, or NULL */
};

/* Sets up an empty store. */
void clr_kept_init(struct clr_kept *kept, struct clr_budget *budget);

/* Frees what it holds; it is empty then, and its feed must be all zeros again. */
void clr_kept_clear(struct clr_kept *kept);

/* Makes room for a number of the kind, CLR_KIND_INTEGER or CLR_KIND_REAL, in the feed. Returns
   CLR_OK, or CLR_NOMEM or CLR_LIMIT and the feed is as it was. */
enum clr_code clr_kept_make_room(struct clr_kept *kept, struct clr_feed *feed, enum clr_kind kind);

/* Returns the numbers so far; the list is the store's, and valid until one is added. NULL: none. */
const struct clr_run *clr_kept_runs(struct clr_kept *kept, const struct clr_feed *feed);

/*
 * Takes all blocks out of the store, and the budget, and returns the newest, from which the others
 * follow; all are the caller's, for clr_memory_free(). Nothing may be added any more.
 */
struct clr_kept_block *clr_kept_take_blocks(struct clr_kept *kept);

#endif
