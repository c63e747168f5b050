/*
 * The end of a query: from what a scan has found to the SELECT's rows. SQLite runs HAVING, ORDER
 * BY, LIMIT and expressions of keys and aggregates over the table of groups, as the rows are asked
 * for. One row of all rows is a group without keys. Where the SELECT asks for keys, aggregates and
 * results that are computed of them, the groups are the rows.
 */
#ifndef CLR_SQLITE_FINISH_H
#define CLR_SQLITE_FINISH_H

#include "base/float_environment.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/view/groups.h"
#include "sqlite/view/select.h"

/*
 * The statements that finish the queries of a plan: kept with the view, bound and stepped for each
 * query. Zeros at first. is_stale: a statement that may read the view was prepared since. Then they
 * are prepared anew, so that functions mean what they mean there.
 */
struct clr_finisher {
    /* Probes call the functions that a scan computes, with constants. An application can replace a
       function at any time, and an authorizer can turn a call into NULL, without SQLite preparing
       anything anew; what the probes give tells. */
    sqlite3_stmt *probes;
    sqlite3_stmt *different; /* whether keys are different by their collating sequences */
    sqlite3_stmt *rows;      /* NULL also while an answer has it */
    bool is_stale;
    unsigned number; /* of these statements: those of another number are not to come back */
};

/* Finalizes the statements: for another plan, or for good. */
void clr_finisher_drop(struct clr_finisher *finisher);

/* The rows of one query. Zeros: there are none. */
struct clr_answer {
    struct clr_group_values *values;
    /* Gives the rows, and is not stepped yet when the answer is made; NULL: the values are the
       rows. */
    sqlite3_stmt *statement;
    unsigned number; /* the finisher's, when it gave the statement */
};

/* What an answer is made of. */
struct clr_finish_input {
    sqlite3 *db;
    const struct clr_select *select;
    const struct clr_table_info *table; /* the query's */
    struct clr_group_values *kept;      /* what the run would find, from before; or NULL */
    struct clr_query_run *run;
    const struct clr_groups *groups;  /* NULL: there is one, of all rows */
    sqlite3_value *const *parameters; /* the SELECT's, from ?1 on; NULL: not given */
    uint64_t memory;                  /* bytes that groups and values may take */
    const struct clr_watch *watch;
    const struct clr_float_environment *environment; /* the caller's, in which SQLite computes */
};

/*
 * Makes the answer, to be freed with clr_answer_free(); or sets the reason if SQLite has to run the
 * SELECT. Returns SQLITE_OK, SQLITE_INTERRUPT or SQLITE_NOMEM.
 */
int clr_answer_make(const struct clr_finish_input *input, struct clr_finisher *finisher,
                    struct clr_answer *answer, struct clr_reason *reason);

/* Gives the statement back, frees what the answer holds and leaves none; zeros are fine. */
void clr_answer_free(struct clr_finisher *finisher, struct clr_answer *answer);

/* Registers the table of groups, CLR_GROUP_TABLE, with a connection: eponymous, and empty but for
   the statements here. Returns SQLite's code. */
int clr_groups_register(struct clr_connection *connection);

#endif
