/* The clauses that are cited here are those of snapshot.h. */
#include "sqlite/database/snapshot.h"

#include "base/system.h"
#include "storage/format/page_set.h"
#include "storage/snapshot/tree.h"
#include "storage/snapshot/wal.h"

#include <string.h>

/* ---- The index of a write-ahead log, which all connections share. WAL-mode file format
   (https://sqlite.org/walformat.html), section 2.1. */

/* Where fields of the header are, and what follows its two copies. */
enum {
    INDEX_AT_VERSION = 0,
    INDEX_AT_CHANGE = 8,
    INDEX_AT_IS_INIT = 12,
    INDEX_AT_LAST_FRAME = 16,
    INDEX_AT_PAGE_COUNT = 20,
    INDEX_AT_SALTS = 32,
    INDEX_AT_CHECKSUM = 40,
    INDEX_HEADERS = 2 * CLR_WAL_HEADER_SIZE,
    INDEX_AT_BACKFILLED = INDEX_HEADERS,
    INDEX_WORDS = INDEX_AT_BACKFILLED + 4
};

enum { REGION_SIZE = 32768, INDEX_VERSION = 3007000, MOST_READS = 10 };

static uint32_t get_word(const unsigned char *bytes)
{
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Copies words, in the byte order of the machine, in ascending order. Others write to them. */
static void copy_words(const void volatile *area, unsigned char *copy, int size)
{
    uint32_t word;
    int i;

    for (i = 0; i < size; i += 4) {
        word =
            __atomic_load_n((const uint32_t *)((uintptr_t)area + (uintptr_t)i), __ATOMIC_SEQ_CST);
        memcpy(copy + i, &word, sizeof word);
    }
}

/* Section 4.2, "Checksum Algorithm", in the machine's byte order. */
static bool has_valid_checksum(const unsigned char *header)
{
    uint32_t sums[2] = {0, 0};
    int i;

    for (i = 0; i < INDEX_AT_CHECKSUM; i += 8) {
        sums[0] += get_word(header + i) + sums[1];
        sums[1] += get_word(header + i + 4) + sums[0];
    }
    return memcmp(sums, header + INDEX_AT_CHECKSUM, sizeof sums) == 0;
}

/*
 * Reads the index of a database file whose connection has its log open. Returns whether there was
 * one that was whole, and whose header was the same before and after backfilled was read. On false
 * *index is undefined: there is no such memory, it can't be written to, others are changing it, or
 * it has to be recovered.
 */
static bool index_read(sqlite3_file *file, struct clr_wal_index *index)
{
    unsigned char words[INDEX_WORDS], after[INDEX_HEADERS];
    void volatile *area = NULL;
    int attempt;

    if (file->pMethods->iVersion < 2 || file->pMethods->xShmMap == NULL ||
        file->pMethods->xShmMap(file, 0, REGION_SIZE, 0, &area) != SQLITE_OK || area == NULL)
        return false;
    for (attempt = 0; attempt < MOST_READS; attempt++) {
        file->pMethods->xShmBarrier(file);
        copy_words(area, words, INDEX_WORDS);
        file->pMethods->xShmBarrier(file);
        copy_words(area, after, INDEX_HEADERS);
        if (memcmp(words, words + CLR_WAL_HEADER_SIZE, CLR_WAL_HEADER_SIZE) != 0 ||
            memcmp(words, after, INDEX_HEADERS) != 0)
            continue;
        memcpy(index->header, words, CLR_WAL_HEADER_SIZE);
        index->backfilled = get_word(words + INDEX_AT_BACKFILLED);
        return get_word(words + INDEX_AT_VERSION) == INDEX_VERSION &&
               words[INDEX_AT_IS_INIT] != 0 && has_valid_checksum(words);
    }
    return false;
}

/* Returns the number of the newest commit's last frame (mxFrame); 0: the log has no frames. */
static uint32_t index_last_frame(const struct clr_wal_index *index)
{
    return get_word(index->header + INDEX_AT_LAST_FRAME);
}

/* Returns the database's size after that commit, in pages. It is meant only if there are frames. */
static uint32_t index_page_count(const struct clr_wal_index *index)
{
    return get_word(index->header + INDEX_AT_PAGE_COUNT);
}

/* Returns the log's CLR_WAL_SALTS bytes of salts, in the order in which its file has them. */
static const unsigned char *index_salts(const struct clr_wal_index *index)
{
    return index->header + INDEX_AT_SALTS;
}

/* Whether two headers are of one log: a log that is begun anew has other salts. */
static bool index_same_log(const unsigned char *header, const unsigned char *other)
{
    return memcmp(header + INDEX_AT_SALTS, other + INDEX_AT_SALTS, CLR_WAL_SALTS) == 0;
}

/*
 * Whether a header is known to be the next one after another: one commit later, in the same log,
 * with no other header in between. Each commit increases iChange by one (sqlite3WalFrames()).
 * A recovery, which writes a header that is not a commit's, sets iChange to 0 (walIndexRecover()):
 * to be what it is, it would take as many commits since, each of a frame or more.
 */
static bool index_is_next(const unsigned char *header, const unsigned char *next)
{
    const uint32_t change = get_word(next + INDEX_AT_CHANGE);
    const uint32_t frames =
        get_word(next + INDEX_AT_LAST_FRAME) - get_word(header + INDEX_AT_LAST_FRAME);

    return index_same_log(header, next) && change == get_word(header + INDEX_AT_CHANGE) + 1 &&
           frames > 0 && frames < change;
}

/* ---- Transactions in WAL mode: clause 2. */

enum { MOST_ATTEMPTS = 5 };

/* Stores the pager's data version. Returns whether there is one. */
static bool read_version(const struct clr_database *database, unsigned *version)
{
    return sqlite3_file_control(database->connection->db, database->schema,
                                SQLITE_FCNTL_DATA_VERSION, version) == SQLITE_OK;
}

/* Whether the last snapshot that was proved has that data version, and that header. */
static bool was_proved(const struct clr_database *database, unsigned version,
                       const unsigned char *header)
{
    return database->proved && database->data_version == version &&
           memcmp(database->wal_header, header, CLR_WAL_HEADER_SIZE) == 0;
}

/* The index has a later header than the snapshot, which has the last one that was proved: what the
   index says of pages proves nothing (clause 3). */
static void take_last_header(const struct clr_database *database, struct clr_wal_index *index,
                             bool *is_overtaken)
{
    memcpy(index->header, database->wal_header, CLR_WAL_HEADER_SIZE);
    *is_overtaken = true;
}

/* Clause 2, if a transaction was open already, which may be one that writes. */
static bool prove_open(struct clr_database *database, sqlite3_file *file, bool is_writing,
                       struct clr_wal_index *index, bool *is_overtaken)
{
    unsigned version = 0;

    if (!index_read(file, index) || !read_version(database, &version))
        return false;
    if (is_writing) {
        database->proved = true;
        memcpy(database->wal_header, index->header, CLR_WAL_HEADER_SIZE);
        database->data_version = version;
    }
    if (!database->proved || version != database->data_version)
        return false;
    if (!was_proved(database, version, index->header))
        take_last_header(database, index, is_overtaken);
    return true;
}

/* Clause 2, if the transaction has just begun, with what the index and the version were before. */
static bool prove_begun(struct clr_database *database, sqlite3_file *file,
                        const struct clr_wal_index *before, unsigned version_before,
                        struct clr_wal_index *index, bool *is_overtaken)
{
    const unsigned char *after = index->header;
    unsigned version = 0;
    bool proved;

    if (!index_read(file, index) || !read_version(database, &version))
        return false;
    proved = memcmp(before->header, after, CLR_WAL_HEADER_SIZE) == 0;
    if (!proved && was_proved(database, version_before, before->header)) {
        if (version == version_before)
            take_last_header(database, index, is_overtaken);
        proved = version == version_before || index_is_next(before->header, after);
    }
    database->proved = proved;
    memcpy(database->wal_header, after, CLR_WAL_HEADER_SIZE);
    database->data_version = version;
    return proved;
}

/* A commit just then leaves it open whether the transaction sees it. Then another transaction is
   begun, if that can be done: within BEGIN, this one stays. */
static int wal_transaction_hold(struct clr_database *database, sqlite3_file *file,
                                struct clr_wal_index *index, bool *is_overtaken,
                                enum clr_reason_code *why)
{
    int state = sqlite3_txn_state(database->connection->db, database->schema), attempt, rc;
    struct clr_wal_index before;
    unsigned version = 0;
    bool first, proved;

    for (attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        first = state == SQLITE_TXN_NONE;
        if (first && (!index_read(file, &before) || !read_version(database, &version)))
            break;
        rc = clr_database_hold(database, why);
        /* Within BEGIN, a statement that fails as its schema is stale has begun the transaction. */
        proved =
            sqlite3_txn_state(database->connection->db, database->schema) != SQLITE_TXN_NONE &&
            (first ? prove_begun(database, file, &before, version, index, is_overtaken)
                   : prove_open(database, file, state == SQLITE_TXN_WRITE, index, is_overtaken));
        if (rc != SQLITE_OK || *why != CLR_WHY_NONE || proved)
            return rc;
        clr_database_release(database);
        state = sqlite3_txn_state(database->connection->db, database->schema);
        if (state != SQLITE_TXN_NONE)
            break;
    }
    *why = CLR_WHY_UNPROVED_SNAPSHOT;
    return SQLITE_OK;
}

/* ---- How the file may be read. */

/* Whether several threads may read a database's file at the same time, and whether they need not
   read at all. */

/* In a process that has started a thread each of SQLite's mutexes is taken atomically from then on,
   by which a program without threads of its own reads rows a fourth slower: smaller tables are not
   worth that. */
enum { SMALL_LEAVES = 4096 };

/*
 * Returns whether the xRead of the database's file can be called by several threads: it is that of
 * SQLite's own VFS for unix, and it is pread(), which leaves the file's position alone. There are
 * builds of SQLite that seek first and then read. To be asked after the file has been read at
 * least once; where it cannot be found out, false.
 */
static bool file_reads_in_parallel(sqlite3 *db, const char *schema)
{
    const char *name = sqlite3_db_filename(db, schema);
    sqlite3_vfs *vfs = NULL;

    /* The VFS itself, where VFSNAME would be answered by whatever lies in front of it. */
    if (sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs) != SQLITE_OK ||
        vfs == NULL || name == NULL ||
        (strcmp(vfs->zName, "unix") != 0 && strcmp(vfs->zName, "unix-excl") != 0))
        return false;
    return clr_file_stands_still(name);
}

/*
 * Returns where the first count pages of a database's file are in memory, with the page after them,
 * if SQLite has all of that mapped (PRAGMA mmap_size); else NULL. The file is one of which the
 * above is true, so that its xFetch is that of SQLite's own VFS for unix, which has one mapping and
 * keeps it as it is until xUnfetch has been called. A read transaction has to be open from before
 * this call until xUnfetch(), which gives the pages back: to begin one may end the mapping.
 */
static const unsigned char *file_map(sqlite3_file *file, uint32_t page_size, uint32_t count)
{
    const sqlite3_io_methods *methods = file->pMethods;
    const sqlite3_int64 after = (sqlite3_int64)page_size * count;
    void *first = NULL, *last = NULL;

    if (methods->iVersion < 3 || count == 0 ||
        methods->xFetch(file, 0, (int)page_size, &first) != SQLITE_OK || first == NULL)
        return NULL;
    if (methods->xFetch(file, after, (int)page_size, &last) == SQLITE_OK && last != NULL)
        methods->xUnfetch(file, after, last);
    if (last != NULL && (uintptr_t)last - (uintptr_t)first == (uintptr_t)after)
        return first;
    methods->xUnfetch(file, 0, first);
    return NULL;
}

/* ---- The snapshot. */

/* The database header: file format, section 1.3. */
enum {
    AT_PAGE_SIZE = 16,
    AT_READ_VERSION = 19,
    AT_RESERVED = 20,
    AT_CHANGE_COUNTER = 24,
    AT_PAGE_COUNT = 28,
    AT_SCHEMA_COOKIE = 40,
    AT_LARGEST_ROOT = 52, /* 0: there is no auto_vacuum */
    AT_VALID_FOR = 92,
    WAL_VERSION = 2
};

/* The log: file format, section 4.1. */
enum { LOG_HEADER_SIZE = 32, FRAME_HEADER_SIZE = 24 };

enum { MOST_AT_A_TIME = 65536, LARGEST_PAGE = 65536 };

#define MOST_PAGES UINT32_C(0xfffffffe)

/* What a token consists of. */
enum {
    AT_COUNTERS = 0,
    AT_VERSION = 32,
    AT_SCHEMA = 48,
    AT_LONGEST = 52,
    AT_LOG = 64,
    AT_STATE = AT_LOG + CLR_WAL_HEADER_SIZE
};

static uint32_t read_big_endian(const unsigned char *bytes, int count)
{
    uint32_t value = 0;
    int i;

    for (i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static int read_file(void *context, enum clr_file which, void *buffer, size_t size, int64_t offset)
{
    struct clr_snapshot *snapshot = context;
    sqlite3_file *file = which == CLR_FILE_WAL ? snapshot->log : snapshot->file;
    size_t part;
    int rc = SQLITE_OK;

    /* SQLite itself never reads more at a time, and its debugging builds insist on that. */
    for (; size > 0 && rc == SQLITE_OK; size -= part) {
        part = size < MOST_AT_A_TIME ? size : MOST_AT_A_TIME;
        rc = file->pMethods->xRead(file, buffer, (int)part, offset);
        buffer = (char *)buffer + part;
        offset += (int64_t)part;
    }
    return rc;
}

/* Reads and checks the database file's header. In WAL mode that may not be the snapshot's, but what
   is checked here does not change in that mode. */
static enum clr_reason_code read_header(struct clr_snapshot *snapshot)
{
    const unsigned char *header = snapshot->header;
    uint32_t size;

    if (read_file(snapshot, CLR_FILE_DATABASE, snapshot->header, CLR_HEADER_SIZE, 0) != SQLITE_OK)
        return CLR_WHY_FILE_UNREAD;
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return CLR_WHY_ENCRYPTED;
    size = read_big_endian(header + AT_PAGE_SIZE, 2);
    if (size == 1)
        size = 65536;
    if (size < 512 || (size & (size - 1)) != 0)
        return CLR_WHY_MALFORMED_HEADER;
    snapshot->source.page_size = size;
    return CLR_WHY_NONE;
}

/* Finds the pages' frames in the log, and replaces the header if its page has one (clause 3b). */
static enum clr_reason_code map_frames(struct clr_database *database, struct clr_snapshot *snapshot,
                                       const struct clr_watch *watch)
{
    struct clr_source *source = &snapshot->source;
    const struct clr_wal_index *index = &snapshot->index;
    enum clr_code code = CLR_INVALID;
    struct clr_status status;
    uint32_t frame;
    int64_t offset;

    if (!clr_database_find_log(database, snapshot->known, &snapshot->log))
        return CLR_WHY_LOG_NOT_OPEN;
    if (database->log_generation != database->generation)
        clr_wal_map_clear(&database->log);
    database->log_generation = database->generation;
    clr_status_clear(&status);
    if (source->page_count > 0)
        code = clr_wal_map_read(&database->log, source, index_salts(index), index_last_frame(index),
                                watch, &status);
    snapshot->is_stopped = code == CLR_STOPPED;
    if (code != CLR_OK)
        return CLR_WHY_LOG_UNREAD;
    source->log = &database->log;
    frame = clr_wal_map_find(source->log, 1);
    if (frame == 0)
        return CLR_WHY_NONE;
    offset = LOG_HEADER_SIZE +
             (int64_t)(frame - 1) * (FRAME_HEADER_SIZE + (int64_t)source->page_size) +
             FRAME_HEADER_SIZE;
    return read_file(snapshot, CLR_FILE_WAL, snapshot->header, CLR_HEADER_SIZE, offset) == SQLITE_OK
               ? CLR_WHY_NONE
               : CLR_WHY_LOG_UNREAD;
}

/*
 * How many pages the database has according to the file's size or, in WAL mode, the log's index.
 * What that says came from a file, and memory is taken by it. So it is held against what there is:
 * a page is in the database file or in a frame, but for the one of the locks, as walCheckpoint()
 * has it.
 */
static enum clr_reason_code find_size(struct clr_snapshot *snapshot)
{
    const uint32_t last = snapshot->is_wal ? index_last_frame(&snapshot->index) : 0;
    struct clr_source *source = &snapshot->source;
    sqlite3_int64 size = 0;

    if (snapshot->file->pMethods->xFileSize(snapshot->file, &size) != SQLITE_OK)
        return CLR_WHY_SIZE_UNREAD;
    if (last == 0) {
        size /= source->page_size;
        source->page_count = size < MOST_PAGES ? (uint32_t)size : MOST_PAGES;
        return CLR_WHY_NONE;
    }
    source->page_count = index_page_count(&snapshot->index);
    size += (int64_t)last * source->page_size + LARGEST_PAGE;
    return source->page_count > MOST_PAGES || (int64_t)source->page_count * source->page_size > size
               ? CLR_WHY_SHORTER_THAN_LOG
               : CLR_WHY_NONE;
}

/* The header's count goes before that, as with SQLite, where its version says that it is valid
   (file format, section 1.3.8). */
static enum clr_reason_code check_size(struct clr_snapshot *snapshot)
{
    const unsigned char *header = snapshot->header;
    const uint32_t pages = snapshot->source.page_count;
    uint32_t count = read_big_endian(header + AT_PAGE_COUNT, 4);

    if (memcmp(header + AT_CHANGE_COUNTER, header + AT_VALID_FOR, 4) != 0 || count == 0)
        count = pages;
    snapshot->source.page_count = count;
    return count > pages ? CLR_WHY_SHORTER_THAN_HEADER : CLR_WHY_NONE;
}

enum clr_reason_code clr_snapshot_open(struct clr_database *database, struct clr_snapshot *snapshot,
                                       const struct clr_watch *watch)
{
    struct clr_source *source = &snapshot->source;
    enum clr_reason_code why;
    uint32_t reserved;

    if (source->usable_size > 0)
        return CLR_WHY_NONE;
    if (snapshot->is_stopped)
        return CLR_WHY_LOG_UNREAD;
    why = snapshot->is_overtaken ? CLR_WHY_OVERTAKEN : find_size(snapshot);
    if (why == CLR_WHY_NONE && snapshot->is_wal &&
        snapshot->index.backfilled < index_last_frame(&snapshot->index))
        why = map_frames(database, snapshot, watch);
    if (why == CLR_WHY_NONE)
        why = check_size(snapshot);
    reserved = snapshot->header[AT_RESERVED];
    if (why == CLR_WHY_NONE && source->page_size - reserved < 480)
        why = CLR_WHY_SMALL_PAGES;
    if (why != CLR_WHY_NONE)
        return why;
    source->usable_size = source->page_size - reserved;
    if (database->parallel < 0)
        database->parallel = file_reads_in_parallel(database->connection->db, database->schema);
    source->parallel = database->parallel > 0;
    source->least_leaves = SMALL_LEAVES;
    /* With the last page there is nothing after it that could be read, or it is not whole. */
    if (source->parallel && source->page_count > 1) {
        source->mapped_pages = source->page_count - 1;
        source->mapped = file_map(snapshot->file, source->page_size, source->mapped_pages);
    }
    return CLR_WHY_NONE;
}

/* Fills in the token. */
static void identify(struct clr_database *database, struct clr_snapshot *snapshot)
{
    const unsigned char *header = snapshot->header;
    unsigned char *bytes = snapshot->token.bytes;
    const bool has_frames = snapshot->is_wal && index_last_frame(&snapshot->index) > 0;
    uint32_t schema = (uint32_t)database->file_generation;
    int64_t closings;

    if (database->schema_version >= 0)
        snapshot->known = clr_database_find_known(database, snapshot->file);
    if (has_frames && !clr_database_find_log(database, snapshot->known, &snapshot->log))
        snapshot->known = NULL;
    /* Where that is not known, another file may be attached by the same name, with the same
       counters. */
    if (snapshot->known != NULL)
        schema = (uint32_t)database->schema_version;
    memcpy(bytes + AT_SCHEMA, &schema, sizeof schema);
    /* What was read under another limit may be an error now. */
    memcpy(bytes + AT_LONGEST, &snapshot->source.longest, sizeof snapshot->source.longest);
    if (snapshot->is_wal)
        memcpy(bytes + AT_LOG, snapshot->index.header, CLR_WAL_HEADER_SIZE);
    /* A log with frames tells all, as long as somebody has it open; a checkpoint changes the file's
       header and no row. */
    if (has_frames) {
        closings = snapshot->known == NULL ? 0 : clr_known_file_log_closings(snapshot->known);
        memcpy(bytes + AT_STATE, &closings, sizeof closings);
        return;
    }
    /* The change counter to the freelist, the schema cookie, and the version that the size is valid
       for. */
    memcpy(bytes + AT_COUNTERS, header + AT_PAGE_SIZE, AT_SCHEMA_COOKIE + 4 - AT_PAGE_SIZE);
    memcpy(bytes + AT_VERSION, header + AT_VALID_FOR, 8);
    /* Whoever copies another database over the file may copy the same counters. */
    if (snapshot->known != NULL)
        clr_known_file_state(snapshot->known, bytes + AT_STATE);
}

/*
 * Returns why the file's lock forbids reading its pages, or CLR_WHY_NONE. More than a shared lock:
 * exclusive locking mode, or another connection writes to this very pager (a shared cache), whose
 * pages may be in the file before they are committed. If this connection writes, they are not as
 * long as the lock is a reserved one.
 */
static enum clr_reason_code check_lock(const struct clr_database *database)
{
    enum { LOCK_SHARED = 1, LOCK_RESERVED };
    int level = -1;

    if (sqlite3_file_control(database->connection->db, database->schema, SQLITE_FCNTL_LOCKSTATE,
                             &level) != SQLITE_OK)
        return CLR_WHY_NO_FILE;
    return level > (database->is_spared ? LOCK_RESERVED : LOCK_SHARED) ? CLR_WHY_FILE_LOCKED
                                                                       : CLR_WHY_NONE;
}

/*
 * Stores the database file's handle in *file. Returns CLR_WHY_NONE, or why its pages can't be read
 * through it: there is no file, or check_lock() says why.
 */
static enum clr_reason_code find_file(const struct clr_database *database, sqlite3_file **file)
{
    sqlite3 *db = database->connection->db;
    const char *name;

    *file = NULL;
    if (sqlite3_stricmp(database->schema, "temp") == 0)
        return CLR_WHY_TEMPORARY_TABLE;
    name = sqlite3_db_filename(db, database->schema);
    if (name == NULL || *name == '\0') /* what is committed may stay in its cache */
        return CLR_WHY_IN_MEMORY;
    sqlite3_file_control(db, database->schema, SQLITE_FCNTL_FILE_POINTER, file);
    if (*file == NULL || (*file)->pMethods == NULL)
        return CLR_WHY_IN_MEMORY;
    return check_lock(database);
}

int clr_snapshot_begin(struct clr_database *database, struct clr_snapshot *snapshot,
                       enum clr_reason_code *why)
{
    int state, rc;

    memset(snapshot, 0, sizeof *snapshot);
    snapshot->source.context = snapshot;
    snapshot->source.read = read_file;
    snapshot->source.longest =
        (uint32_t)sqlite3_limit(database->connection->db, SQLITE_LIMIT_LENGTH, -1);
    *why = snapshot->source.longest < LARGEST_PAGE ? CLR_WHY_LENGTH_LIMIT
                                                   : find_file(database, &snapshot->file);
    state = sqlite3_txn_state(database->connection->db, database->schema);
    if (*why == CLR_WHY_NONE && state == SQLITE_TXN_WRITE && !database->is_spared)
        *why = CLR_WHY_UNCOMMITTED;
    if (*why != CLR_WHY_NONE)
        return SQLITE_OK;
    snapshot->is_wal = clr_database_has_mode(database, "wal");
    rc = snapshot->is_wal ? wal_transaction_hold(database, snapshot->file, &snapshot->index,
                                                 &snapshot->is_overtaken, why)
                          : clr_database_hold(database, why);
    if (rc != SQLITE_OK || *why != CLR_WHY_NONE)
        return rc;
    if (clr_database_shares_cache(database))
        *why = CLR_WHY_SHARED_CACHE;
    if (*why == CLR_WHY_NONE)
        *why = check_lock(database);
    if (*why == CLR_WHY_NONE)
        *why = read_header(snapshot);
    if (*why == CLR_WHY_NONE && !snapshot->is_wal &&
        snapshot->header[AT_READ_VERSION] == WAL_VERSION)
        *why = CLR_WHY_LOG_JUST_OPENED;
    /* With auto_vacuum a new table's root may take the place of another table's page. */
    if (*why == CLR_WHY_NONE && state == SQLITE_TXN_WRITE &&
        read_big_endian(snapshot->header + AT_LARGEST_ROOT, 4) != 0)
        *why = CLR_WHY_UNCOMMITTED;
    if (*why == CLR_WHY_NONE)
        identify(database, snapshot);
    return SQLITE_OK;
}

void clr_snapshot_lead(struct clr_database *database, struct clr_snapshot *snapshot)
{
    enum clr_reason_code why;

    memset(snapshot, 0, sizeof *snapshot);
    if (find_file(database, &snapshot->file) == CLR_WHY_NONE &&
        sqlite3_txn_state(database->connection->db, database->schema) == SQLITE_TXN_NONE &&
        clr_database_has_mode(database, "wal"))
        wal_transaction_hold(database, snapshot->file, &snapshot->index, &snapshot->is_overtaken,
                             &why);
}

struct clr_page_set *clr_snapshot_changes(struct clr_database *database,
                                          struct clr_snapshot *snapshot,
                                          const struct clr_database_version *since,
                                          const struct clr_watch *watch)
{
    const struct clr_wal_index *index = &snapshot->index;
    struct clr_wal_index before, after;
    struct clr_page_set *changes = NULL;
    struct clr_status status;
    enum clr_code code;

    memcpy(before.header, since->bytes + AT_LOG, CLR_WAL_HEADER_SIZE);
    if (!snapshot->is_wal || !index_same_log(before.header, index->header) ||
        index_last_frame(&before) >= index_last_frame(index) ||
        memcmp(since->bytes + AT_STATE, snapshot->token.bytes + AT_STATE, CLR_FILE_STATE_SIZE) !=
            0 ||
        memcmp(since->bytes + AT_SCHEMA, snapshot->token.bytes + AT_SCHEMA, sizeof(uint32_t)) !=
            0 ||
        memcmp(since->bytes + AT_LONGEST, snapshot->token.bytes + AT_LONGEST,
               sizeof snapshot->source.longest) != 0 ||
        !clr_database_find_log(database, snapshot->known, &snapshot->log))
        return NULL;
    clr_status_clear(&status);
    code = clr_wal_changes(&snapshot->source, index_salts(index), index_last_frame(&before) + 1,
                           index_last_frame(index), watch, &changes, &status);
    snapshot->is_stopped = code == CLR_STOPPED;
    if (changes != NULL && index_read(snapshot->file, &after) &&
        index_same_log(after.header, index->header))
        return changes;
    clr_page_set_free(changes);
    return NULL;
}

bool clr_database_version_is_later(const struct clr_database_version *token,
                                   const struct clr_database_version *than)
{
    struct clr_wal_index index, other;

    memcpy(index.header, token->bytes + AT_LOG, CLR_WAL_HEADER_SIZE);
    memcpy(other.header, than->bytes + AT_LOG, CLR_WAL_HEADER_SIZE);
    return index_same_log(index.header, other.header) &&
           index_last_frame(&index) > index_last_frame(&other);
}

void clr_snapshot_end(struct clr_database *database, struct clr_snapshot *snapshot)
{
    snapshot->source.log = NULL;
    if (snapshot->source.mapped != NULL)
        snapshot->file->pMethods->xUnfetch(snapshot->file, 0, (void *)snapshot->source.mapped);
    snapshot->source.mapped = NULL;
    clr_database_release(database);
}

/* ---- Versions of tables. */

void clr_tables_version_forget(struct clr_tables_version *version)
{
    clr_page_set_free(version->pages);
    version->pages = NULL;
    version->is_known = false;
}

/* Whether none of the tables' pages has changed. */
static bool are_unchanged(const struct clr_tables_version *version, struct clr_database *database,
                          struct clr_snapshot *snapshot, const struct clr_watch *watch)
{
    struct clr_page_set *changes = clr_snapshot_changes(database, snapshot, &version->token, watch);
    const bool unchanged = changes != NULL && !clr_page_set_meets(version->pages, changes);

    clr_page_set_free(changes);
    return unchanged;
}

/* Returns the pages of the tables, to be freed with clr_page_set_free(), or NULL if not all are
   known. */
static struct clr_page_set *find_pages(const struct clr_snapshot *snapshot,
                                       const struct clr_table_root *roots, int count, size_t most,
                                       const struct clr_watch *watch)
{
    struct clr_source source = snapshot->source;
    struct clr_pages pages = {
        .source = &source, .visited = clr_page_set_new(source.page_count), .watch = watch};
    enum clr_load_outcome outcome = pages.visited == NULL ? CLR_LOAD_FAILED : CLR_LOAD_DONE;
    int i;

    for (i = 0; i < count && outcome == CLR_LOAD_DONE; i++) {
        if (clr_page_set_has(pages.visited, roots[i].page))
            continue; /* the same table twice */
        source.is_index = roots[i].is_index;
        outcome = clr_tree_pages(&pages, roots[i].page, most);
    }
    if (outcome == CLR_LOAD_DONE)
        return pages.visited;
    clr_page_set_free(pages.visited);
    return NULL;
}

void clr_tables_version_renew(struct clr_tables_version *version, struct clr_database *database,
                              struct clr_snapshot *snapshot, unsigned data_version,
                              const struct clr_table_root *roots, int count, size_t most,
                              const struct clr_watch *watch)
{
    if (version->is_known && version->data_version == data_version)
        return;
    if (snapshot != NULL &&
        (!snapshot->is_wal || clr_snapshot_open(database, snapshot, watch) != CLR_WHY_NONE))
        snapshot = NULL;
    if (!version->is_known || version->pages == NULL || snapshot == NULL ||
        !are_unchanged(version, database, snapshot, watch)) {
        clr_tables_version_forget(version);
        version->number++;
        if (snapshot != NULL)
            version->pages = find_pages(snapshot, roots, count, most, watch);
    }
    version->is_known = true;
    version->data_version = data_version;
    if (version->pages != NULL)
        version->token = snapshot->token;
}
