/*
 * A database of a connection, main or attached: its file, its locks, and a read transaction on it.
 */
#ifndef CLR_SQLITE_CONNECTION_DATABASE_H
#define CLR_SQLITE_CONNECTION_DATABASE_H

#include "query/reason.h"
#include "sqlite/database/known_file.h"
#include "sqlite/session/connection.h"
#include "storage/snapshot/wal.h"

#include <stdbool.h>

/* Bytes of the header of a write-ahead log's index. */
enum { CLR_WAL_HEADER_SIZE = 48 };

/* By the name of its schema. */
struct clr_database {
    struct clr_database *next; /* in the connection's list */
    struct clr_connection *connection;
    char *schema;
    bool is_main;       /* no other database gets that name, even if main has a second one */
    sqlite3_stmt *hold; /* reads the schema table, gives one row, and until it is reset holds a read
                           transaction */
    sqlite3_stmt *mode; /* PRAGMA journal_mode */
    int generation;     /* changes when a statement about this database may mean another thing */
    int file_generation;          /* changes when it may be another file, or have another schema */
    sqlite3_int64 schema_version; /* in this generation; -1: not known */
    int parallel; /* whether its file may be read by several threads; -1: not known yet */

    /* The handle of its file, which was looked at in that generation, and that of its log; with
       references, or NULL: which file it is could not be proved. Only clr_database_find_known() and
       clr_database_find_log() change them. */
    struct clr_open_file *open, *open_log;
    sqlite3_file *handle;
    int handle_generation;

    /* In WAL mode the latest snapshot that was proved, if any (see snapshot.h): its header, and
       what the pager then had as its data version. */
    bool proved;
    unsigned char wal_header[CLR_WAL_HEADER_SIZE];
    unsigned data_version;

    /* Of the log's frames that the latest snapshot with pages in them had, and the generation that
       it is of. Only clr_snapshot_open() changes it, and clr_database_find_log() when that is
       another one. */
    struct clr_wal_map log;
    int log_generation;
};

/*
 * Returns the connection's record of a database, making it if need be; NULL if its statements
 * can't be prepared. It lives until clr_databases_free().
 */
struct clr_database *clr_database_get(struct clr_connection *connection, const char *schema);

/* Finalizes the statements of all databases: to be called when the last view goes. */
void clr_databases_free(struct clr_connection *connection);

/*
 * Stores the database file's handle in *file. Returns CLR_WHY_NONE, or why its pages can't be read
 * through it: there is no file, or clr_database_check_lock() says why.
 */
enum clr_reason_code clr_database_find_file(const struct clr_database *database,
                                            sqlite3_file **file);

/* Returns the file that the handle is known to be of, which is the database's; NULL: none. */
struct clr_known_file *clr_database_find_known(struct clr_database *database, sqlite3_file *handle);

/* The same without finding it out: the file that it was when that was called last, if it is open
   by the same handle since. */
struct clr_known_file *clr_database_known(const struct clr_database *database);

/* Stores the handle of the database's log, which is open. Returns whether there is one, which from
   now on is known to be the log of that file, if there is a file. */
bool clr_database_find_log(struct clr_database *database, struct clr_known_file *file,
                           sqlite3_file **log);

/* Returns the name of the connection's schema whose file that is known to be, or NULL. */
const char *clr_database_schema_of(const struct clr_connection *connection,
                                   const struct clr_known_file *file);

/*
 * Returns why the file's lock forbids reading its pages, or CLR_WHY_NONE. More than a shared lock:
 * exclusive locking mode, or another connection writes to this very pager (a shared cache), whose
 * pages may be in the file before they are committed.
 */
enum clr_reason_code clr_database_check_lock(const struct clr_database *database);

/*
 * Returns whether other connections use this one's pages: what they have not committed yet must be
 * seen, or be an error, as SQLite decides. Shares of the caches are less than all of them only
 * then.
 */
bool clr_database_shares_cache(const struct clr_database *database);

/* Returns whether the connection uses that journal mode, "wal", "off" and so on. With "wal" it has
   a write-ahead log open, so that its index may be asked for. */
bool clr_database_has_mode(struct clr_database *database, const char *mode);

/*
 * Begins a read transaction, or takes part in the one that is open, until clr_database_release().
 * Returns SQLITE_OK, with *why if there is none all the same; or SQLITE_BUSY if others have the
 * database locked, which has been waited for.
 */
int clr_database_hold(struct clr_database *database, enum clr_reason_code *why);

/* Ends it, unless others need it. */
void clr_database_release(struct clr_database *database);

#endif
