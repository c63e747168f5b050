/*
 * The numbers among the values that a collection of distinct values (numeric/distinct/distinct.h)
 * is to count: in its tables, or, once there are many and most have turned out to be different,
 * kept apart to be counted together at the end. That takes the host's threads a fifth of the time
 * that tables take which are larger than a processor's caches. One thread at a time uses each.
 */
#ifndef CLR_ENGINE_FED_DISTINCT_H
#define CLR_ENGINE_FED_DISTINCT_H

#include "base/settings.h"
#include "engine/worker/team.h"
#include "numeric/distinct/distinct.h"
#include "numeric/distinct/distinct_counting.h"
#include "numeric/order/kept.h"

struct clr_fed_distinct {
    struct clr_distinct *distinct; /* the caller's, as the settings are */
    const struct clr_settings *settings;
    bool keeping;   /* the numbers are all here, and none is in the tables */
    uint64_t count; /* of the numbers so far */
    uint64_t look;  /* numbers if keeping, else different values, at which to decide next */
    struct clr_kept kept;
    struct clr_feed feed;
};

/* Sets up for an empty collection; budget is that of the collection. */
void clr_fed_distinct_init(struct clr_fed_distinct *fed, struct clr_distinct *distinct,
                           struct clr_budget *budget, const struct clr_settings *settings);

/* Adds numbers of the kind, CLR_KIND_INTEGER (int64_t) or CLR_KIND_REAL (double, no NaN). Returns
   as clr_distinct_add_numbers() does. */
enum clr_code clr_fed_distinct_add(struct clr_fed_distinct *fed, enum clr_kind kind,
                                   const void *numbers, size_t count);

/* Decides whether to keep numbers from now on, or no more: to be called after some have been added,
   unless they may leave again. watch may be NULL. Returns CLR_OK, CLR_STOPPED, or as
   clr_fed_distinct_fold(). */
enum clr_code clr_fed_distinct_consider(struct clr_fed_distinct *fed,
                                        const struct clr_watch *watch);

/* Brings all numbers back into the tables, each as often as it has come. Meanwhile they are beyond
   the budget. watch may be NULL. Returns CLR_OK, or CLR_STOPPED, CLR_NOMEM or CLR_LIMIT, after
   which part of them may be there. */
enum clr_code clr_fed_distinct_fold(struct clr_fed_distinct *fed, const struct clr_watch *watch);

/* Counts the numbers that are kept, and with_mode finds their mode. watch may be NULL. Returns
   CLR_OK; CLR_STOPPED; CLR_NOMEM or CLR_LIMIT: the tables may take less. */
enum clr_code clr_fed_distinct_count(struct clr_fed_distinct *fed, bool with_mode,
                                     const struct clr_watch *watch,
                                     struct clr_distinct_result *result);

/* Frees what is kept and starts anew, for an empty collection. */
void clr_fed_distinct_end(struct clr_fed_distinct *fed);

#endif
