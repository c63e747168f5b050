/*
 * A run of a query: what one execution of a plan needs of its own. Several runs of one plan may be
 * under way at the same time.
 */
#ifndef CLR_QUERY_QUERY_RUN_H
#define CLR_QUERY_QUERY_RUN_H

#include "query/query.h"

struct clr_query_run {
    const struct clr_query *query;
    struct clr_scalar constants[CLR_MOST_CONSTANTS];
    struct clr_tally tallies[CLR_MOST_TALLIES];
    int question_count;
    struct clr_question questions[CLR_MOST_QUESTIONS]; /* the counts are the run's */
    const struct clr_lookup *lookups;                  /* those that the scan had; the caller's */
    /* The columns that the scan had, likewise; NULL: it was a stream. */
    struct clr_column *const *columns;
    unsigned char time[CLR_TIMESTAMP_MOST]; /* the text of the last time that is a value */
};

/*
 * Makes a run of a bound query. values: of each of its constants that is a parameter or an operand
 * the value that is given, BYTES for TEXT and BLOBs, or the bound that is made of it; the others
 * are not read. Returns CLR_OK with *run, to be freed before the query; CLR_INVALID, with the
 * reason, if a value is not for a scan, or a function may have an error for its arguments;
 * CLR_NOMEM.
 */
enum clr_code clr_query_run_begin(const struct clr_query *query, const struct clr_scalar *values,
                                  struct clr_query_run **run, struct clr_reason *reason);

/* Returns the run's scan: without columns, rows and lookups, which are the caller's to set, and
   without the limits of what it may take. */
struct clr_scan clr_query_run_scan(struct clr_query_run *run);

/* NULL is fine. */
void clr_query_run_free(struct clr_query_run *run);

#endif
