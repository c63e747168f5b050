#include "sqlite/acceleration/ways.h"

#include "sqlite/acceleration/inner.h"

/* Returns CLR_ERROR for an error that is the user's to see. */
static enum clr_outcome go_on(struct clr_view_run *run, int rc)
{
    run->rc = rc;
    return rc == SQLITE_OK ? CLR_NEXT_WAY : CLR_ERROR;
}

static enum clr_outcome use_resident(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;

    if (!clr_column_request_check_rows(request, request->image->layout.rows))
        return CLR_NEXT_WAY;
    return clr_way_scan(run);
}

static enum clr_outcome bring(struct clr_view_run *run)
{
    const enum clr_outcome outcome = go_on(run, run->request.source->bring(&run->request));

    return outcome == CLR_NEXT_WAY && run->request.has_columns ? use_resident(run) : outcome;
}

static enum clr_outcome leave_to_sqlite(struct clr_view_run *run)
{
    (void)run;
    return CLR_ANSWERED;
}

/* What is known of the request decides. */
static enum clr_way choose_way(const struct clr_column_request *request)
{
    if (request->reason.code != CLR_WHY_NONE || request->is_outdated)
        return CLR_WAY_SQLITE;
    if (request->has_columns)
        return CLR_WAY_RESIDENT;
    if (request->no_pages != CLR_WHY_NONE)
        return CLR_WAY_FILL;
    return request->is_too_large ? CLR_WAY_STREAM : CLR_WAY_LOAD;
}

/* Whether a source is to be begun: none has been, or pages can't be read after all. */
static bool needs_source(const struct clr_column_request *request)
{
    return request->source == NULL ||
           (request->source == &clr_page_source && request->no_pages != CLR_WHY_NONE);
}

/*
 * Whether SQLite may evaluate the query's subqueries, which it does in the transaction of the scan:
 * a read transaction that a statement begins ends with the last one that reads, and the one that
 * reads the view is running. Returns CLR_ANSWERED, also if it is settled that SQLite runs the
 * SELECT, or CLR_ERROR.
 */
static enum clr_outcome check_subqueries(struct clr_view_run *run)
{
    struct clr_column_request *request = &run->request;

    run->rc = clr_inner_check(request->connection->db, run->plan->query, run->parameter_count,
                              &request->reason);
    if (request->reason.code != CLR_WHY_NONE)
        run->way = CLR_WAY_SQLITE;
    return run->rc == SQLITE_OK ? CLR_ANSWERED : CLR_ERROR;
}

void clr_run_release_columns(struct clr_view_run *run)
{
    int i;

    for (i = 0; i < CLR_MOST_COLUMNS; i++) {
        clr_column_release(run->columns[i]);
        run->columns[i] = NULL;
    }
}

enum clr_outcome clr_ways_take(struct clr_view_run *run)
{
    static enum clr_outcome (*const ways[])(struct clr_view_run *) = {
        [CLR_WAY_RESIDENT] = use_resident,
        [CLR_WAY_LOAD] = bring,
        [CLR_WAY_STREAM] = clr_way_stream,
        [CLR_WAY_FILL] = bring,
        [CLR_WAY_SQLITE] = leave_to_sqlite};
    enum clr_outcome outcome = CLR_NEXT_WAY;

    while (outcome == CLR_NEXT_WAY) {
        run->way = choose_way(&run->request);
        if (run->way != CLR_WAY_SQLITE && needs_source(&run->request))
            outcome = go_on(run, clr_column_request_begin(&run->request));
        else
            outcome = ways[run->way](run);
    }
    if (outcome == CLR_ANSWERED && run->way != CLR_WAY_SQLITE)
        outcome = check_subqueries(run);
    clr_column_request_end(&run->request);
    return outcome;
}
