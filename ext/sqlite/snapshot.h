/*
 * One snapshot of a database file: a read transaction that is held open, the proof of which
 * version of the file it sees, and the way to its pages.
 *
 * Pages are read through the connection's own file handle. In a rollback mode nobody writes to the
 * file while we hold SQLITE_LOCK_SHARED. In WAL mode others write while we read, and which of two
 * states a page is in could not be proved well enough: SQLite reads the rows there.
 */
#ifndef CLR_SQLITE_SNAPSHOT_H
#define CLR_SQLITE_SNAPSHOT_H

#include "sqlite/connection.h"
#include "storage/source.h"

enum { CLR_HEADER_SIZE = 100, CLR_TOKEN_SIZE = 64 };

/* Two equal tokens of one database: not a byte of it has changed in between. */
struct clr_token {
    unsigned char bytes[CLR_TOKEN_SIZE];
};

/* A database of the connection, by the name of its schema. */
struct clr_database {
    struct clr_database *next; /* in the connection's list */
    struct clr_connection *connection;
    char *schema;
    sqlite3_stmt *hold; /* reads the schema table, and so holds a read transaction while it runs */
    sqlite3_stmt *mode; /* PRAGMA journal_mode */
    int generation;     /* changes when a statement about this database may mean another thing */
    int parallel;       /* whether its file may be read by several threads; -1: not known yet */
};

struct clr_snapshot {
    struct clr_source source; /* after clr_snapshot_open() */
    struct clr_token token;
    sqlite3_file *file;
    unsigned char header[CLR_HEADER_SIZE]; /* the database file's */
};

/*
 * Returns the connection's record of a database, making it if need be; NULL if its statements
 * can't be prepared. It lives until clr_databases_free().
 */
struct clr_database *clr_database_get(struct clr_connection *connection, const char *schema);

/* Finalizes the statements of all databases: to be called when the last view goes. */
void clr_databases_free(struct clr_connection *connection);

/*
 * Begins a snapshot, which has to be ended whatever is returned. SQLITE_OK; SQLITE_BUSY if others
 * have the database locked, which has been waited for; else the snapshot cannot be used, and
 * *reason, static text, says why rows have to be read by SQLite.
 */
int clr_snapshot_begin(struct clr_database *database, struct clr_snapshot *snapshot,
                       const char **reason);

/* Opens a snapshot's pages: makes its source complete. SQLITE_OK, or *reason as above. */
int clr_snapshot_open(struct clr_database *database, struct clr_snapshot *snapshot,
                      const char **reason);

/* Ends it, and the read transaction with it unless others need that. */
void clr_snapshot_end(struct clr_database *database);

#endif
