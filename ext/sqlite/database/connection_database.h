/*
 * A database of a connection, main or attached: its file, its locks, and a read transaction on it.
 */
#ifndef CLR_SQLITE_CONNECTION_DATABASE_H
#define CLR_SQLITE_CONNECTION_DATABASE_H

#include "query/reason.h"
#include "sqlite/api.h"
#include "sqlite/session/connection.h"
#include "storage/snapshot/wal.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- Files. */

/*
 * Database files that connections of this process have open, known by device and inode, on Windows
 * by volume and file index: what was read from one through a connection is what every other
 * connection to it reads.
 *
 * The proof. SQLite's own VFS for unix, with its locks, opened the file, and says (HAS_MOVED) that
 * the inode that it opened is the one at the file's name, before and after which that name leads to
 * one device and inode. From then on a descriptor of ours keeps the inode from being given to
 * another file. It is one that was opened with O_PATH: closing any other descriptor of a file
 * drops the locks that SQLite holds on it (fcntl(2)). Where there is no O_PATH no file is known.
 * The VFS for Windows tells its handle, of which ours is made, and while it has that open the file
 * can't be deleted. Afterwards ours would keep others from that: it is closed, and the file is
 * lost.
 *
 * What was read stays true only while somebody has the file open: then nobody but SQLite's users
 * writes to it or to its log. Nothing tells when SQLite closes a file: DETACH,
 * sqlite3_deserialize() and PRAGMA journal_mode, which ends the log, do so as well as
 * sqlite3_close(). So the handle itself does: its methods are a copy of those that it had, with
 * another xClose.
 */

struct clr_known_file;

/* A handle by which SQLite has a known file open, or the log of one. */
struct clr_open_file;

/* Has a function called, which others may call at the same time, whenever the last handle of a file
   is about to be closed, to which it gets no reference. A child after fork() finds the files as
   they were from then on: whoever has a lock of its own while it calls the other functions calls
   this before it sees to the same for that lock. */
void clr_known_file_notify(void (*closed)(struct clr_known_file *file));

struct clr_known_file *clr_known_file_retain(struct clr_known_file *file);
void clr_known_file_release(struct clr_known_file *file);

/* Returns how often nobody has had the file's log open since the file is known: then the log may
   have been restored from a copy, with the same salts and other frames. */
int64_t clr_known_file_log_closings(const struct clr_known_file *file);

/* Returns since when nobody has had it open, in ns of clr_clock_ns(); 0: somebody has. */
int64_t clr_known_file_closed(const struct clr_known_file *file);

/*
 * What changes whenever the file is written to, by whomever: its size, the times of its latest
 * changes, and how often nobody has had it open so soon after a change that another one might have
 * the same times. Zeros if they can't be read.
 */
enum { CLR_FILE_STATE_SIZE = 32 };
void clr_known_file_state(const struct clr_known_file *file,
                          unsigned char state[CLR_FILE_STATE_SIZE]);

/* Whether nobody can open a closed file as this one any more: it has no name, or no pin. */
bool clr_known_file_is_lost(const struct clr_known_file *file);

/* ---- Databases. */

/* A version of the rows that SQLite reads: row_version.h. */
struct clr_row_version {
    int generation;
    unsigned data_version;
    int changes; /* of databases without a file */
    int length_limit, pattern_limit;
};

/* Bytes of the header of a write-ahead log's index. */
enum { CLR_WAL_HEADER_SIZE = 48 };

/* By the name of its schema, for as long as the connection is open. */
struct clr_database {
    struct clr_database *next; /* in the connection's list */
    struct clr_connection *connection;
    char *schema;
    bool is_main;       /* no other database gets that name, even if main has a second one */
    sqlite3_stmt *hold; /* reads the schema table, gives one row, and until it is reset holds a read
                           transaction; NULL: it rests */
    bool is_locked;     /* a lock has kept it from being looked at for the first time */
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

    /* Amid a run: the connection writes to the database, and to nothing that the run reads, of
       which all is committed (clr_sole_writer_spares()). */
    bool is_spared;

    /* In WAL mode the latest snapshot that was proved, if any (see snapshot.h): its header, and
       what the pager then had as its data version. */
    bool proved;
    unsigned char wal_header[CLR_WAL_HEADER_SIZE];
    unsigned data_version;

    /* The version that clr_row_version_number() has found last, and its number. */
    struct clr_row_version rows;
    unsigned rows_number;

    /* Of the log's frames that the latest snapshot with pages in them had, and the generation that
       it is of. Only clr_snapshot_open() changes it, and clr_database_find_log() when that is
       another one. */
    struct clr_wal_map log;
    int log_generation;
};

/* Returns the connection's record of a database, which has its statements; NULL if these can't be
   prepared, or without memory. The first call waits for locks, and others until that succeeds. */
struct clr_database *clr_database_get(struct clr_connection *connection, const char *schema);

/* Finalizes the statements of all databases: to be called when the last view goes. Each is to be
   got again. */
void clr_databases_rest(struct clr_connection *connection);

/* Returns the file that the handle is known to be of, which is the database's; NULL: none. */
struct clr_known_file *clr_database_find_known(struct clr_database *database, sqlite3_file *handle);

/* Stores the handle of the database's log, which is open. Returns whether there is one, which from
   now on is known to be the log of that file, if there is a file. */
bool clr_database_find_log(struct clr_database *database, struct clr_known_file *file,
                           sqlite3_file **log);

/* Returns the name of the connection's schema whose file that is known to be, or NULL. */
const char *clr_database_schema_of(const struct clr_connection *connection,
                                   const struct clr_known_file *file);

/*
 * Returns whether other connections use this one's pages: what they have not committed yet must be
 * seen, or be an error, as SQLite decides. Shares of the caches are less than all of them only
 * then.
 */
bool clr_database_shares_cache(const struct clr_database *database);

/* Whether the database is in memory, temporary, or has temporary tables: no other connection sees
   it, unless they share a cache. */
static inline bool clr_database_has_no_file(const struct clr_database *database)
{
    const char *name = sqlite3_db_filename(database->connection->db, database->schema);

    return name == NULL || *name == '\0';
}

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
