/* The rows of an accelerated view of groups: SQLite runs HAVING, ORDER BY, LIMIT and expressions of
   keys and aggregates over the table of groups, as the rows are asked for. */
#ifndef CLR_SQLITE_GROUP_ANSWER_H
#define CLR_SQLITE_GROUP_ANSWER_H

#include "base/float_environment.h"
#include "sqlite/acceleration/select.h"
#include "sqlite/groups/group_values.h"

/* Zeros: there is none. */
struct clr_group_answer {
    sqlite3_stmt *statement; /* not stepped yet when it is made; the answer's */
    struct clr_group_values *values;
};

/* What an answer is made of. */
struct clr_group_input {
    sqlite3 *db;
    const struct clr_select *select;
    struct clr_query_run *run;
    const struct clr_groups *groups;
    sqlite3_value *const *parameters; /* the SELECT's, from ?1 on; NULL: not given */
    uint64_t memory;                  /* bytes that groups and values may take */
    const struct clr_watch *watch;
};

/*
 * Makes the answer, to be freed with clr_group_answer_free(); or sets the reason if SQLite has to
 * run the SELECT. Returns SQLITE_OK, SQLITE_INTERRUPT or SQLITE_NOMEM.
 */
int clr_group_answer_make(const struct clr_group_input *input, struct clr_group_answer *answer,
                          struct clr_reason *reason);

/* Frees what it holds and leaves none; zeros are fine. */
void clr_group_answer_free(struct clr_group_answer *answer);

#endif
