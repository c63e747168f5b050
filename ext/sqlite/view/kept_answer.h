/*
 * The last answer of a view, kept while it is small: a query that is asked again, with the same
 * values and of the same version of the database, needs no scan. It follows from the plan and from
 * its key alone.
 */
#ifndef CLR_SQLITE_KEPT_ANSWER_H
#define CLR_SQLITE_KEPT_ANSWER_H

#include "query/query.h"
#include "sqlite/columns/column_source.h"
#include "sqlite/database/snapshot.h"
#include "sqlite/view/groups.h"

struct clr_answer_key {
    char *bytes; /* to be freed with sqlite3_free(); NULL: the answer is not to be kept */
    int size;
};

/* Zeros: there is none. */
struct clr_kept_answer {
    struct clr_answer_key key;
    struct clr_group_values *values; /* with a reference */
};

/*
 * Returns what the answer of a run follows from beside its plan: the version of the columns, how
 * SQLite derives each of those that it does, the run's constants, and what lookups, as many as the
 * query has, give for the entries of their columns' dictionaries. changes: of the connection's
 * settings. columns: the scan's; of those that lookups are over the dictionaries are read. A key
 * that is large, or has no memory, is none.
 */
struct clr_answer_key clr_answer_key_make(const struct clr_database_version *version,
                                          const struct clr_deriving *deriving, int changes,
                                          const struct clr_query_run *run,
                                          const struct clr_lookup *lookups,
                                          struct clr_column *const *columns);

/* Keeps an answer in the place of the last one, with its key, which is taken over, and with a
   reference to its values; one that is large is not kept. */
void clr_kept_answer_keep(struct clr_kept_answer *kept, struct clr_answer_key *key,
                          struct clr_group_values *values);

/* Frees what is kept; zeros are fine. */
void clr_kept_answer_drop(struct clr_kept_answer *kept);

#endif
