/* The ways that a view's query can go, and one run of a plan. */
#ifndef CLR_SQLITE_WAYS_H
#define CLR_SQLITE_WAYS_H

#include "query/query_run.h"
#include "sqlite/acceleration/kept_rows.h"
#include "sqlite/acceleration/plan.h"
#include "sqlite/columns/column_source.h"
#include "sqlite/lookups/memo.h"

enum clr_way {
    CLR_WAY_RESIDENT, /* scan columns that are here */
    CLR_WAY_LOAD,     /* load columns from pages, and scan them */
    CLR_WAY_STREAM,   /* scan on the host while the pages pass, and keep no column */
    CLR_WAY_FILL,     /* have SQLite fill columns, and scan them */
    CLR_WAY_SQLITE    /* SQLite runs the SELECT: the request's reason says why */
};

/* How a way ended. */
enum clr_outcome {
    CLR_ANSWERED, /* the tallies are complete; or, by CLR_WAY_SQLITE, it is settled */
    CLR_NEXT_WAY, /* the request says why it did not lead to an answer */
    CLR_ERROR     /* rc is SQLite's code for the user */
};

/* One run of a plan, for one query. */
struct clr_view_run {
    struct clr_query_run *query_run;
    struct clr_scan scan; /* that of query_run */
    const struct clr_plan *plan;
    sqlite3_value *const *parameters; /* the SELECT's, from ?1 on */
    int parameter_count;
    struct clr_lookup_memo *memos; /* of the plan's lookups, the view's */
    struct clr_lookup *lookups;    /* room for theirs, as the scan has them */
    const struct clr_watch *watch;
    struct clr_kept_rows *kept; /* the caller's, for an answer that is rows */
    bool is_kept;               /* they are the answer, and SQLite's own, by CLR_WAY_SQLITE */
    struct clr_groups *groups;  /* that a scan with keys has found, the run's; else NULL */
    /* The scan's columns, with references until clr_run_release_columns(): what tallies and groups
       have of text is theirs, or their dictionaries'. */
    struct clr_column *columns[CLR_MOST_COLUMNS];
    struct clr_sorted_copy *const *sorted; /* of each column its sorted copy or NULL; or NULL */
    struct clr_column_request request;
    enum clr_way way;
    const char *device; /* that answered; NULL: the host */
    int device_count;   /* how many of that name */
    int rc;
};

/* Takes one way after the other until the query is answered. */
enum clr_outcome clr_ways_take(struct clr_view_run *run);

/* Drops the references to the columns: to be called when the run's answer is made. */
void clr_run_release_columns(struct clr_view_run *run);

/* Scans the columns that the request has, on a device or the host: scan.c. */
enum clr_outcome clr_way_scan(struct clr_view_run *run);

/* Brings the lookups over the columns, to which the caller has references, up to date, and gives
   them to the scan: lookups.c. CLR_ANSWERED: that is done, and the database is what it was. */
enum clr_outcome clr_run_look_up(struct clr_view_run *run, struct clr_column *const *columns);

/* Streams the table, whose pages the request has: stream.c. */
enum clr_outcome clr_way_stream(struct clr_view_run *run);

#endif
