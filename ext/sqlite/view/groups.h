/*
 * The rows that a scan's query has before SQLite makes the SELECT's of them: one for each group,
 * with the values of its keys and calls, or one of all rows, a group without keys. Of many groups
 * results, which are expressions of keys and calls, are computed here, a block of groups at a time.
 */
#ifndef CLR_SQLITE_GROUPS_H
#define CLR_SQLITE_GROUPS_H

#include "engine/worker/team.h"
#include "numeric/groups/groups.h"
#include "numeric/values/bytes.h"
#include "query/query.h"
#include "sqlite/api.h"

/* A value's tag of its own: TEXT that a zero ends, whose bits are the address of its bytes. */
enum { CLR_GROUP_TEXT = CLR_TAG_MIXED - 1 };

struct clr_group_values {
    int references; /* of answers, and of the view that keeps it: all of one connection */
    size_t rows;    /* groups */
    int key_count, call_count;
    int column_count; /* of those, and of the query's results, where they are computed */
    /* Of each group together: those of keys, of calls, and then of results. A tag is INTEGER, REAL,
       NULL, CLR_GROUP_TEXT, or BYTES, whose bits are an address in bytes. */
    int64_t *bits;
    uint8_t *tags;          /* in the memory behind bits */
    struct clr_bytes bytes; /* of TEXT, in UTF-8, and of BLOBs */
    /* As the query has them: where there are any, the answer's rows are these, and no statement
       need run. There are none if a result is not sure. */
    int plain_count;
    uint16_t plain_columns[CLR_MOST_KEYS + CLR_MOST_CALLS];
};

/*
 * Finishes the calls of a run for each of its groups; NULL: for the one group that the run's own
 * tallies and answers are of. memory: bytes that the values may take. To be called in the default
 * floating-point environment. Returns CLR_SCAN_DONE, with one reference to the values;
 * CLR_SCAN_UNSURE if SQLite's own result may be another one, or an error, for one of the groups,
 * with the call in *unsure; CLR_SCAN_LIMIT; CLR_SCAN_STOPPED as the watch asks; or CLR_SCAN_FAILED
 * without memory.
 */
enum clr_scan_outcome clr_group_values_make(struct clr_query_run *run,
                                            const struct clr_groups *groups, uint64_t memory,
                                            const struct clr_watch *watch,
                                            struct clr_group_values **values,
                                            const struct clr_call **unsure);

/* Whether there are results among the values. */
static inline bool clr_group_values_have_results(const struct clr_group_values *values)
{
    return values->column_count > values->key_count + values->call_count;
}

/* Sets the value of a column, a key or, behind the keys, a call, as the result of a virtual table's
   column; behind the calls it is a result. Of a number behind these it stays NULL. SQLite gets
   copies of bytes. */
void clr_group_values_set(const struct clr_group_values *values, size_t group, int column,
                          sqlite3_context *result);

/* Takes a reference. */
struct clr_group_values *clr_group_values_retain(struct clr_group_values *values);

/* Drops a reference, and frees values without one; NULL is fine. */
void clr_group_values_release(struct clr_group_values *values);

#endif
