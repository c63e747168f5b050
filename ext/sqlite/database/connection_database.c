#include "sqlite/database/connection_database.h"

#include "sqlite/session/statement.h"

#include <string.h>

static void free_database(struct clr_database *database)
{
    sqlite3_finalize(database->hold);
    sqlite3_finalize(database->mode);
    clr_open_file_release(database->open);
    clr_open_file_release(database->open_log);
    clr_wal_map_free(&database->log);
    sqlite3_free(database->schema);
    sqlite3_free(database);
}

/* Prepares a statement of a formatted text, which is freed; NULL if that cannot be. */
static sqlite3_stmt *prepare_text(sqlite3 *db, char *sql)
{
    sqlite3_stmt *statement = NULL;

    if (sql != NULL)
        clr_statement_make(db, sql, SQLITE_PREPARE_PERSISTENT, &statement);
    sqlite3_free(sql);
    return statement;
}

/* A handle of a known file that the connection has, or had, by the name of its schema. */
struct own_file {
    struct own_file *next;
    struct clr_open_file *open; /* with a reference */
    const sqlite3_file *handle;
    char *schema;
};

/* The databases of a connection, whose statements are freed when its last view goes, and the files
   that it has open. */
struct databases {
    struct clr_attachment attachment;
    struct clr_database *first;
    struct own_file *files;
    int generations; /* given out so far */
};

static void forget_file(struct own_file **link)
{
    struct own_file *file = *link;

    *link = file->next;
    clr_open_file_release(file->open);
    sqlite3_free(file->schema);
    sqlite3_free(file);
}

static void free_all(struct clr_connection *connection, void *attachment)
{
    struct databases *databases = attachment;

    clr_databases_free(connection);
    while (databases->files != NULL)
        forget_file(&databases->files);
}

static const struct clr_attachment_kind databases_kind = {sizeof(struct databases), free_all};

static int next_generation(const struct clr_connection *connection)
{
    struct databases *databases = clr_connection_find(connection, &databases_kind);

    return ++databases->generations;
}

/* Returns the version of the database's schema, or -1. */
static sqlite3_int64 read_schema_version(const struct clr_database *database)
{
    sqlite3_stmt *statement =
        prepare_text(database->connection->db,
                     sqlite3_mprintf("PRAGMA \"%w\".schema_version", database->schema));
    sqlite3_int64 version = -1;

    if (statement != NULL && sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return version;
}

struct clr_database *clr_database_get(struct clr_connection *connection, const char *schema)
{
    struct databases *databases = clr_connection_attach(connection, &databases_kind);
    struct clr_database *database = databases == NULL ? NULL : databases->first;

    if (databases == NULL)
        return NULL;
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
    database->is_main = sqlite3_stricmp(schema, "main") == 0;
    database->hold = prepare_text(
        connection->db,
        sqlite3_mprintf("SELECT (SELECT 1 FROM \"%w\".sqlite_master LIMIT 1)", schema));
    database->mode =
        prepare_text(connection->db, sqlite3_mprintf("PRAGMA \"%w\".journal_mode", schema));
    if (database->schema == NULL || database->hold == NULL || database->mode == NULL) {
        free_database(database);
        return NULL;
    }
    database->generation = database->file_generation = next_generation(connection);
    database->schema_version = -1;
    sqlite3_randomness(sizeof database->log.seed, &database->log.seed);
    database->next = databases->first;
    databases->first = database;
    /* Opens a write-ahead log, if there is one: then it shows. Within BEGIN the transaction would
       stay, and not be known to be of any snapshot. */
    if (sqlite3_get_autocommit(connection->db) != 0) {
        sqlite3_step(database->hold);
        database->schema_version = read_schema_version(database);
        sqlite3_reset(database->hold);
    }
    return database;
}

void clr_databases_free(struct clr_connection *connection)
{
    struct databases *databases = clr_connection_find(connection, &databases_kind);

    while (databases != NULL && databases->first != NULL) {
        struct clr_database *database = databases->first;
        databases->first = database->next;
        free_database(database);
    }
}

/*
 * Statements about the database may mean other things from now on. What expires them is much:
 * tables in temp, functions, databases that are attached. Nothing detaches main, and its schema has
 * a version: as long as that is the same, so is what its file's counters say.
 */
static void begin_generation(struct clr_database *database)
{
    const sqlite3_int64 version = read_schema_version(database);

    database->generation = next_generation(database->connection);
    if (!database->is_main || version < 0 || version != database->schema_version)
        database->file_generation = database->generation;
    database->schema_version = version;
    database->parallel = -1;
    /* Another database may be attached by the name, with the same data version. */
    if (!database->is_main)
        database->proved = false;
}

/* Forgets the files that the connection has open no more, and that of the schema. */
static void forget_files(struct databases *databases, const char *schema)
{
    struct own_file **link = &databases->files;

    while (*link != NULL) {
        if (clr_open_file_of((*link)->open, (*link)->handle) == NULL ||
            sqlite3_stricmp((*link)->schema, schema) == 0)
            forget_file(link);
        else
            link = &(*link)->next;
    }
}

/* Adds the handle of the database to the files that the connection has open. Returns it with a
   reference, or NULL. */
static struct clr_open_file *open_file(const struct clr_database *database, sqlite3_file *handle)
{
    const struct clr_connection *connection = database->connection;
    struct databases *databases = clr_connection_find(connection, &databases_kind);
    struct own_file *file = sqlite3_malloc(sizeof *file);

    if (file == NULL)
        return NULL;
    file->schema = sqlite3_mprintf("%s", database->schema);
    file->handle = handle;
    file->open =
        file->schema == NULL ? NULL : clr_open_file_find(connection->db, database->schema, handle);
    if (file->open == NULL) {
        sqlite3_free(file->schema);
        sqlite3_free(file);
        return NULL;
    }
    file->next = databases->files;
    databases->files = file;
    return clr_open_file_retain(file->open);
}

struct clr_known_file *clr_database_known(const struct clr_database *database)
{
    return clr_open_file_of(database->open, database->handle);
}

/* Where it can't be found out which file it is, it is tried again in another generation. */
struct clr_known_file *clr_database_find_known(struct clr_database *database, sqlite3_file *handle)
{
    struct clr_known_file *file = clr_open_file_of(database->open, handle);

    if (file != NULL || (database->open == NULL && database->handle == handle &&
                         database->handle_generation == database->generation))
        return file;
    forget_files(clr_connection_find(database->connection, &databases_kind), database->schema);
    clr_open_file_release(database->open);
    database->open = open_file(database, handle);
    database->handle = handle;
    database->handle_generation = database->generation;
    return clr_database_known(database);
}

bool clr_database_find_log(struct clr_database *database, struct clr_known_file *file,
                           sqlite3_file **log)
{
    if (sqlite3_file_control(database->connection->db, database->schema,
                             SQLITE_FCNTL_JOURNAL_POINTER, log) != SQLITE_OK ||
        *log == NULL || (*log)->pMethods == NULL)
        return false;
    if (file == NULL || clr_open_file_of(database->open_log, *log) == file)
        return true;
    /* What is known of the frames is true of another log, or of this one as it was before. */
    clr_wal_map_clear(&database->log);
    clr_open_file_release(database->open_log);
    database->open_log = clr_open_file_find_log(file, *log);
    return database->open_log != NULL;
}

const char *clr_database_schema_of(const struct clr_connection *connection,
                                   const struct clr_known_file *file)
{
    const struct databases *databases = clr_connection_find(connection, &databases_kind);
    const struct own_file *own = databases == NULL ? NULL : databases->files;

    while (own != NULL && clr_open_file_of(own->open, own->handle) != file)
        own = own->next;
    return own == NULL ? NULL : own->schema;
}

int clr_database_hold(struct clr_database *database, enum clr_reason_code *why)
{
    int rc = sqlite3_step(database->hold);

    *why = CLR_WHY_NONE;
    if (rc != SQLITE_ROW) {
        *why = CLR_WHY_NO_TRANSACTION;
        rc = sqlite3_reset(database->hold);
        if ((rc & 0xff) == SQLITE_BUSY)
            return rc;
        begin_generation(database); /* it may be detached */
        return SQLITE_OK;
    }
    if (sqlite3_stmt_status(database->hold, SQLITE_STMTSTATUS_REPREPARE, 1) > 0)
        begin_generation(database);
    else if (database->schema_version < 0)
        database->schema_version = read_schema_version(database);
    return SQLITE_OK;
}

void clr_database_release(struct clr_database *database)
{
    sqlite3_reset(database->hold);
}

bool clr_database_has_mode(struct clr_database *database, const char *mode)
{
    const char *found = NULL;
    bool same;

    if (sqlite3_step(database->mode) == SQLITE_ROW)
        found = (const char *)sqlite3_column_text(database->mode, 0);
    same = found != NULL && strcmp(found, mode) == 0;
    sqlite3_reset(database->mode);
    return same;
}

enum clr_reason_code clr_database_check_lock(const struct clr_database *database)
{
    int lock = -1;

    if (sqlite3_file_control(database->connection->db, database->schema, SQLITE_FCNTL_LOCKSTATE,
                             &lock) != SQLITE_OK)
        return CLR_WHY_NO_FILE;
    return lock > 1 ? CLR_WHY_FILE_LOCKED : CLR_WHY_NONE;
}

bool clr_database_shares_cache(const struct clr_database *database)
{
    sqlite3 *db = database->connection->db;
    int all = 0, share = 0, high;

    return sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED, &all, &high, 0) != SQLITE_OK ||
           sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED_SHARED, &share, &high, 0) !=
               SQLITE_OK ||
           share != all;
}

enum clr_reason_code clr_database_find_file(const struct clr_database *database,
                                            sqlite3_file **file)
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
    return clr_database_check_lock(database);
}
