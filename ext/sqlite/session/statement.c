#include "sqlite/session/statement.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

/* ---- Limits. */

enum { COUNT = sizeof(struct clr_limits) / sizeof(int) };

static const int numbers[COUNT] = {SQLITE_LIMIT_SQL_LENGTH,     SQLITE_LIMIT_COLUMN,
                                   SQLITE_LIMIT_EXPR_DEPTH,     SQLITE_LIMIT_COMPOUND_SELECT,
                                   SQLITE_LIMIT_VDBE_OP,        SQLITE_LIMIT_FUNCTION_ARG,
                                   SQLITE_LIMIT_VARIABLE_NUMBER};

struct clr_limits clr_limits_read(sqlite3 *db)
{
    struct clr_limits limits;
    int i;

    for (i = 0; i < COUNT; i++)
        limits.values[i] = sqlite3_limit(db, numbers[i], -1);
    return limits;
}

struct clr_limits clr_limits_set(sqlite3 *db, const struct clr_limits *limits)
{
    struct clr_limits before;
    int i;

    for (i = 0; i < COUNT; i++)
        before.values[i] =
            sqlite3_limit(db, numbers[i], limits == NULL ? INT_MAX : limits->values[i]);
    return before;
}

/* ---- Statements. */

int clr_statement_make(sqlite3 *db, const char *sql, unsigned flags, sqlite3_stmt **statement)
{
    const struct clr_limits limits = clr_limits_set(db, NULL);
    const int rc = sqlite3_prepare_v3(db, sql, -1, flags, statement, NULL);

    clr_limits_set(db, &limits);
    return rc;
}

int clr_statement_prepare(sqlite3 *db, sqlite3_stmt **statement, const char *format, ...)
{
    va_list arguments;
    char *sql;

    va_start(arguments, format);
    sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    return clr_statement_prepare_text(db, statement, sql);
}

int clr_statement_prepare_text(sqlite3 *db, sqlite3_stmt **statement, char *sql)
{
    int rc = SQLITE_NOMEM;

    *statement = NULL;
    if (sql != NULL)
        rc = clr_statement_make(db, sql, 0, statement);
    sqlite3_free(sql);
    return rc;
}

sqlite3_stmt *clr_next_writing(sqlite3 *db, sqlite3_stmt *statement)
{
    if (sqlite3_txn_state(db, NULL) != SQLITE_TXN_WRITE)
        return NULL;
    do {
        statement = sqlite3_next_stmt(db, statement);
    } while (statement != NULL &&
             (!sqlite3_stmt_busy(statement) || sqlite3_stmt_readonly(statement)));
    return statement;
}

/* The function is missing where deprecated ones are. */
bool clr_statement_is_outdated(sqlite3_stmt *statement)
{
    return sqlite3_api->expired == NULL || sqlite3_api->expired(statement) != 0;
}

int clr_statement_end(sqlite3_stmt *statement, int rc)
{
    const int ended = sqlite3_finalize(statement);

    return rc == SQLITE_OK ? ended : rc;
}

void clr_statement_refuse(sqlite3 *db, int rc, struct clr_reason *reason)
{
    const char *message =
        sqlite3_errcode(db) == SQLITE_OK ? sqlite3_errstr(rc) : sqlite3_errmsg(db);

    clr_reason_set_name(reason, CLR_WHY_SQLITE_ERROR, message, strlen(message));
}

/* ---- Interruption. */

bool clr_interruption_is_wanted(void *interruption)
{
    static const char text[] = "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c "
                               "WHERE i < 100) SELECT i FROM c WHERE i = 100";
    struct clr_interruption *asker = interruption;
    int rc = SQLITE_OK;

    if (asker->poll == NULL)
        rc = clr_statement_make(asker->db, text, SQLITE_PREPARE_PERSISTENT, &asker->poll);
    if (rc == SQLITE_OK) {
        rc = sqlite3_step(asker->poll);
        sqlite3_reset(asker->poll);
    }
    return rc == SQLITE_INTERRUPT;
}

void clr_interruption_end(struct clr_interruption *interruption)
{
    sqlite3_finalize(interruption->poll);
    interruption->poll = NULL;
}

/* ---- Names. */

int clr_names_add(struct clr_names *names, const char *name)
{
    char **list =
        sqlite3_realloc64(names->list, ((sqlite3_uint64)names->count + 1) * sizeof *names->list);

    if (list == NULL)
        return SQLITE_NOMEM;
    names->list = list;
    list[names->count] = name == NULL ? NULL : sqlite3_mprintf("%s", name);
    if (list[names->count] == NULL)
        return SQLITE_NOMEM;
    names->count++;
    return SQLITE_OK;
}

int clr_schema_names_read(sqlite3 *db, struct clr_names *names)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, "PRAGMA database_list");

    *names = (struct clr_names){.list = NULL};
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        rc = clr_names_add(names, (const char *)sqlite3_column_text(statement, 1));
    rc = clr_statement_end(statement, rc);
    if ((rc == SQLITE_OK && names->count == 0) || rc == SQLITE_AUTH) {
        rc = clr_names_add(names, "main");
        if (rc == SQLITE_OK)
            rc = clr_names_add(names, "temp");
    }
    if (rc != SQLITE_OK)
        clr_names_free(names);
    return rc;
}

void clr_names_free(struct clr_names *names)
{
    while (names->count > 0)
        sqlite3_free(names->list[--names->count]);
    sqlite3_free(names->list);
    names->list = NULL;
}

bool clr_temp_is_open(sqlite3 *db)
{
    sqlite3_vfs *vfs = NULL;

    return sqlite3_file_control(db, "temp", SQLITE_FCNTL_VFS_POINTER, &vfs) == SQLITE_OK;
}
