/*
 * Lookups: expressions over one column that SQLite evaluates once for each distinct value of the
 * column. What they mean is what SQLite says they mean, functions and collations of the application
 * among it.
 */
#ifndef CLR_SQLITE_LOOKUPS_H
#define CLR_SQLITE_LOOKUPS_H

#include "numeric/scan/scan.h"
#include "query/query.h"
#include "query/reason.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/session/connection.h"

/* The statement of a lookup: a part of a view's plan, which never changes. */
struct clr_lookup_statement {
    struct clr_column_type type; /* of the column */
    char *sql;                   /* over the entries that parameter `source` points to */
    int source;
    bool is_ranked, is_timed; /* as the query's plan has them */
    bool joins;               /* it reads tables beside the entries */
    enum clr_time_unit unit;  /* of the column */
};

/*
 * Writes the statement of a query's lookup over a table's column, to be freed with
 * clr_lookup_statement_free() in any case. parameter_count: the largest number of parameters and
 * operands. Returns SQLITE_OK; SQLITE_NOMEM; or SQLite's code if the schema does not tell the
 * column's type.
 */
int clr_lookup_statement_write(sqlite3 *db, const struct clr_table_info *table,
                               const struct clr_query *query, const struct clr_lookup_plan *plan,
                               int parameter_count, struct clr_lookup_statement *statement);
void clr_lookup_statement_free(struct clr_lookup_statement *statement);

/* What a lookup is evaluated with. */
struct clr_lookup_input {
    const struct clr_dictionary *dictionary;
    int encoding;                     /* of the entries' TEXT, the database's */
    unsigned version;                 /* of the dimensions that the connection sees */
    sqlite3_value *const *parameters; /* the SELECT's, from ?1 on, and the query's operands; NULL:
                                         not given */
    int parameter_count;
};

/* What a view keeps of a lookup from one query to the next. Zeros: nothing. What SQLite evaluates
 * may mean something else at any time: each query finds out.
 */
struct clr_lookup_memo {
    struct clr_lookup lookup;
    bool has_units;      /* the times of a unit are alike to it */
    bool is_kept;        /* it may serve another query of the same dictionary */
    uint64_t dictionary; /* its id */
    sqlite3_value **parameters;
    int parameter_count;
    sqlite3_stmt *statement; /* was prepared for it */
    int preparations;        /* of the statement since then, by SQLite itself */
    unsigned version;        /* of the dimensions, where the statement joins them */
    uint64_t program;        /* a hash of what SQLite made of the text */
    int limits[2];           /* on values and patterns */
};

/*
 * Brings the memo's lookup up to date for a query. functions are those of the statement. Returns
 * SQLITE_OK, with the lookup complete, or with the reason why SQLite is to run the SELECT, and the
 * memo empty; SQLITE_NOMEM or SQLITE_INTERRUPT, likewise. An entry that SQLite reports an error for
 * is UNSURE. CLR_WHY_MANY_VALUES: the times of a unit are not alike to the expression.
 */
int clr_lookup_memo_bring(struct clr_connection *connection, struct clr_lookup_memo *memo,
                          const struct clr_lookup_statement *statement,
                          const struct clr_functions *functions,
                          const struct clr_lookup_input *input, struct clr_reason *reason);

/* Finalizes and frees what it holds; zeros are fine. */
void clr_lookup_memo_free(struct clr_lookup_memo *memo);

#endif
