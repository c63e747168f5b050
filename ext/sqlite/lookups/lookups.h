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
#include "sqlite/cache/cache.h"
#include "sqlite/lookups/alike.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/table_names.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/sql_value.h"

/* The functions CLR_FIXED_TIME, which looks at values for what SQLite is asked once for many times,
   and CLR_NUMBER; to be registered. */
extern const struct clr_sql_function clr_lookup_functions[];

/* The same of CLR_ROW_KEY and CLR_ROW_KEY_PART: row_key.c. */
extern const struct clr_sql_function clr_row_key_functions[];

/* A lookup of a statement. */
struct clr_lookup_part {
    int number;     /* of the query's lookup */
    bool is_ranked; /* as the query's plan has it */
    bool is_term;   /* of rows for whose entry it is not true none passes the query's filter */
    bool is_late;   /* it is read of rows alone that pass the filter */
    bool is_key;    /* it is all that rows are grouped by */
    char *sql;      /* a statement like that of them all, of this one alone */
};

/* The statement of the lookups over one column that join it with the same tables: a part of a
   view's plan, which never changes. */
struct clr_lookup_statement {
    struct clr_column_type type; /* of the column */
    int column;                  /* its number in the scan */
    char *sql;                   /* over the entries that parameter `source` points to */
    int source;
    /* Of lookups with subqueries: a statement like it, over no entries, which SQLite's code for
       tells what they read; else NULL. */
    char *probe;
    const struct clr_table_names *names; /* the plan's */
    bool has_values;                     /* of subqueries */
    int count;
    struct clr_lookup_part *parts;
    bool is_timed;           /* as the query's plan has it */
    bool joins;              /* it reads tables beside the entries */
    enum clr_time_unit unit; /* of the column */
    struct clr_alike alike;  /* what decides on all parts */
};

/* What a lookup is evaluated with. */
struct clr_lookup_input {
    struct clr_cached_table *table; /* that keeps it */
    int64_t number;                 /* of the scan */
    const struct clr_dictionary *dictionary;
    int encoding;     /* of the entries' TEXT, the database's */
    unsigned version; /* of what is joined, as the connection sees it */
    /* Of the database, if nothing else is joined, and all of it is committed; else NULL. */
    const struct clr_database_version *token;
    sqlite3_value *const *parameters; /* the SELECT's, from ?1 on, and the query's operands; NULL:
                                         not given */
    int parameter_count;
    size_t rows; /* of the table */
    /* Of the transaction that the connection reads in; NULL: pages are not read. */
    struct clr_database *database;
    struct clr_snapshot *snapshot;
    const struct clr_watch *watch;
};

/* What a view keeps of a statement's lookups from one query to the next: the statement, and which
 * lookups that the table keeps (sqlite/cache/kept_lookups.h) have served it. Zeros: nothing. What
 * SQLite evaluates may mean something else at any time: each query finds out.
 */
struct clr_lookup_memo {
    sqlite3_stmt *statement; /* NULL: none is prepared */
    int preparations;        /* of it since then, by SQLite itself */
    uint64_t program;        /* a hash of what SQLite made of the text; 0: not known */
    uint64_t variants;       /* of its functions: clr_functions_still_are() */
    bool is_sqlites;         /* results are the same for all connections */
    bool is_stale;           /* a statement was prepared since that may ask for them */
    bool walks;              /* for each entry a subquery goes over a table */
    bool has_units;          /* the times of a unit are alike to the expressions */
    bool are_unlike;         /* it is not worth while to look for entries that are alike */
    bool is_new;             /* the last lookups that were brought have been evaluated for it */
    uint64_t id;             /* of the kept lookups; 0: none */
    unsigned version;        /* then: where the statement joins tables, of what is joined */
};

/*
 * Makes the lookups of a statement for a query, statement->count of them, to be freed each with
 * clr_lookup_free(): kept ones, or such as SQLite evaluates now. functions are those of the
 * statement. Returns SQLITE_OK, with the lookups, or with the reason why SQLite is to run the
 * SELECT, without them; SQLITE_NOMEM or SQLITE_INTERRUPT, likewise. Where SQLite reports an error
 * for an entry its result is UNSURE. CLR_WHY_MANY_VALUES: the times of a unit are not alike to an
 * expression, or subqueries take longer for all entries than SQLite may take for the rows.
 */
int clr_lookups_bring(struct clr_connection *connection, struct clr_lookup_memo *memo,
                      const struct clr_lookup_statement *statement,
                      const struct clr_functions *functions, const struct clr_lookup_input *input,
                      struct clr_lookup *lookups, struct clr_reason *reason);

/* Has the table keep lookups that clr_lookups_bring() has made for that input, once it is known
   that what they were evaluated with is as it was. */
void clr_lookups_keep(struct clr_connection *connection, struct clr_lookup_memo *memo,
                      const struct clr_lookup_statement *statement,
                      const struct clr_lookup_input *input, const struct clr_lookup *lookups);

/* Finalizes and frees what it holds, with kept lookups that serve nobody else; zeros are fine. */
void clr_lookup_memo_free(struct clr_lookup_memo *memo);

#endif
