/*
 * How an accelerated view answers without SQLite's rows: its SELECT planned as a scan over columns
 * (plan.h), the columns brought to memory (sqlite/columns), the scan run on a device or the host
 * (run.h), and its rows made of what it found (finish.h). Wherever one of these is impossible,
 * SQLite runs the SELECT.
 */
#ifndef CLR_SQLITE_ACCELERATION_H
#define CLR_SQLITE_ACCELERATION_H

#include "base/backoff.h"
#include "sqlite/columns/column_source.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/few_rows.h"
#include "sqlite/view/finish.h"
#include "sqlite/view/plan.h"
#include "sqlite/view/run.h"

#include <stdbool.h>

/* What happened the last time, for a user. */
struct clr_last_run {
    bool was_asked;     /* else only the plan was made */
    const char *device; /* that answered, whose name lives as long as the process; NULL: the host */
    int device_count;   /* how many of that name */
    bool is_filled;     /* the image was one that SQLite fills */
    bool is_kept;       /* the answer was kept from before */
    struct clr_reason reason; /* why SQLite ran the SELECT, or there is no plan */
    struct clr_reading reading;
};

/* What a view remembers from one query to the next. */
struct clr_acceleration {
    struct clr_connection *connection;
    const struct clr_select *select;
    struct clr_plan *plan;         /* or NULL: last.reason says why */
    bool is_outdated;              /* the plan is to be made anew before the next run */
    enum clr_reason_code no_pages; /* why pages can't be read, if the plan or a load has found so */
    struct clr_backoff looking;    /* queries that SQLite runs without another look at them */
    struct clr_backoff keeping;    /* queries that stream columns that were too large to keep */
    struct clr_varied_columns varied; /* of the table, as runs have found */
    struct clr_backoff hoping;        /* versions in which what had text is taken for no numbers */
    struct clr_deriving deriving;     /* of the plan's derived columns */
    int settings_changes;             /* of the connection, at the last run */
    struct clr_limits limits;         /* likewise, when the plan was made */
    unsigned prepared;                /* the connection's, at the last run */
    bool is_running; /* a function of the application may ask the view that calls it */
    bool was_spared; /* in the last run: see is_spared() */
    struct clr_interruption interruption;
    struct clr_literal_places *places; /* of parameters that want literals; NULL: none does */
    char *literal_sql;                 /* then: the text of the plan, with these */
    struct clr_finisher finisher;      /* of the plan */
    struct clr_few_rows few;           /* likewise */
    struct clr_kept_answer kept;       /* likewise, and of the last run's values */
    struct clr_lookup_memo memos[CLR_MOST_LOOKUPS]; /* of its statements of lookups */
    struct clr_tables_version dimensions;           /* of its dimensions */
    struct clr_last_run last;
    char line[CLR_REASON_TEXT]; /* for clr_acceleration_explain() */
};

/* Makes the acceleration of a view's SELECT, which must outlive it; NULL without memory. It plans
   at once: then the plan can be asked for before the first query. */
struct clr_acceleration *clr_acceleration_new(struct clr_connection *connection,
                                              const struct clr_select *select);

/* Finalizes its statements and frees it; NULL is fine. */
void clr_acceleration_free(struct clr_acceleration *acceleration);

/*
 * Answers the SELECT with these parameters (select->parameter_count of them). Returns SQLITE_OK,
 * with *answered if there is an answer, which has values, or else the SELECT's rows were added to
 * the rows given; and without if SQLite has to run the SELECT; SQLITE_INTERRUPT, SQLITE_BUSY or
 * SQLITE_NOMEM.
 */
int clr_acceleration_run(struct clr_acceleration *acceleration, sqlite3_value *const *parameters,
                         struct clr_kept_rows *rows, struct clr_answer *answer, bool *answered);

/* Writes line i, from 0, of what it does and did the last time, for a user, to line. Returns false
   past the last one. For clr_acceleration_explain(). */
bool clr_acceleration_describe(struct clr_acceleration *acceleration, int i);

/* Line i, from 0, of what it does and did the last time, for a user; NULL past the last one. Makes
   the plan if there is none, nor a reason why. The text is valid until the next call. */
const char *clr_acceleration_explain(struct clr_acceleration *acceleration, int i);

#endif
