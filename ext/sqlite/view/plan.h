/*
 * The plan of an accelerated view: its SELECT as a scan over a table's columns. Of a view that
 * reads all of an ordinary view, what is planned is the SELECT that the ordinary one holds, with
 * the names of its own schema; SQLite, where it runs the SELECT, goes through the ordinary view.
 */
#ifndef CLR_SQLITE_PLAN_H
#define CLR_SQLITE_PLAN_H

#include "query/query.h"
#include "sqlite/database/snapshot.h"
#include "sqlite/lookups/lookups.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/table_names.h"
#include "sqlite/schema/walk.h"
#include "sqlite/view/select.h"

/* A form in which a column of a table is not to be had, as struct clr_field tells forms: with
   codes, of all values or of a unit, as times, or as numbers. */
struct clr_varied_column {
    int number;    /* of the column */
    bool has_text; /* and so it is no numbers */
    enum clr_time_unit unit;
    clr_time_format times;
};

/* What runs have found: see struct clr_known_column. */
struct clr_varied_columns {
    int fact; /* the columns' table: see struct clr_query */
    int count;
    struct clr_varied_column list[CLR_MOST_COLUMNS];
    bool finds_many; /* more rows pass a part of WHERE than it is worth while to find */
    bool have_text;  /* one of them has text, in that version of the database */
    struct clr_database_version version;
};

/* It never changes, and serves any number of runs; the schema may go on without it. */
struct clr_plan {
    struct clr_query *query;
    struct clr_table_info table;             /* that is scanned */
    struct clr_walk walk;                    /* SQLite's own over the table's rows; no sorter */
    struct clr_table_names names;            /* which the tables' names were looked for in */
    struct clr_database *database;           /* of the table */
    int generation;                          /* of the database, when the plan was made */
    bool may_derive;                         /* columns of the table may be derived */
    enum clr_reason_code no_pages;           /* why its columns can't be decoded from pages */
    const struct clr_varied_columns *varied; /* the maker's, while the plan is made */
    int encoding;                            /* of the database's TEXT: SQLITE_UTF8, ... */
    int rows_per_found; /* of a query of rows: of so many one may be found, at most */
    int statement_count;
    struct clr_lookup_statement statements[CLR_MOST_LOOKUPS]; /* of the query's lookups */
    /* The dimensions that are tables of the same database. */
    int dimension_count;
    struct clr_table_root dimensions[CLR_MOST_DIMENSIONS];
    struct clr_functions functions; /* that the SELECT calls */
    /* The hash of how SQLite's code goes over rows without values of the parameters, where that may
       be other code with them, and so give rows in another order; else 0. */
    uint64_t valueless;
};

/*
 * Makes a plan, to be freed with clr_plan_free(). sql: the SELECT's text, or the same with literals
 * in the place of parameters: see acceleration.c. varied: of the table's columns. Returns
 * SQLITE_OK, with NULL and a reason if only SQLite can run the SELECT; or SQLITE_NOMEM, and nothing
 * is known yet. After that SQLite has no memory until the statement ends in which this is called:
 * it must be told so, or it would create a view and lose track of it.
 */
int clr_plan_make(struct clr_connection *connection, const struct clr_select *select,
                  const char *sql, const struct clr_varied_columns *varied, struct clr_plan **plan,
                  struct clr_reason *reason);

/* NULL is fine. */
void clr_plan_free(struct clr_plan *plan);

#endif
