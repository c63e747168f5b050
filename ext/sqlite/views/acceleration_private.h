/*
 * What the parts of an acceleration share: its plan (acceleration_plan.c), what its names mean
 * (acceleration_names.c), its columns and scans
 * (acceleration_scan.c), what devices decode and have (acceleration_device.c), its streams
 * (acceleration_stream.c), its columns that SQLite fills (acceleration_rows.c,
 * acceleration_fill.c), its run (acceleration.c), and what a user sees (acceleration_explain.c).
 */
#ifndef CLR_SQLITE_ACCELERATION_PRIVATE_H
#define CLR_SQLITE_ACCELERATION_PRIVATE_H

#include "engine/feed/leaf_feed.h"
#include "query/query.h"
#include "sqlite/columns/image.h"
#include "sqlite/database/snapshot.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/session/interruption.h"
#include "sqlite/views/acceleration.h"

/* How often a SELECT is run row by row, for its table is small or cannot be read, before that is
   looked at again; the size of texts for the user. */
enum { CLR_RUNS_BY_ROWS = 256, CLR_PLAN_TEXT = 512 };

#define CLR_UNSURE_TEXT "some row has TEXT, a BLOB or an error, which only SQLite can treat"

struct clr_acceleration {
    struct clr_connection *connection;
    const struct clr_select *select;

    /* The plan; query is NULL where there is none, and verdict says why. */
    bool planned;
    bool outdated; /* is to be planned anew before the next run; the verdict is the last one's */
    struct clr_query *query;
    struct clr_table_info table;
    struct clr_database *database;
    int generation; /* of the database, when the plan was made */
    /* The databases in which the table was looked for, the last of which has it. */
    struct clr_named *named;
    int named_count;
    /* Why the columns that the query needs can't be decoded from pages, static text, or NULL. */
    const char *no_pages;
    bool by_rows; /* the last run's image was one by rows */

    struct clr_interruption interruption;
    int settings_changes; /* of the connection, at the last run */
    int runs_by_rows;     /* how often SQLite shall still run it without another look */
    int streams; /* how often the table shall still stream, since the bytes were too many to keep */

    /* For the user: what happened the last time. */
    char verdict[CLR_PLAN_TEXT], reading[CLR_PLAN_TEXT], line[CLR_PLAN_TEXT];
};

/* Says, in printf's format, why SQLite has to run the SELECT; returns SQLITE_OK, the code for that.
 */
int clr_acceleration_by_rows(struct clr_acceleration *acceleration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Makes the plan anew. Leaves query NULL, and the reason in verdict, if there is no way but rows.
 * SQLITE_NOMEM: nothing is known yet. Within a statement SQLite has no memory from then on until
 * that statement ends, and must be told so: of a view that is created all the same it would lose
 * track.
 */
int clr_acceleration_plan(struct clr_acceleration *acceleration);

/*
 * Looks the query's table up, where SQLite would, into table. The databases that were looked into
 * are in read transactions until clr_acceleration_named(). SQLITE_OK; SQLITE_NOTFOUND; else as
 * clr_table_info_read(), with *reason.
 */
int clr_acceleration_name(struct clr_acceleration *acceleration, const struct clr_query *query,
                          const char **reason);
void clr_acceleration_named(struct clr_acceleration *acceleration);

/*
 * Within a transaction on the table's database, which is begun first, so that its snapshot can be
 * proved: looks whether the plan's names mean what they meant. SQLITE_ROW: they do. SQLITE_SCHEMA:
 * they may not. SQLITE_OK: SQLite has to run the SELECT.
 */
int clr_acceleration_check_names(struct clr_acceleration *acceleration);

/* Gives the plan up. */
void clr_acceleration_drop_plan(struct clr_acceleration *acceleration);

/* Returns the table's column that the scan's column i is. */
static inline const struct clr_column_info *
clr_acceleration_column(const struct clr_acceleration *acceleration, int i)
{
    return &acceleration->table.columns[acceleration->query->columns[i]];
}

/* Returns what the image knows the scan's column i by: its place in a record, or, by rows, its
   number in the table. */
static inline struct clr_field clr_acceleration_field(const struct clr_acceleration *acceleration,
                                                      const struct clr_image *image, int i)
{
    const int number = acceleration->query->columns[i];

    struct clr_field field = {
        .index = number == acceleration->table.column_count ? (int)CLR_FIELD_ROWID : number,
        .never_null = acceleration->table.columns[number].field.never_null};

    if (!image->by_rows)
        field = acceleration->table.columns[number].field;
    field.with_bytes = acceleration->query->with_bytes[i];
    return field;
}

/* Returns the image's column that is the scan's column i, or NULL. */
static inline struct clr_image_column *
clr_acceleration_find(const struct clr_acceleration *acceleration, struct clr_image *image, int i)
{
    const struct clr_field field = clr_acceleration_field(acceleration, image, i);

    return clr_image_find(image, &field);
}

/* Returns the query's scan over so many rows of columns. */
static inline struct clr_scan clr_acceleration_new_scan(const struct clr_acceleration *acceleration,
                                                        struct clr_column *const *columns,
                                                        size_t rows)
{
    const struct clr_budget *budget = &acceleration->connection->values;
    struct clr_query *query = acceleration->query;

    return (struct clr_scan){
        .instruction_count = query->instruction_count,
        .constant_count = query->constant_count,
        .column_count = query->column_count,
        .tally_count = query->tally_count,
        .filter = query->filter,
        .instructions = query->instructions,
        .constants = query->constants,
        .columns = columns,
        .rows = rows,
        .tallies = query->tallies,
        .question_count = query->question_count,
        .questions = query->questions,
        .values_memory = budget->used < budget->limit ? budget->limit - budget->used : 0,
        .longest = (size_t)sqlite3_limit(acceleration->connection->db, SQLITE_LIMIT_LENGTH, -1),
    };
}

/*
 * Loads the columns that the image lacks; why says what for, in the user's words. Returns
 * SQLITE_ROW if it then has all; SQLITE_OK if SQLite has to run the SELECT; SQLITE_TOOBIG if they
 * do not fit into column_memory, with the snapshot opened; SQLITE_INTERRUPT or SQLITE_NOMEM.
 */
int clr_acceleration_load(struct clr_acceleration *acceleration, struct clr_snapshot *snapshot,
                          struct clr_image *image, const char *why);

/* How columns were loaded. */
struct clr_loading {
    struct clr_load_report report;
    struct clr_status status;
    /* If a device has decoded them, which then has them: its worker, its name, and copies with one
       reference each. */
    struct clr_worker *worker;
    const char *device;
    struct clr_resident *residents[CLR_MOST_COLUMNS];
};

/* Calls clr_load() for the image, and has a device decode where that can answer the query. */
enum clr_load_outcome clr_acceleration_load_columns(struct clr_acceleration *acceleration,
                                                    const struct clr_snapshot *snapshot,
                                                    struct clr_image *image,
                                                    const struct clr_field *fields, int count,
                                                    struct clr_column **columns,
                                                    struct clr_loading *loading);

/*
 * Sees that the column's rows are on the host, too. Returns SQLITE_OK; SQLITE_INTERRUPT; or
 * SQLITE_IOERR if they can't be had from the device: then they are to be loaded again.
 */
int clr_acceleration_fetch(struct clr_acceleration *acceleration, struct clr_image_column *column);

/* Returns how many bytes of a device's memory columns may take: a quarter, or as the setting
   says. */
int64_t clr_acceleration_device_budget(const struct clr_connection *connection,
                                       const struct clr_device_info *info);

/* Drops what is too much for the settings: leaves so many bytes to columns on the host, and on
   devices what the user allows. */
void clr_acceleration_trim(struct clr_connection *connection, int64_t most);

/*
 * Makes an image fit for clr_acceleration_load(). A stale one is brought to the snapshot's version
 * of the database by reading what has changed, if that is known and the image has all columns that
 * the query needs; else it is emptied, and so is one that can't be given the columns which it
 * lacks. Returns SQLITE_OK, or SQLITE_INTERRUPT with the image as it was.
 */
int clr_acceleration_refresh(struct clr_acceleration *acceleration, struct clr_snapshot *snapshot,
                             struct clr_image *image, bool stale);

/* Tells the image's layout how many rows, and bytes of TEXT and BLOBs, there is room for. Returns
   false if the rows are known to be too many. */
bool clr_acceleration_make_room(const struct clr_acceleration *acceleration,
                                struct clr_image *image);

/* Returns how many bytes of the host columns may take: a quarter of the memory, or as the setting
   says. */
int64_t clr_acceleration_budget(const struct clr_connection *connection);

/* Takes note of a load or a stream that was not done. Returns as above, or SQLITE_NOTFOUND with
   no_pages. */
int clr_acceleration_unread(struct clr_acceleration *acceleration, enum clr_load_outcome outcome,
                            const struct clr_load_report *report, const struct clr_status *status);

/*
 * Answers from columns that SQLite fills, where no_pages or the text given says why pages can't be
 * read: if the query is asked again while the database is the same. SQLITE_ROW: the tallies are
 * complete; SQLITE_SCHEMA: the plan is of an older schema; SQLITE_OK if SQLite has to run the
 * SELECT; SQLITE_INTERRUPT, SQLITE_BUSY or SQLITE_NOMEM.
 */
int clr_acceleration_run_rows(struct clr_acceleration *acceleration, const char *why);

/*
 * Has SQLite fill an image by rows with the columns that the query needs and those that it has,
 * within the transaction of its version; why says what for. Returns SQLITE_ROW if it then has all;
 * SQLITE_OK if there are too few rows for a scan; SQLITE_TOOBIG if the columns do not fit into
 * column_memory; SQLITE_INTERRUPT or SQLITE_NOMEM; SQLITE_ERROR for any other error of SQLite's.
 */
int clr_acceleration_fill(struct clr_acceleration *acceleration, struct clr_image *image,
                          const char *why);

/* Returns SQLITE_ROW if a table of so many rows is worth a scan, else SQLITE_OK. */
int clr_acceleration_check_rows(struct clr_acceleration *acceleration, size_t rows);

/* Computes the tallies from the image's columns, on a device or the host. Returns as above, or
   SQLITE_IOERR if columns that a device alone had are lost. */
int clr_acceleration_scan(struct clr_acceleration *acceleration, struct clr_image *image);

/*
 * Computes the tallies on the host while the table's pages pass, and keeps no column. The snapshot
 * is open; before is what the statistics had as bytes_decoded when the query began. Returns as
 * above, but for SQLITE_TOOBIG.
 */
int clr_acceleration_stream(struct clr_acceleration *acceleration,
                            const struct clr_snapshot *snapshot, struct clr_image *image,
                            int64_t before);

#endif
