#include "sqlite/snapshot.h"

#include "sqlite/file_reading.h"

#include <string.h>

/* The database header: file format, section 1.3. */
enum {
    AT_PAGE_SIZE = 16,
    AT_READ_VERSION = 19,
    AT_RESERVED = 20,
    AT_CHANGE_COUNTER = 24,
    AT_PAGE_COUNT = 28,
    AT_SCHEMA_COOKIE = 40,
    AT_VALID_FOR = 92,
    WAL_VERSION = 2
};

enum { MOST_AT_A_TIME = 65536 };

/* What a token consists of. */
enum { AT_COUNTERS = 0, AT_VERSION = 32, AT_GENERATION = 48 };

static const char in_wal_mode[] = "the database is in WAL mode";

static void free_database(struct clr_database *database)
{
    sqlite3_finalize(database->hold);
    sqlite3_finalize(database->mode);
    sqlite3_free(database->schema);
    sqlite3_free(database);
}

/* Prepares a statement of a formatted text, which is freed; NULL if that cannot be. */
static sqlite3_stmt *prepare_text(sqlite3 *db, char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sql != NULL)
        sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    sqlite3_free(sql);
    return statement;
}

struct clr_database *clr_database_get(struct clr_connection *connection, const char *schema)
{
    struct clr_database *database = connection->databases;

    while (database != NULL && sqlite3_stricmp(database->schema, schema) != 0)
        database = database->next;
    if (database != NULL)
        return database;
    database = sqlite3_malloc(sizeof *database);
    if (database == NULL)
        return NULL;
    memset(database, 0, sizeof *database);
    database->connection = connection;
    database->parallel = -1;
    database->schema = sqlite3_mprintf("%s", schema);
    database->hold = prepare_text(
        connection->db, sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_master LIMIT 1", schema));
    database->mode =
        prepare_text(connection->db, sqlite3_mprintf("PRAGMA \"%w\".journal_mode", schema));
    if (database->schema == NULL || database->hold == NULL || database->mode == NULL) {
        free_database(database);
        return NULL;
    }
    database->generation = ++connection->generations;
    database->next = connection->databases;
    connection->databases = database;
    /* Opens a write-ahead log, if there is one: then it shows. */
    sqlite3_step(database->hold);
    sqlite3_reset(database->hold);
    return database;
}

void clr_databases_free(struct clr_connection *connection)
{
    while (connection->databases != NULL) {
        struct clr_database *database = connection->databases;
        connection->databases = database->next;
        free_database(database);
    }
}

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
    sqlite3_file *file = snapshot->file;
    size_t part;
    int rc = SQLITE_OK;

    (void)which; /* there is no log */
    /* SQLite itself never reads more at a time, and its debugging builds insist on that. */
    for (; size > 0 && rc == SQLITE_OK; size -= part) {
        part = size < MOST_AT_A_TIME ? size : MOST_AT_A_TIME;
        rc = file->pMethods->xRead(file, buffer, (int)part, offset);
        buffer = (char *)buffer + part;
        offset += (int64_t)part;
    }
    return rc;
}

/* Whether the connection has a write-ahead log open. */
static bool is_wal(struct clr_database *database)
{
    const char *mode = NULL;
    bool wal;

    if (sqlite3_step(database->mode) == SQLITE_ROW)
        mode = (const char *)sqlite3_column_text(database->mode, 0);
    wal = mode != NULL && strcmp(mode, "wal") == 0;
    sqlite3_reset(database->mode);
    return wal;
}

/*
 * Returns why the file's lock forbids reading its pages, or NULL. More than a shared lock:
 * exclusive locking mode, or another connection writes to this very pager (a shared cache), whose
 * pages may be in the file before they are committed.
 */
static const char *check_lock(struct clr_database *database)
{
    int lock = -1;

    if (sqlite3_file_control(database->connection->db, database->schema, SQLITE_FCNTL_LOCKSTATE,
                             &lock) != SQLITE_OK)
        return "the database is not a file of the operating system";
    return lock > 1 ? "the database is locked for writing, or in exclusive locking mode" : NULL;
}

/*
 * Whether other connections use this one's pages: what they have not committed yet must be seen, or
 * be an error, as SQLite decides. Shares of the caches are less than all of them only then.
 */
static bool shares_cache(sqlite3 *db)
{
    int all = 0, share = 0, high;

    return sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED, &all, &high, 0) != SQLITE_OK ||
           sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED_SHARED, &share, &high, 0) !=
               SQLITE_OK ||
           share != all;
}

static const char *find_file(struct clr_database *database, struct clr_snapshot *snapshot)
{
    sqlite3 *db = database->connection->db;
    const char *name;

    if (sqlite3_stricmp(database->schema, "temp") == 0)
        return "a temporary table";
    name = sqlite3_db_filename(db, database->schema);
    if (name == NULL || *name == '\0') /* what is committed may stay in its cache */
        return "the database is in memory, or temporary";
    sqlite3_file_control(db, database->schema, SQLITE_FCNTL_FILE_POINTER, &snapshot->file);
    if (snapshot->file == NULL || snapshot->file->pMethods == NULL)
        return "the database is in memory";
    return check_lock(database);
}

/* Reads and checks the database file's header. */
static const char *read_header(struct clr_snapshot *snapshot)
{
    const unsigned char *header = snapshot->header;
    uint32_t size;

    if (read_file(snapshot, CLR_FILE_DATABASE, snapshot->header, CLR_HEADER_SIZE, 0) != SQLITE_OK)
        return "the database file could not be read";
    if (memcmp(header, "SQLite format 3", 16) != 0)
        return "the database file is encrypted, or none";
    size = read_big_endian(header + AT_PAGE_SIZE, 2);
    if (size == 1)
        size = 65536;
    if (size < 512 || (size & (size - 1)) != 0)
        return "the database's header is malformed";
    snapshot->source.page_size = size;
    return NULL;
}

/* The header's count goes before that of the file, as with SQLite, where its version says that it
   is valid (file format, section 1.3.8). */
static const char *count_pages(struct clr_snapshot *snapshot)
{
    const unsigned char *header = snapshot->header;
    uint32_t count = read_big_endian(header + AT_PAGE_COUNT, 4);
    sqlite3_int64 pages = 0;

    if (snapshot->file->pMethods->xFileSize(snapshot->file, &pages) != SQLITE_OK)
        return "the database file's size could not be read";
    pages /= snapshot->source.page_size;
    if (memcmp(header + AT_CHANGE_COUNTER, header + AT_VALID_FOR, 4) != 0 || count == 0)
        count = pages < UINT32_MAX ? (uint32_t)pages : UINT32_MAX;
    snapshot->source.page_count = count;
    return count > pages ? "the database is shorter than its header says" : NULL;
}

int clr_snapshot_open(struct clr_database *database, struct clr_snapshot *snapshot,
                      const char **reason)
{
    struct clr_source *source = &snapshot->source;
    const uint32_t reserved = snapshot->header[AT_RESERVED];

    *reason = count_pages(snapshot);
    if (*reason == NULL && source->page_size - reserved < 480)
        *reason = "the database's header is malformed";
    if (*reason != NULL)
        return SQLITE_ERROR;
    source->usable_size = source->page_size - reserved;
    if (database->parallel < 0)
        database->parallel = clr_file_reads_in_parallel(database->connection->db, database->schema);
    source->parallel = database->parallel > 0;
    return SQLITE_OK;
}

int clr_snapshot_begin(struct clr_database *database, struct clr_snapshot *snapshot,
                       const char **reason)
{
    struct clr_connection *connection = database->connection;
    sqlite3 *db = connection->db;
    const unsigned char *header;
    int state, rc;

    memset(snapshot, 0, sizeof *snapshot);
    snapshot->source.context = snapshot;
    snapshot->source.read = read_file;
    if (sqlite3_libversion_number() < CLR_HAS_TXN_STATE) {
        *reason = "SQLite is older than 3.34";
        return SQLITE_ERROR;
    }
    *reason = find_file(database, snapshot);
    if (*reason != NULL)
        return SQLITE_ERROR;
    state = sqlite3_txn_state(db, database->schema);
    if (state == SQLITE_TXN_WRITE) {
        *reason = "this connection's own uncommitted changes are to be seen";
        return SQLITE_ERROR;
    }
    if (is_wal(database)) {
        *reason = in_wal_mode;
        return SQLITE_ERROR;
    }
    if (sqlite3_step(database->hold) != SQLITE_ROW) {
        *reason = "no read transaction could be begun";
        rc = sqlite3_reset(database->hold);
        return (rc & 0xff) == SQLITE_BUSY ? rc : SQLITE_ERROR;
    }
    if (sqlite3_stmt_status(database->hold, SQLITE_STMTSTATUS_REPREPARE, 1) > 0) {
        database->generation = ++connection->generations;
        database->parallel = -1;
    }
    *reason = check_lock(database);
    if (*reason == NULL)
        *reason = shares_cache(db) ? "a cache is shared" : read_header(snapshot);
    header = snapshot->header;
    if (*reason == NULL && header[AT_READ_VERSION] == WAL_VERSION)
        *reason = in_wal_mode;
    if (*reason != NULL)
        return SQLITE_ERROR;
    /* Another file may be attached by the same name, with the same counters: that expires hold. */
    memcpy(snapshot->token.bytes + AT_GENERATION, &database->generation,
           sizeof database->generation);
    /* The change counter to the freelist, the schema cookie, and the version that the size is valid
       for. */
    memcpy(snapshot->token.bytes + AT_COUNTERS, header + AT_PAGE_SIZE,
           AT_SCHEMA_COOKIE + 4 - AT_PAGE_SIZE);
    memcpy(snapshot->token.bytes + AT_VERSION, header + AT_VALID_FOR, 8);
    return SQLITE_OK;
}

void clr_snapshot_end(struct clr_database *database)
{
    sqlite3_reset(database->hold);
}
