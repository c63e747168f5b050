/*
 * One snapshot of a database file: a read transaction that is held open, the proof of which
 * version of the file it sees, and the way to its pages.
 *
 * Pages are read through the connection's own file handles. The clauses, with functions of SQLite's
 * wal.c:
 *
 * 1. In a rollback mode nobody writes to the file while we hold SQLITE_LOCK_SHARED. In WAL mode
 * others write while we read. What is not proved as follows goes row by row.
 *
 * 2. Which snapshot it is: SQLite takes the header of the log's index when the read transaction
 * begins (walTryBeginRead()), and does not tell it. If the transaction begins here, it is the
 * header that is found both before and after. Else the pager's data version can tell: SQLite
 * changes it whenever a transaction begins with another header than the one before (pager.c,
 * pagerBeginReadTransaction()), or the connection itself commits. So a transaction with the version
 * of the last snapshot that was proved has that one's header, whatever the index has by now: it is
 * overtaken. One that has just begun with another version than the pager had before, where that was
 * the version, and the index had the header, of the last snapshot, has another header than that:
 * the one that is found after, if that is known to be the next one. (The version also changes where
 * the beginning was tried again because of a recovery: then it is not.) A transaction that writes
 * has the newest header as long as it lasts (sqlite3WalBeginWriteTransaction()), also if it begins
 * the log anew: pages that leave the cache before the commit are in frames beyond.
 *
 * 3. Where its pages are: that is settled by one reading of the index within the transaction, which
 * finds the snapshot's header before and after it finds that b frames are backfilled, of M that the
 * header knows.
 *
 * 3a. If b = M, all pages are in the database file. Whoever backfilled those frames knew of none
 * beyond, or the header would be a later one, so he wrote each page's newest frame. Until the
 * transaction ends nobody writes to that file: if it holds WAL_READ_LOCK(0), no checkpoint can
 * run (walCheckpoint()); if another, none copies frames beyond M, and none is left before. The log
 * is not looked at: under lock 0 it may be overwritten.
 *
 * 3b. If b < M, a page is in the newest of its first M frames, or in the database file if it has
 * none there. As b only grows while the log is the same, it was less than M when the transaction
 * began, which therefore holds a lock other than 0. Under that nobody begins the log anew
 * (walRestartLog(), walCheckpoint()), so these frames stay; and checkpoints copy no frames beyond
 * M, so they write only pages that are read from the log.
 *
 * 3c. A b that is read under a later header proves neither. A checkpoint that knows frames beyond M
 * passes over a page that has one of them, also over its frames up to M, but stops at our lock's
 * mark and says that M frames are backfilled: that page is in the log only.
 *
 * 3d. Which frame has a page's newest content among the first M is kept for the next snapshot. If
 * that is of the same log, known by its salts, and has G > M frames, only frames M + 1 to G have to
 * be looked at: committed frames stay as they are while the log does.
 *
 * 4. What has changed since another snapshot: if both are of one log, known by its salts, and their
 * last frames are F and G > F, then just the pages that frames F + 1 to G name. Of any other page
 * the newest of the first F frames is also the newest of the first G, and committed frames stay as
 * they are while the log does; or it has none, and then it is in the database file, to which only
 * frames of this log were copied in between, and none of this page. The headers of those frames are
 * read, or were for clause 3d, and afterwards the index has these salts still: who begins the log
 * anew says so there (walRestartHdr()) before he overwrites a frame.
 * That is so as long as somebody in this process has the log open: while nobody has, it may be
 * restored from a copy, with the same salts and other frames (connection_database.h).
 */
#ifndef CLR_SQLITE_SNAPSHOT_H
#define CLR_SQLITE_SNAPSHOT_H

#include "engine/worker/team.h"
#include "sqlite/api.h"
#include "sqlite/database/connection_database.h"
#include "storage/format/source.h"

#include <stdbool.h>
#include <stdint.h>

/* The index of a write-ahead log: what it says of the log's newest commit. */
struct clr_wal_index {
    /* As it is in memory. Each commit changes it, and so does each beginning of a new log. */
    unsigned char header[CLR_WAL_HEADER_SIZE];
    uint32_t backfilled; /* nBackfill: so many of the first frames were in the database file */
};

enum { CLR_HEADER_SIZE = 100, CLR_VERSION_SIZE = 64 + CLR_WAL_HEADER_SIZE + CLR_FILE_STATE_SIZE };

/*
 * Two equal tokens of one database: not a byte of it has changed in between. Those of one known
 * file may be of different connections.
 */
struct clr_database_version {
    unsigned char bytes[CLR_VERSION_SIZE];
};

struct clr_snapshot {
    struct clr_source source; /* after clr_snapshot_open() */
    struct clr_database_version token;
    sqlite3_file *file, *log;
    struct clr_known_file *known; /* which that is, the database's; or NULL */
    bool is_wal;
    bool is_overtaken; /* others have committed since: columns may be there, but pages are unread */
    bool is_stopped;   /* the watch has stopped what reads the log */
    struct clr_wal_index index;            /* in WAL mode: that of clause 3 */
    unsigned char header[CLR_HEADER_SIZE]; /* the database file's; once opened, the snapshot's */
};

/*
 * Begins a snapshot, which has to be ended whatever is returned. Returns SQLITE_OK, or SQLITE_BUSY
 * if others have the database locked, which has been waited for. Unless *why is then CLR_WHY_NONE
 * the snapshot cannot be used, and *why says why SQLite has to read the rows.
 */
int clr_snapshot_begin(struct clr_database *database, struct clr_snapshot *snapshot,
                       enum clr_reason_code *why);

/*
 * In WAL mode begins a read transaction, if none is open, for others to read in: its snapshot is
 * known to them. It has to be ended in any case, which leaves the transaction to who takes part.
 */
void clr_snapshot_lead(struct clr_database *database, struct clr_snapshot *snapshot);

/* Opens a snapshot's pages, once: makes its source complete. watch: may stop it, or NULL. Returns
   CLR_WHY_NONE, or why they can't be read this time; if is_stopped says so, it is to be an error.
 */
enum clr_reason_code clr_snapshot_open(struct clr_database *database, struct clr_snapshot *snapshot,
                                       const struct clr_watch *watch);

/*
 * Finds the pages that have changed between a snapshot with that token and this one, which has been
 * opened. Returns what clr_wal_changes() makes of them, to be freed with clr_page_set_free(), or
 * NULL if that is not known (clause 4): not in WAL mode, not in the same log, or the schema or the
 * limit of TEXT's and BLOBs' length has changed. watch is as above.
 */
struct clr_page_set *clr_snapshot_changes(struct clr_database *database,
                                          struct clr_snapshot *snapshot,
                                          const struct clr_database_version *since,
                                          const struct clr_watch *watch);

/* Whether one token's version is known to be later than that of another one of the same file. */
bool clr_database_version_is_later(const struct clr_database_version *token,
                                   const struct clr_database_version *than);

/* Ends it, and the read transaction with it unless others need that. */
void clr_snapshot_end(struct clr_database *database, struct clr_snapshot *snapshot);

/* ---- Versions of tables. */

/*
 * Whether tables of a database are still what they were, though others in it have changed: in WAL
 * mode the log says which pages have changed, and the tables' pages are known (clause 4). Any other
 * change of the database is one of the tables.
 */

/* A b-tree that has a table's rows. */
struct clr_table_root {
    uint32_t page;
    bool is_index; /* the table is WITHOUT ROWID */
};

/* What is known of the tables; zeros: nothing. */
struct clr_tables_version {
    unsigned number;            /* another one each time that the tables may have changed */
    bool is_known;              /* of these: */
    unsigned data_version;      /* the database's (SQLITE_FCNTL_DATA_VERSION) at that number */
    struct clr_page_set *pages; /* of all the tables; NULL: not known */
    struct clr_database_version token; /* then: of the snapshot that they were found in */
};

/*
 * Brings the number up to date for the version of the database that the connection reads, which is
 * data_version. The tables are count in the roots. snapshot is one of that version, which is opened
 * if need be, or NULL. most: of tables with more pages of rows nothing is kept, as it would take
 * longer than to make anew what is made of them.
 */
void clr_tables_version_renew(struct clr_tables_version *version, struct clr_database *database,
                              struct clr_snapshot *snapshot, unsigned data_version,
                              const struct clr_table_root *roots, int count, size_t most,
                              const struct clr_watch *watch);

/* Frees what it has; nothing is known then but that its number was used. */
void clr_tables_version_forget(struct clr_tables_version *version);

#endif
