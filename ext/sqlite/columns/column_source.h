/*
 * Where a query's columns come from: the database's pages (column_source.c), with expressions that
 * SQLite evaluates for their rows (derived_columns.c); or rows that SQLite reads (row_source.c),
 * where there are no pages to be read.
 */
#ifndef CLR_SQLITE_COLUMN_SOURCE_H
#define CLR_SQLITE_COLUMN_SOURCE_H

#include "numeric/scan/scan.h"
#include "query/query.h"
#include "sqlite/cache/cache.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/database/snapshot.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/table_names.h"

/* What was read for a query, for a user. */
enum clr_reading_kind {
    CLR_READ_NOTHING,
    CLR_READ_RESIDENT,      /* all columns were here */
    CLR_READ_RESIDENT_ROWS, /* likewise, filled through SQLite for the cause */
    CLR_READ_ABSENT,        /* bytes, since the columns were not resident */
    CLR_READ_CHANGED,       /* bytes, since the database has changed */
    CLR_READ_REFRESHED,     /* bytes: so many of the leaf pages have changed */
    CLR_READ_STREAMED,      /* bytes, of columns that do not fit */
    CLR_READ_FILLED         /* rows through SQLite, for the cause */
};

struct clr_reading {
    enum clr_reading_kind kind;
    int64_t amount; /* of bytes or rows */
    uint64_t leaves_read, leaves;
    enum clr_reason_code cause;
};

/* What a view remembers of its derived columns; zeros at first. */
struct clr_deriving {
    struct clr_backoff waiting;   /* queries that SQLite runs before it makes columns */
    bool was_asked;               /* a query needed them, and they were not there */
    bool is_made, has_served;     /* they were made; and have served another query since then */
    enum clr_reason_code refusal; /* why they could not be made the last time */
    /* Of each of the query's columns that is derived: what its field has, by the last check. */
    uint64_t programs[CLR_MOST_COLUMNS];
    bool has_no_patterns; /* columns by patterns have more than TEXT, and SQLite makes them */
    /* The connection's age, of which those are that call functions of the application's; 0: there
       are none. */
    uint64_t age;
    bool has_age; /* of clr_age_read() */
    /* By the last check: its age, and whether zones of time count. 0: there was none of the query
       as it is now, or a statement was prepared since that may ask for it. */
    uint64_t checked_age;
    bool has_zones;
    struct clr_function_limits limits;
};

/* One query's request for columns. */
struct clr_column_request {
    /* What is asked for, and by whom. */
    struct clr_connection *connection;
    struct clr_database *database;
    const struct clr_table_info *table; /* the query's */
    const struct clr_table_names *names;
    const struct clr_query *query;
    const struct clr_watch *watch;
    struct clr_backoff *keeping; /* holds while columns with bytes are too large to be kept */
    const struct clr_functions *functions; /* that the SELECT calls */
    struct clr_deriving *deriving;         /* of the query's derived columns */

    /* What is known so far. */
    bool is_begun;
    bool is_filled;               /* the columns are filled with rows that SQLite reads */
    struct clr_snapshot snapshot; /* of pages */
    int64_t decoded;              /* bytes, by the connection, before that */
    struct clr_image *image;      /* of the table, in the version that was begun: it was entered */
    struct clr_image_column *found[CLR_MOST_COLUMNS]; /* once it has_columns: pinned */
    bool is_stale;                                    /* the image was of another version */
    bool has_columns;              /* the image has all columns, which are pinned */
    bool is_too_large;             /* the columns do not fit into column_memory */
    bool is_scanned;               /* the columns have served */
    bool is_outdated;              /* the plan is of an older schema */
    int refused_column;            /* the scan's that has too many values, or -1 */
    enum clr_reason_code no_pages; /* why pages can't be read */
    struct clr_reason reason;      /* why there is no way but SQLite */
    struct clr_reading reading;
};

/*
 * Begins a version of the database, in a transaction that is held until clr_column_request_end(),
 * and finds the image of the table in that version: of pages, or, is_filled, of rows that SQLite
 * reads. Brings the columns that the image lacks: decoded from pages, or filled by SQLite.
 * clr_column_request_end() is to be called in any case, also before another one is begun. Returns
 * SQLITE_OK, or the code of an error that is the user's to see: SQLITE_INTERRUPT, SQLITE_BUSY or
 * SQLITE_NOMEM. What else came of it stands in the request.
 */
int clr_columns_bring(struct clr_column_request *request, bool is_filled);

/* Ends what was begun, if anything was: the image, and the transaction. */
void clr_column_request_end(struct clr_column_request *request);

/* Returns whether a table of so many rows is worth a scan; if not, the reason says so. */
bool clr_column_request_check_rows(struct clr_column_request *request, size_t rows);

/* Returns the name of the scan's column i, or the expression that it is. */
const char *clr_column_name(const struct clr_query *query, const struct clr_table_info *table,
                            int i);

/* Returns what an image knows the scan's column i by: its place in a record, or, where SQLite fills
   it, its number in the table, or the expression that it is. */
struct clr_field clr_column_field(const struct clr_query *query, const struct clr_table_info *table,
                                  const struct clr_deriving *deriving, bool is_filled, int i);

/* The same, of the request's image. */
static inline struct clr_field clr_column_request_field(const struct clr_column_request *request,
                                                        int i)
{
    return clr_column_field(request->query, request->table, request->deriving, request->is_filled,
                            i);
}

/* For who has made the table busy: returns the image's column that is the scan's column i, or
   NULL. */
struct clr_image_column *clr_column_request_find(const struct clr_column_request *request, int i);

/* Columns that are brought for a request. */
struct clr_new_columns {
    int count;
    const char *names[CLR_MOST_COLUMNS];
    struct clr_field fields[CLR_MOST_COLUMNS];
    struct clr_column *columns[CLR_MOST_COLUMNS]; /* once they are there, with a reference each */
};

/* Puts them into the image of a table that is busy. Returns SQLITE_OK or SQLITE_NOMEM. */
int clr_column_request_keep(struct clr_column_request *request,
                            const struct clr_new_columns *added);

/* Returns whether a column that the image lacks is known to have too many values for codes, or
   others than times; then the reason says so. To be asked once before columns are brought. */
bool clr_column_request_expects_many_values(struct clr_column_request *request);

/* Takes note that the image's column of that field has too many values for codes, or others than
   times. */
void clr_column_request_has_many_values(struct clr_column_request *request,
                                        const struct clr_field *field);

/* Gives that of the scan's column i as the reason. */
void clr_column_request_refuse_values(struct clr_column_request *request, int i);

/* Finds the columns that the image lacks: those that SQLite derives, or those of pages. */
void clr_column_request_lacking(const struct clr_column_request *request, bool are_derived,
                                struct clr_new_columns *lacking);

/* Gives as the reason that the scan's columns of a field have too many values. */
void clr_column_request_refuse_field(struct clr_column_request *request,
                                     const struct clr_field *field);

/* Takes note of pages that were read, or could not be: by a load or a stream of columns of these
   fields. Returns as clr_columns_bring() does. */
int clr_column_request_read(struct clr_column_request *request, enum clr_load_outcome outcome,
                            const struct clr_field *fields, const struct clr_load_report *report,
                            const struct clr_status *status);

/* ---- Rows that SQLite reads: for column_source.c. */

/* Learns how long the columns served of a version that is gone. */
void clr_row_attempts_end(struct clr_cached_table *table);

/* For a table that is busy: has SQLite fill the columns that the image lacks, if they are due, or
   the reason says why not. Returns as clr_columns_bring() does. */
int clr_row_columns_fill(struct clr_column_request *request);

/* ---- Derived columns: for column_source.c. */

/*
 * Expressions of a table's rows that SQLite evaluates once, row by row, and that are kept with the
 * columns which are decoded from pages, in the same order. They serve all connections for which
 * SQLite would evaluate the expression by the same code, with functions of its own alone.
 *
 * SQLite runs a query that lacks one, the first time: it may never come again. When it is asked
 * again the columns are made, at about the cost of the SELECT. Columns that went before they served
 * any other query are made after more askings the next time, twice as many each time.
 *
 * A refresh puts their rows where the others go, and notes which leaves SQLite has to evaluate
 * again. It does so for the query that refreshes, and for others when they come: until then it is
 * not known that their functions are those that made the column.
 */

/* Within the version's transaction: finds out by what code SQLite evaluates the query's derived
   columns now. The reason says if functions are no longer SQLite's own. Returns SQLITE_OK,
   SQLITE_INTERRUPT or SQLITE_NOMEM. */
int clr_derived_check(struct clr_column_request *request);

/* Takes note of a query for which some are lacking. Returns whether these are to be made now; if
   not the reason says so. */
bool clr_derived_are_due(struct clr_column_request *request);

/* Makes those that are lacking, for who has made the table busy: the image has its layout. Returns
   as clr_columns_bring() does. */
int clr_derived_make(struct clr_column_request *request);

/*
 * Evaluates the rows again that the image's columns lack, those of the query, for who has made the
 * table busy: after that these columns have all rows, or they are gone. Returns as
 * clr_columns_bring() does.
 */
int clr_derived_renew(struct clr_column_request *request);

#endif
