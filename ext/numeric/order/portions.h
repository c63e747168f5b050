/*
 * Numbers in portions, for work that is done on all of them at the same time: by threads, which are
 * the business of a higher floor, or one after the other.
 */
#ifndef CLR_NUMERIC_PORTIONS_H
#define CLR_NUMERIC_PORTIONS_H

#include "numeric/values/runs.h"

#include <stdatomic.h>
#include <stdbool.h>

/* What is done with portion i. Returns soon after *stop has become true, whatever it has done. */
typedef void clr_portion_work(void *argument, int i, const atomic_bool *stop);

struct clr_portions {
    int count; /* 1 and up */
    /* count + 1 places in one list of runs: a portion ends where the next one starts; the last one
       is NULL. */
    const struct clr_run *const *starts;
    /* Does the work for i from 0 to count - 1, all at once if it can, and returns when all is done;
       false if it was stopped. NULL: the caller's thread does it, and nothing stops it. */
    bool (*run)(void *context, int count, clr_portion_work *work, void *argument);
    void *context;
};

/* Does the work on every portion. Returns false if it was stopped. */
bool clr_portions_run(const struct clr_portions *portions, clr_portion_work *work, void *argument);

/* Returns how many numbers a portion has. */
uint64_t clr_portion_count(const struct clr_portions *portions, int i);

/* Whether the work is to stop. */
static inline bool clr_portion_stops(const atomic_bool *stop)
{
    return atomic_load_explicit(stop, memory_order_relaxed);
}

#endif
