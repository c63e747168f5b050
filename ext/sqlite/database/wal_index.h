/*
 * The index of a write-ahead log, which all connections share: what it says of the log's newest
 * commit. WAL-mode file format (https://sqlite.org/walformat.html), section 2.1.
 */
#ifndef CLR_SQLITE_WAL_INDEX_H
#define CLR_SQLITE_WAL_INDEX_H

#include "sqlite/api.h"

#include <stdbool.h>
#include <stdint.h>

enum { CLR_WAL_HEADER_SIZE = 48, CLR_WAL_SALTS_SIZE = 8 };

struct clr_wal_index {
    /* As it is in memory. Each commit changes it, and so does each beginning of a new log. */
    unsigned char header[CLR_WAL_HEADER_SIZE];
    uint32_t backfilled; /* nBackfill: so many of the first frames were in the database file */
};

/*
 * Reads the index of a database file whose connection has its log open. Returns whether there was
 * one that was whole, and whose header was the same before and after backfilled was read. On false
 * *index is undefined: there is no such memory, it can't be written to, others are changing it, or
 * it has to be recovered.
 */
bool clr_wal_index_read(sqlite3_file *file, struct clr_wal_index *index);

/* Returns the number of the newest commit's last frame (mxFrame); 0: the log has no frames. */
uint32_t clr_wal_index_last_frame(const struct clr_wal_index *index);

/* Returns the database's size after that commit, in pages. It is meant only if there are frames. */
uint32_t clr_wal_index_page_count(const struct clr_wal_index *index);

/* Whether two headers are of one log: a log that is begun anew has other salts. */
bool clr_wal_index_same_log(const unsigned char *header, const unsigned char *other);

/*
 * Whether a header is known to be the next one after another: one commit later, in the same log,
 * with no other header in between. Each commit increases iChange by one (sqlite3WalFrames()).
 * A recovery, which writes a header that is not a commit's, sets iChange to 0 (walIndexRecover()):
 * to be what it is, it would take as many commits since, each of a frame or more.
 */
bool clr_wal_index_is_next(const unsigned char *header, const unsigned char *next);

/* Returns the log's CLR_WAL_SALTS_SIZE bytes of salts, in the order in which its file has them. */
const unsigned char *clr_wal_index_salts(const struct clr_wal_index *index);

#endif
