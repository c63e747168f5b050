/* What a view keeps of a lookup from one query to the next. */
#ifndef CLR_SQLITE_LOOKUP_MEMO_H
#define CLR_SQLITE_LOOKUP_MEMO_H

#include "sqlite/lookups/functions.h"
#include "sqlite/lookups/lookup.h"

/* Zeros: nothing. What SQLite evaluates may mean something else at any time: each query finds out.
 */
struct clr_lookup_memo {
    struct clr_lookup lookup;
    bool is_kept;        /* it may serve another query of the same dictionary */
    uint64_t dictionary; /* its id */
    sqlite3_value **parameters;
    int parameter_count;
    sqlite3_stmt *statement; /* was prepared for it */
    int preparations;        /* of the statement since then, by SQLite itself */
    uint64_t program;        /* a hash of what SQLite made of the text */
    int limits[2];           /* on values and patterns */
};

/*
 * Brings the memo's lookup up to date for a query. functions are those of the statement. Returns as
 * clr_lookup_evaluate() does.
 */
int clr_lookup_memo_bring(struct clr_connection *connection, struct clr_lookup_memo *memo,
                          const struct clr_lookup_statement *statement,
                          const struct clr_function_names *functions,
                          const struct clr_lookup_input *input, struct clr_reason *reason);

/* Finalizes and frees what it holds; zeros are fine. */
void clr_lookup_memo_free(struct clr_lookup_memo *memo);

#endif
