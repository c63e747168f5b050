/* The results of a lookup in memory that its owner, scans under way and devices share: the last one
   frees it. */
#ifndef CLR_NUMERIC_LOOKUP_RESULTS_H
#define CLR_NUMERIC_LOOKUP_RESULTS_H

#include "numeric/scan/scan.h"

#include <stdatomic.h>
#include <stdint.h>

/* Written by whoever made it, until a lookup has it. */
struct clr_lookup_results {
    atomic_int references;
    uint64_t id;      /* no other results of the process have it; not 0 */
    uint8_t *tags;    /* behind the values */
    uint8_t *truths;  /* behind them; found by clr_lookup_set() */
    int64_t values[]; /* bits */
};

/* Returns results of so many entries with one reference: all UNSURE, with values 0. NULL without
   memory. */
struct clr_lookup_results *clr_lookup_results_new(uint32_t count);

/* Any thread may take and drop references. NULL is fine for both. */
struct clr_lookup_results *clr_lookup_results_retain(struct clr_lookup_results *results);
void clr_lookup_results_release(struct clr_lookup_results *results);

/* Gives a lookup the results of count entries, whose reference becomes the lookup's, and finds out
   what they are. What the lookup had besides stays. */
void clr_lookup_set(struct clr_lookup *lookup, struct clr_lookup_results *results, uint32_t count);

/* Widens a range of some of a lookup's results to that of all that are INTEGERs. It looks at each,
   unless they are ranks. */
void clr_lookup_widen_range(const struct clr_lookup *lookup, int64_t *least, int64_t *greatest);

#endif
