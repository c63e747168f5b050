/*
 * The numbers among the values that a collection of distinct values (numeric/distinct.h) is to
 * count: in its tables, or, once most of many numbers have turned out to be different and a device
 * is worth asking, kept apart for the device to put in order. One thread at a time uses each.
 */
#ifndef CLR_ENGINE_FED_DISTINCT_H
#define CLR_ENGINE_FED_DISTINCT_H

#include "base/settings.h"
#include "base/stats.h"
#include "engine/fed_order.h"
#include "numeric/distinct.h"

struct clr_fed_distinct {
    struct clr_distinct *distinct; /* the caller's, as the settings are */
    const struct clr_settings *settings;
    bool keeping;         /* the numbers are all here, and none is in the tables */
    bool reals, integers; /* there are such */
    uint64_t count;       /* of the numbers so far */
    uint64_t look;        /* different values at which a device is thought of next */
    struct clr_kept kept;
    struct clr_kept_feed feed;
    struct clr_fed_order order;
};

/* Sets up for an empty collection; budget is that of the collection. */
void clr_fed_distinct_init(struct clr_fed_distinct *fed, struct clr_distinct *distinct,
                           struct clr_budget *budget, const struct clr_settings *settings);

/* Adds numbers of the kind, CLR_KIND_INTEGER (int64_t) or CLR_KIND_REAL (double, no NaN). Returns
   as clr_distinct_add_reals() does. */
enum clr_code clr_fed_distinct_add(struct clr_fed_distinct *fed, enum clr_kind kind,
                                   const void *numbers, size_t count);

/* Decides whether to keep numbers from now on: to be called after some have been added, unless they
   may leave again. */
void clr_fed_distinct_consider(struct clr_fed_distinct *fed);

/* Brings all numbers back into the tables, block by block. Returns CLR_OK, or CLR_NOMEM or
   CLR_LIMIT, after which part of them may be there. */
enum clr_code clr_fed_distinct_fold(struct clr_fed_distinct *fed);

/* Asks the device for the runs of equal numbers, whose values *mode is the most frequent of.
   Returns false if it has no answer, or is not to be asked. What was done is added to stats. */
bool clr_fed_distinct_ask(struct clr_fed_distinct *fed, struct clr_stats *stats,
                          struct clr_runs *runs, struct clr_value *mode);

/* Frees what is kept and starts anew, for an empty collection. */
void clr_fed_distinct_end(struct clr_fed_distinct *fed);

#endif
