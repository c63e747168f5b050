/* What a running gpu_histogram is: for histogram.c, which counts rows, and histogram_merge.c, which
   takes states. */
#ifndef CLR_SQLITE_HISTOGRAM_PRIVATE_H
#define CLR_SQLITE_HISTOGRAM_PRIVATE_H

#include "numeric/bins/bins.h"
#include "sqlite/api.h"
#include "sqlite/session/spares.h"

/* Counters that need no memory of their own. */
enum { CLR_FEW_COUNTERS = 66 };

struct clr_histogram {
    struct clr_spare spare;
    struct clr_bins bins;
    uint64_t total;    /* how many are counted */
    uint64_t *counter; /* bins.count + 2: few, or memory of its own */
    uint64_t few[CLR_FEW_COUNTERS];
};

struct clr_histogram_context {
    struct clr_histogram *histogram; /* NULL before the first row */
};

/*
 * Sets up the context's counters, all zero, for bins that are valid. Returns false with the
 * function's error set.
 */
bool clr_histogram_begin(sqlite3_context *sql, struct clr_histogram_context *context,
                         const struct clr_value *low, const struct clr_value *high, int64_t bins);

/* Frees what the context has. */
void clr_histogram_end(sqlite3_context *sql, struct clr_histogram_context *context);

#endif
