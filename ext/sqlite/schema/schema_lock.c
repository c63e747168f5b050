#include "sqlite/schema/schema_lock.h"

#include "query/syntax/blank.h"
#include "sqlite/database/snapshot.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"
#include "sqlite/session/virtual_table.h"

#include <string.h>

/* No schema can have a table whose name begins like this, and hide ours. */
#define TABLE_NAME "sqlite_clreduce_lock"

/* What xBestIndex is to do: of the connection, while a statement is prepared for it. */
struct work {
    int (*call)(void *argument);
    void *argument;
    struct clr_limits limits; /* that hold for it: the statement is prepared without */
    int rc;
    bool done;
};

struct schema_lock {
    struct clr_attachment attachment;
    struct work *work;
    int tables; /* made for it, beside the first */
};

static const struct clr_attachment_kind lock_kind = {sizeof(struct schema_lock), NULL};

static int connect(sqlite3 *db, void *connection, int count, const char *const *arguments,
                   sqlite3_vtab **result, char **error)
{
    (void)count;
    (void)arguments;
    (void)error;
    return clr_virtual_table_connect(db, "CREATE TABLE clreduce(lock)", connection, 0, result);
}

/* Without work there is no way to read the table: so it needs no cursors. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct clr_connection *connection = clr_virtual_table_argument(base);
    struct schema_lock *lock = clr_connection_find(connection, &lock_kind);
    struct work *work = lock == NULL ? NULL : lock->work;

    (void)info;
    if (work == NULL)
        return SQLITE_CONSTRAINT;
    lock->work = NULL; /* there may be other work within it, and so in turn */
    work->done = true;
    clr_limits_set(connection->db, &work->limits);
    work->rc = work->call(work->argument);
    clr_limits_set(connection->db, NULL);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = best_index,
    .xDisconnect = clr_virtual_table_disconnect,
};

static int register_as(struct clr_connection *connection, const char *name)
{
    return sqlite3_create_module_v2(connection->db, name, &module,
                                    clr_connection_retain(connection), clr_connection_release);
}

int clr_schema_lock_register(struct clr_connection *connection)
{
    return register_as(connection, TABLE_NAME);
}

bool clr_schema_may_go(sqlite3 *db)
{
    sqlite3_vfs *vfs = NULL;

    return sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs) == SQLITE_OK &&
           vfs != NULL && strcmp(vfs->zName, "memdb") == 0;
}

int clr_schema_lock_run(struct clr_connection *connection, int (*call)(void *argument),
                        void *argument)
{
    struct schema_lock *lock = clr_connection_attach(connection, &lock_kind);
    struct work work = {call, argument, clr_limits_read(connection->db), SQLITE_OK, false};
    const bool is_new = clr_schema_may_go(connection->db);
    char name[64], sql[96];
    sqlite3_stmt *statement = NULL;
    int rc = SQLITE_OK;

    if (lock == NULL)
        return SQLITE_NOMEM;
    sqlite3_snprintf(sizeof name, name, TABLE_NAME);
    /* A new name makes a new table, where a module that is registered anew would expire all
       statements. */
    if (is_new) {
        sqlite3_snprintf(sizeof name, name, TABLE_NAME "_%d", ++lock->tables);
        rc = register_as(connection, name);
    }
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_snprintf(sizeof sql, sql, "SELECT 1 FROM %s", name);
    lock->work = &work;
    rc = clr_statement_make(connection->db, sql, 0, &statement);
    lock->work = NULL;
    sqlite3_finalize(statement);
    if (work.done)
        return work.rc;
    return rc == SQLITE_OK ? SQLITE_ERROR : rc;
}

/* Begins read transactions, and has SQLite check schemas, as clr_schema_check() says. */
static int read_schemas(sqlite3 *db, const char *select, sqlite3_stmt **hold)
{
    const int first_attached = clr_temp_is_open(db) ? 2 : 1;
    sqlite3_str *text = sqlite3_str_new(NULL);
    struct clr_databases_read read;
    struct clr_names names;
    int rc = clr_schema_names_read(db, &names), needed = 0, i;

    *hold = NULL;
    if (rc == SQLITE_OK) {
        needed = names.count;
        /* The text is a SELECT, which may have parentheses around it and a comment at its end; or a
           statement that writes. */
        if (needed > first_attached &&
            (clr_bytecode_databases(db, &read, "SELECT * FROM (%s\n)", select) == SQLITE_OK ||
             clr_bytecode_databases(db, &read, "%s", select) == SQLITE_OK))
            needed = first_attached - 1 + read.last;
        if (needed < first_attached)
            needed = first_attached;
    }
    for (i = 0; i < needed && i < names.count; i++)
        sqlite3_str_appendf(text, "%s (SELECT 1 FROM \"%w\".sqlite_master LIMIT 1)",
                            i == 0 ? "SELECT" : ",", names.list[i]);
    if (rc == SQLITE_OK) {
        clr_names_free(&names);
        rc = clr_statement_prepare_text(db, hold, sqlite3_str_finish(text));
    } else {
        sqlite3_free(sqlite3_str_finish(text));
    }
    if (rc == SQLITE_OK && sqlite3_step(*hold) != SQLITE_ROW)
        rc = sqlite3_reset(*hold);
    rc &= 0xff;
    return rc == SQLITE_SCHEMA || rc == SQLITE_NOMEM || rc == SQLITE_BUSY ? rc : SQLITE_OK;
}

int clr_schema_check(struct clr_connection *connection, const char *select, sqlite3_stmt **hold)
{
    struct clr_database *database = clr_database_get(connection, "main");
    struct clr_snapshot snapshot;
    int rc;

    *hold = NULL;
    if (database != NULL && database->is_locked)
        return SQLITE_BUSY;
    if (database != NULL)
        clr_snapshot_lead(database, &snapshot);
    rc = read_schemas(connection->db, select, hold);
    if (database != NULL)
        clr_snapshot_end(database, &snapshot);
    return rc;
}

/* A check as work, and where it stores the statement. */
struct check {
    struct clr_connection *connection;
    const char *select;
    sqlite3_stmt **hold;
};

static int run_check(void *pointer)
{
    const struct check *check = pointer;

    return clr_schema_check(check->connection, check->select, check->hold);
}

/* Checks as work and, where a schema is stale, has SQLite read it anew, which takes the views
   along. Returns what the check has; SQLITE_OK if it could not be made, but for a lock. */
static int renew(struct clr_connection *connection, const char *select, sqlite3_stmt **hold)
{
    struct check check = {connection, select, hold};
    int rc;

    *hold = NULL;
    rc = clr_schema_lock_run(connection, run_check, &check);
    if (rc != SQLITE_SCHEMA)
        return rc == SQLITE_NOMEM || rc == SQLITE_BUSY ? rc : SQLITE_OK;
    sqlite3_finalize(*hold);
    rc = read_schemas(connection->db, select, hold);
    return rc == SQLITE_OK ? SQLITE_SCHEMA : rc;
}

int clr_schema_renew(struct clr_connection *connection, const char *select, sqlite3_stmt **hold)
{
    const int rc = renew(connection, select, hold);

    return rc == SQLITE_SCHEMA ? SQLITE_OK : rc;
}

/* Whether a CREATE runs. */
static bool is_creating(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;

    while ((statement = clr_next_writing(db, statement)) != NULL) {
        const char *sql = sqlite3_sql(statement);
        if (sql != NULL && sqlite3_strnicmp(clr_blank_skip(sql), "CREATE", 6) == 0)
            return true;
    }
    return false;
}

int clr_schema_settle(struct clr_connection *connection, const char *select, bool has_columns,
                      sqlite3_stmt **hold)
{
    int rc = SQLITE_OK;

    *hold = NULL;
    if (!has_columns || is_creating(connection->db))
        rc = renew(connection, select, hold);
    return rc == SQLITE_BUSY ? SQLITE_OK : rc;
}
