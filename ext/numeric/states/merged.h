/*
 * States that are merged: what F_merge() and F_state_merge() know of the states so far. Merging is
 * exact, so that it does not show in which order it was done, nor how the states were divided among
 * several of these, which are joined at the end.
 */
#ifndef CLR_NUMERIC_MERGED_H
#define CLR_NUMERIC_MERGED_H

#include "base/status.h"
#include "numeric/bins/bins.h"
#include "numeric/states/state_format.h"

/* It has pointers into itself, and stays where it is. */
struct clr_merged {
    enum clr_state_kind kind;
    struct clr_sums sums; /* of kinds of sums: all point to those that follow */
    struct clr_sum sum[CLR_MOST_TERMS];
    struct clr_value extreme; /* of MIN and MAX; CLR_KIND_NONE: no rows */
    void *bytes;              /* room for those of the extreme */
    size_t room;
    struct clr_bins bins;
    uint64_t *counters; /* of BINS: bins.count + 2 of them, or NULL: no rows */
    uint64_t total;     /* of the counters */
    uint64_t memory;    /* bytes that the counters may take */
};

/* Begins without states. memory: bytes that a histogram's counters may take. */
void clr_merged_init(struct clr_merged *merged, enum clr_state_kind kind, uint64_t memory);

/* Frees what it holds; it can be begun again. */
void clr_merged_free(struct clr_merged *merged);

/*
 * Adds a state, which is any TEXT or BLOB, and is not needed any more then. Returns CLR_OK;
 * CLR_INVALID, if it is no state of the kind, or cannot be merged with the others: then the SQL
 * function has an error to report; CLR_NOMEM or CLR_LIMIT.
 */
enum clr_code clr_merged_add(struct clr_merged *merged, const struct clr_value *state);

/* Adds all that another one of the same kind has. Returns as clr_merged_add(). */
enum clr_code clr_merged_join(struct clr_merged *merged, struct clr_merged *other);

#endif
