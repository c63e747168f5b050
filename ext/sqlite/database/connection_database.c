#include "sqlite/database/connection_database.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/system.h"
#include "sqlite/session/statement.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* ---- Files. */

/* All under the lock. The pin is used without it as well, by those who see to it that the file
   stays open, or after they have seen that it is closed. */
struct clr_known_file {
    struct clr_known_file *next;
    uint64_t identity[4]; /* zeros: no handle is of it any more, nor will one be */
    intptr_t pin;         /* keeps that from others; CLR_NO_PIN: not any more */
    int references;
    int handles, logs; /* by which it, and its log, is open */
    int64_t closed;    /* since when there are no handles */
    int64_t log_closings;
    int64_t doubts; /* how often there were none so soon after a change that another may not show */
};

/* Under the lock, and in the list, as long as SQLite has it open. */
struct clr_open_file {
    struct clr_open_file *next;
    sqlite3_file *handle;
    const sqlite3_io_methods *methods; /* its own */
    struct clr_known_file *file;       /* with a reference */
    int references;                    /* the list's, and others */
    bool is_log;
    bool is_held; /* it counts: it was opened by this process, not by its parent before fork() */
};

/* The methods that handles have here in place of others. */
struct methods {
    const sqlite3_io_methods *instead_of; /* NULL: not used yet */
    sqlite3_io_methods methods;
};

/* SQLite's VFS has some for files with locks, and some for logs. */
enum { MOST_METHODS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clr_known_file *files;
static struct clr_open_file *handles;
static struct methods replaced[MOST_METHODS];
static void (*on_close)(struct clr_known_file *file);
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* Whether the latest change is long enough ago that another one would show in the state: the
   system's clock for these times has ticked since. */
static bool is_settled(const struct clr_known_file *file)
{
    enum { TICK_NS = 100000000 };
    struct clr_file_facts facts;

    return clr_file_facts_of_pin(file->pin, &facts) && clr_file_now() - facts.changed_ns > TICK_NS;
}

/* Takes note that the file, or its log, is not open by that handle any more. Returns whether it is
   by none. */
static bool locked_let_go(struct clr_open_file *open)
{
    struct clr_known_file *file = open->file;

    if (!open->is_held)
        return false;
    open->is_held = false;
    if (open->is_log) {
        file->log_closings += --file->logs == 0;
        return false;
    }
    if (--file->handles > 0)
        return false;
    file->closed = clr_clock_ns();
    file->doubts += !is_settled(file);
    if (!clr_file_pins_stay) {
        clr_file_unpin(file->pin);
        file->pin = CLR_NO_PIN;
        memset(file->identity, 0, sizeof file->identity);
    }
    return true;
}

/* A child after fork() finds the lists whole. Its parent's connections have no locks in it, and the
   parent may close them. */
static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

static void begin_child(void)
{
    struct clr_open_file *open;

    for (open = handles; open != NULL; open = open->next)
        locked_let_go(open);
    pthread_mutex_unlock(&lock);
}

static void prepare(void)
{
    pthread_atfork(take_lock, give_lock, begin_child);
}

/* Sees that a child after fork() finds the files as they were. */
static void heed_forks(void)
{
    pthread_once(&prepared, prepare);
}

void clr_known_file_notify(void (*closed)(struct clr_known_file *file))
{
    heed_forks();
    pthread_mutex_lock(&lock);
    on_close = closed;
    pthread_mutex_unlock(&lock);
}

/* Whether SQLite's own VFS has opened the file, with locks, and as one that may change. */
static bool is_locked_by_sqlite(sqlite3 *db, const char *schema, const char *name)
{
    sqlite3_vfs *vfs = NULL;

    return sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs) == SQLITE_OK &&
           vfs != NULL &&
           (strcmp(vfs->zName, "unix") == 0 || strcmp(vfs->zName, "win32") == 0 ||
            strcmp(vfs->zName, "win32-longpath") == 0) &&
           !sqlite3_uri_boolean(name, "nolock", 0) && !sqlite3_uri_boolean(name, "immutable", 0);
}

/* Returns the system's own handle of the file, which SQLite's VFS for Windows tells; else NULL. */
static void *system_handle(sqlite3_file *handle)
{
    void *own = NULL;

    return handle->pMethods->xFileControl(handle, SQLITE_FCNTL_WIN32_GET_HANDLE, &own) == SQLITE_OK
               ? own
               : NULL;
}

/* Whether the handle, and the name before and after that is asked, are of the pinned file. */
static bool is_pinned(sqlite3_file *handle, const char *name, const struct clr_file_facts *pinned)
{
    struct clr_file_facts named;
    int has_moved = 1;

    return handle->pMethods->xFileControl(handle, SQLITE_FCNTL_HAS_MOVED, &has_moved) ==
               SQLITE_OK &&
           has_moved == 0 && clr_file_facts_of(name, &named) &&
           memcmp(named.identity, pinned->identity, sizeof named.identity) == 0;
}

/* Returns the file that the pin is of, or makes it, with the pin as its own, which *pin is then not
   any more. It gets no reference. NULL without memory. */
static struct clr_known_file *locked_find_file(const struct clr_file_facts *pinned, intptr_t *pin)
{
    struct clr_known_file *file = files;

    while (file != NULL && memcmp(file->identity, pinned->identity, sizeof file->identity) != 0)
        file = file->next;
    if (file != NULL)
        return file;
    file = clr_memory_alloc_zero(sizeof *file);
    if (file == NULL)
        return NULL;
    memcpy(file->identity, pinned->identity, sizeof file->identity);
    file->pin = *pin;
    *pin = CLR_NO_PIN;
    file->next = files;
    files = file;
    return file;
}

/* Drops a reference. Returns the file if that was the last one: it is to be freed without the lock.
 */
static struct clr_known_file *locked_release(struct clr_known_file *file)
{
    if (--file->references > 0)
        return NULL;
    CLR_UNLINK(files, file);
    return file;
}

static void free_file(struct clr_known_file *file)
{
    if (file == NULL)
        return;
    if (file->pin != CLR_NO_PIN)
        clr_file_unpin(file->pin);
    clr_memory_free(file);
}

static struct clr_open_file *locked_find_handle(const sqlite3_file *handle)
{
    struct clr_open_file *open = handles;

    while (open != NULL && open->handle != handle)
        open = open->next;
    return open;
}

static void release_open_file(struct clr_open_file *open)
{
    struct clr_known_file *unused = NULL;
    bool is_last;

    if (open == NULL)
        return;
    pthread_mutex_lock(&lock);
    is_last = --open->references == 0;
    if (is_last)
        unused = locked_release(open->file);
    pthread_mutex_unlock(&lock);
    free_file(unused);
    if (is_last)
        clr_memory_free(open);
}

/* In the place of a handle's own xClose. */
static int close_handle(sqlite3_file *handle)
{
    void (*closed)(struct clr_known_file * file) = NULL;
    const sqlite3_io_methods *methods;
    struct clr_open_file *open;

    pthread_mutex_lock(&lock);
    open = locked_find_handle(handle);
    CLR_UNLINK(handles, open);
    methods = open->methods;
    if (locked_let_go(open))
        closed = on_close;
    pthread_mutex_unlock(&lock);
    if (closed != NULL)
        closed(open->file);
    release_open_file(open);
    handle->pMethods = methods;
    return methods->xClose(handle);
}

/* Returns the methods that take the place of these, or NULL. */
static const sqlite3_io_methods *locked_replace(const sqlite3_io_methods *methods)
{
    struct methods *known = replaced;

    while (known < replaced + MOST_METHODS && known->instead_of != NULL &&
           known->instead_of != methods)
        known++;
    if (known == replaced + MOST_METHODS)
        return NULL;
    if (known->instead_of == NULL) {
        /* An older version has fewer of them, and a later one none that SQLite must have. */
        memcpy(&known->methods, methods,
               methods->iVersion >= 3   ? sizeof *methods
               : methods->iVersion == 2 ? offsetof(sqlite3_io_methods, xFetch)
                                        : offsetof(sqlite3_io_methods, xShmMap));
        known->methods.xClose = close_handle;
        if (methods->iVersion > 3)
            known->methods.iVersion = 3;
        known->instead_of = methods;
    }
    return &known->methods;
}

/* Adds a handle to the list. Returns NULL without memory, or if its methods are too many. */
static struct clr_open_file *locked_add(sqlite3_file *handle, bool is_log)
{
    const sqlite3_io_methods *methods = locked_replace(handle->pMethods);
    struct clr_open_file *open = methods == NULL ? NULL : clr_memory_alloc_zero(sizeof *open);

    if (open == NULL)
        return NULL;
    open->handle = handle;
    open->methods = handle->pMethods;
    open->references = 1;
    open->is_log = is_log;
    open->next = handles;
    handles = open;
    handle->pMethods = methods;
    return open;
}

/* Returns the handle as one of the file, with a reference, or NULL. */
static struct clr_open_file *locked_open(struct clr_known_file *file, sqlite3_file *handle,
                                         bool is_log)
{
    struct clr_open_file *open = locked_find_handle(handle);

    if (open == NULL)
        open = locked_add(handle, is_log);
    if (open == NULL)
        return NULL;
    open->references++;
    if (open->file == NULL) {
        file->references++;
        open->file = file;
    }
    if (!open->is_held) {
        open->is_held = true;
        file->logs += is_log;
        file->handles += !is_log;
        file->closed = is_log ? file->closed : 0;
    }
    return open;
}

/*
 * Returns the handle of a connection's database, whose file is known from now on, with a reference;
 * NULL if it can't be proved which file it is, or without memory. Any thread that may use the
 * connection may call this and what follows.
 */
static struct clr_open_file *find_open_file(sqlite3 *db, const char *schema, sqlite3_file *handle)
{
    const char *name = sqlite3_db_filename(db, schema);
    struct clr_open_file *open = NULL;
    struct clr_known_file *file, *unused = NULL;
    struct clr_file_facts pinned;
    void *own;
    intptr_t pin;

    if (name == NULL || *name == '\0' || !is_locked_by_sqlite(db, schema, name))
        return NULL;
    own = system_handle(handle);
    pin = clr_file_pin(name, own);
    if (pin == CLR_NO_PIN)
        return NULL;
    if (clr_file_facts_of_pin(pin, &pinned) && (own != NULL || is_pinned(handle, name, &pinned))) {
        heed_forks();
        pthread_mutex_lock(&lock);
        file = locked_find_file(&pinned, &pin);
        if (file != NULL) {
            file->references++;
            open = locked_open(file, handle, false);
            unused = locked_release(file);
        }
        pthread_mutex_unlock(&lock);
        free_file(unused);
    }
    if (pin != CLR_NO_PIN)
        clr_file_unpin(pin);
    return open;
}

/* The same, of the handle of a known file's log. */
static struct clr_open_file *find_open_log(struct clr_known_file *file, sqlite3_file *log)
{
    struct clr_open_file *open;

    pthread_mutex_lock(&lock);
    open = locked_open(file, log, true);
    pthread_mutex_unlock(&lock);
    return open;
}

/* Returns the file that the handle is of, if it is this one, and SQLite has had it open since it
   was found; else NULL. So it is for open == NULL, and in a child after fork() for the handles of
   its parent's connections, which hold no locks there. */
static struct clr_known_file *file_of(const struct clr_open_file *open, const sqlite3_file *handle)
{
    struct clr_known_file *file = NULL;

    if (open == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    if (open->is_held && open->handle == handle)
        file = open->file;
    pthread_mutex_unlock(&lock);
    return file;
}

struct clr_known_file *clr_known_file_retain(struct clr_known_file *file)
{
    pthread_mutex_lock(&lock);
    file->references++;
    pthread_mutex_unlock(&lock);
    return file;
}

void clr_known_file_release(struct clr_known_file *file)
{
    struct clr_known_file *unused;

    if (file == NULL)
        return;
    pthread_mutex_lock(&lock);
    unused = locked_release(file);
    pthread_mutex_unlock(&lock);
    free_file(unused);
}

static int64_t read_number(const int64_t *number)
{
    int64_t value;

    pthread_mutex_lock(&lock);
    value = *number;
    pthread_mutex_unlock(&lock);
    return value;
}

int64_t clr_known_file_log_closings(const struct clr_known_file *file)
{
    return read_number(&file->log_closings);
}

int64_t clr_known_file_closed(const struct clr_known_file *file)
{
    return read_number(&file->closed);
}

void clr_known_file_state(const struct clr_known_file *file,
                          unsigned char state[CLR_FILE_STATE_SIZE])
{
    struct clr_file_facts now;
    int64_t numbers[CLR_FILE_STATE_SIZE / 8] = {0};

    if (clr_file_facts_of_pin(file->pin, &now)) {
        numbers[0] = now.size;
        numbers[1] = now.written_ns;
        numbers[2] = now.changed_ns;
        numbers[3] = read_number(&file->doubts);
    }
    memcpy(state, numbers, CLR_FILE_STATE_SIZE);
}

bool clr_known_file_is_lost(const struct clr_known_file *file)
{
    struct clr_file_facts now;

    return file->pin == CLR_NO_PIN || (clr_file_facts_of_pin(file->pin, &now) && now.links == 0);
}

/* ---- Databases. */

/* Finalizes the statements of a database, and forgets all that was found out by them but which file
   it is. */
static void rest(struct clr_database *database)
{
    sqlite3_finalize(database->hold);
    sqlite3_finalize(database->mode);
    database->hold = database->mode = NULL;
    release_open_file(database->open_log);
    database->open_log = NULL;
    clr_wal_map_free(&database->log);
    database->proved = database->is_locked = false;
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

/* The databases of a connection, whose statements are finalized when its last view goes. */
struct databases {
    struct clr_attachment attachment;
    struct clr_database *first;
    int generations; /* given out so far */
};

static void free_all(struct clr_connection *connection, void *attachment)
{
    struct databases *databases = attachment;
    struct clr_database *database;

    (void)connection;
    while ((database = databases->first) != NULL) {
        databases->first = database->next;
        rest(database);
        release_open_file(database->open);
        sqlite3_free(database->schema);
        sqlite3_free(database);
    }
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
    sqlite3_stmt *statement;
    sqlite3_int64 version = -1;

    clr_statement_prepare(database->connection->db, &statement, "PRAGMA \"%w\".schema_version",
                          database->schema);
    if (statement != NULL && sqlite3_step(statement) == SQLITE_ROW)
        version = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return version;
}

/* Returns the connection's record of a database, which is made if there is none; NULL without
   memory. */
static struct clr_database *find_database(struct clr_connection *connection, const char *schema)
{
    struct databases *databases = clr_connection_attach(connection, &databases_kind);
    struct clr_database *database = databases == NULL ? NULL : databases->first;

    while (database != NULL && sqlite3_stricmp(database->schema, schema) != 0)
        database = database->next;
    if (database != NULL || databases == NULL)
        return database;
    database = clr_sqlite_alloc_zero(sizeof *database);
    if (database == NULL)
        return NULL;
    database->connection = connection;
    database->schema = sqlite3_mprintf("%s", schema);
    if (database->schema == NULL) {
        sqlite3_free(database);
        return NULL;
    }
    database->is_main = sqlite3_stricmp(schema, "main") == 0;
    sqlite3_randomness(sizeof database->log.seed, &database->log.seed);
    database->next = databases->first;
    databases->first = database;
    return database;
}

struct clr_database *clr_database_get(struct clr_connection *connection, const char *schema)
{
    struct clr_database *database = find_database(connection, schema);

    if (database == NULL || (database->hold != NULL && !database->is_locked))
        return database;
    rest(database);
    database->hold = prepare_text(
        connection->db,
        sqlite3_mprintf("SELECT (SELECT 1 FROM \"%w\".sqlite_master LIMIT 1)", schema));
    database->mode =
        prepare_text(connection->db, sqlite3_mprintf("PRAGMA \"%w\".journal_mode", schema));
    if (database->hold == NULL || database->mode == NULL) {
        rest(database);
        return NULL;
    }
    database->generation = database->file_generation = next_generation(connection);
    database->parallel = -1;
    database->schema_version = -1;
    /* Opens a write-ahead log, if there is one: then it shows. Within BEGIN the transaction would
       stay, and not be known to be of any snapshot. */
    if (sqlite3_get_autocommit(connection->db) != 0) {
        if (sqlite3_step(database->hold) == SQLITE_ROW)
            database->schema_version = read_schema_version(database);
        database->is_locked = (sqlite3_reset(database->hold) & 0xff) == SQLITE_BUSY;
    }
    return database;
}

void clr_databases_rest(struct clr_connection *connection)
{
    const struct databases *databases = clr_connection_find(connection, &databases_kind);
    struct clr_database *database = databases == NULL ? NULL : databases->first;

    for (; database != NULL; database = database->next)
        rest(database);
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

/* Returns the file that the database was when that was found out last, if it is open by the same
   handle since; else NULL. */
static struct clr_known_file *known_file(const struct clr_database *database)
{
    return file_of(database->open, database->handle);
}

/* Forgets the files that the connection has open no more. */
static void forget_closed(const struct clr_connection *connection)
{
    const struct databases *databases = clr_connection_find(connection, &databases_kind);
    struct clr_database *database;

    for (database = databases->first; database != NULL; database = database->next) {
        if (known_file(database) != NULL)
            continue;
        release_open_file(database->open);
        database->open = NULL;
    }
}

/* Where it can't be found out which file it is, it is tried again in another generation. */
struct clr_known_file *clr_database_find_known(struct clr_database *database, sqlite3_file *handle)
{
    const struct clr_connection *connection = database->connection;
    struct clr_known_file *file = file_of(database->open, handle);

    if (file != NULL || (database->open == NULL && database->handle == handle &&
                         database->handle_generation == database->generation))
        return file;
    release_open_file(database->open);
    database->open = find_open_file(connection->db, database->schema, handle);
    database->handle = handle;
    database->handle_generation = database->generation;
    forget_closed(connection);
    return known_file(database);
}

bool clr_database_find_log(struct clr_database *database, struct clr_known_file *file,
                           sqlite3_file **log)
{
    if (sqlite3_file_control(database->connection->db, database->schema,
                             SQLITE_FCNTL_JOURNAL_POINTER, log) != SQLITE_OK ||
        *log == NULL || (*log)->pMethods == NULL)
        return false;
    if (file == NULL || file_of(database->open_log, *log) == file)
        return true;
    /* What is known of the frames is true of another log, or of this one as it was before. */
    clr_wal_map_clear(&database->log);
    release_open_file(database->open_log);
    database->open_log = find_open_log(file, *log);
    return database->open_log != NULL;
}

const char *clr_database_schema_of(const struct clr_connection *connection,
                                   const struct clr_known_file *file)
{
    const struct databases *databases = clr_connection_find(connection, &databases_kind);
    const struct clr_database *database = databases == NULL ? NULL : databases->first;

    while (database != NULL && known_file(database) != file)
        database = database->next;
    return database == NULL ? NULL : database->schema;
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

bool clr_database_shares_cache(const struct clr_database *database)
{
    sqlite3 *db = database->connection->db;
    int all = 0, share = 0, high;

    return sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED, &all, &high, 0) != SQLITE_OK ||
           sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_USED_SHARED, &share, &high, 0) !=
               SQLITE_OK ||
           share != all;
}
