/*
 * One run of a view's plan, for one query: columns that are here are scanned, on a device or by the
 * host's threads; else they are loaded from pages, and scanned; where they do not fit, the host
 * scans while the pages pass, and keeps no column; where there are no pages to be read, SQLite
 * fills columns, which are scanned. Wherever that is impossible, SQLite runs the SELECT.
 */
#ifndef CLR_SQLITE_RUN_H
#define CLR_SQLITE_RUN_H

#include "query/query.h"
#include "sqlite/columns/column_source.h"
#include "sqlite/lookups/lookups.h"
#include "sqlite/view/kept_answer.h"
#include "sqlite/view/plan.h"

/* The values of a run: the SELECT's parameters, from ?1 on, and behind them the operands, as the
   query numbers them. */
struct clr_operands {
    sqlite3_value **values; /* NULL: a parameter that is not given */
    int count;
    int first; /* operand: those before are the caller's */
};

struct clr_view_run {
    struct clr_query_run *query_run;
    struct clr_scan scan; /* that of query_run */
    const struct clr_plan *plan;
    struct clr_operands operands;
    struct clr_lookup_memo *memos;         /* of the plan's statements of lookups, the view's */
    struct clr_tables_version *dimensions; /* which these were made of; the view's */
    unsigned version; /* of what is joined: it only grows, as do the two that it is the sum of */
    struct clr_lookup *lookups;   /* room for CLR_MOST_LOOKUPS, as the scan has them */
    int lookup_count;             /* how many of them are the run's, to be freed */
    int64_t number;               /* the scan's: what it uses was used last */
    struct clr_kept_answer *kept; /* the view's; NULL: none is to be kept */
    struct clr_answer_key key;    /* of this run's */
    const struct clr_watch *watch;
    struct clr_groups *groups; /* that a scan with keys has found, the run's; else NULL */
    /* The scan's columns, with references: what tallies and groups have of text is theirs, or their
       dictionaries'. */
    struct clr_column *columns[CLR_MOST_COLUMNS];
    struct clr_column_request request;
    struct clr_lookup_results *extremes; /* of groups: see struct clr_first_rows; else NULL */
    bool is_answered;   /* the tallies are complete, or the groups, or the answer is kept */
    bool is_kept;       /* that is so: it needs no scan */
    const char *device; /* that answered; NULL: the host */
    int device_count;   /* how many of that name */
};

/*
 * Answers the query of a run that has its request, unless the request has a reason why SQLite runs
 * the SELECT. Returns SQLITE_OK, with is_answered, or the reason or is_outdated in the request; or
 * the code of an error that is the user's to see: SQLITE_INTERRUPT, SQLITE_BUSY or SQLITE_NOMEM.
 */
int clr_view_run_answer(struct clr_view_run *run);

/* Gives up what the run holds, once its answer is made; zeros are fine. */
void clr_view_run_end(struct clr_view_run *run);

#endif
