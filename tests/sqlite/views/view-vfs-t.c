/*
 * Accelerated views of a database whose VFS does not say what it is: one that answers no
 * SQLITE_FCNTL_LOCKSTATE. Its pages are left alone, and SQLite fills the columns.
 */
#include "scratch.h"
#include "sqlite/database.h"

#include <unistd.h>

enum { ROWS = 500 };

static sqlite3_vfs silent;                /* as the default one, but for xOpen */
static sqlite3_io_methods silent_methods; /* as the file's own, but for xFileControl */
static int (*open_file)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
static int (*control_file)(sqlite3_file *, int, void *);

static int control_silently(sqlite3_file *file, int what, void *argument)
{
    return what == SQLITE_FCNTL_LOCKSTATE ? SQLITE_NOTFOUND : control_file(file, what, argument);
}

static int open_silently(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                         int *given)
{
    int rc = open_file(vfs, name, file, flags, given);

    if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0) {
        silent_methods = *file->pMethods;
        control_file = silent_methods.xFileControl;
        silent_methods.xFileControl = control_silently;
        file->pMethods = &silent_methods;
    }
    return rc;
}

static void register_silent(void)
{
    silent = *sqlite3_vfs_find(NULL);
    open_file = silent.xOpen;
    silent.zName = "silent";
    silent.xOpen = open_silently;
    sqlite3_vfs_register(&silent, 0);
}

/* Stores the first line of the view's plan. */
static void get_plan(sqlite3 *db, char *line, size_t size)
{
    sqlite3_stmt *query = NULL;

    if (sqlite3_prepare_v2(db, "SELECT line FROM clreduce_plan('v')", -1, &query, NULL) !=
            SQLITE_OK ||
        sqlite3_step(query) != SQLITE_ROW)
        tap_bail("no plan: %s", sqlite3_errmsg(db));
    snprintf(line, size, "%s", (const char *)sqlite3_column_text(query, 0));
    sqlite3_finalize(query);
}

static void check(sqlite3 *db, const char *begin, const char *what)
{
    static const char select[] = "SELECT gpu_sum(a), gpu_sum(a * b), count(*) FROM t";
    char verdict[200];

    tap_ok(database_agrees(db, "SELECT * FROM v", select), "%s: the rows of the SELECT", what);
    get_plan(db, verdict, sizeof verdict);
    tap_ok(strncmp(verdict, begin, strlen(begin)) == 0, "%s: %s", what, verdict);
}

static void test(const char *path, const char *mode)
{
    const char *later = "row by row: the database is not a file of the operating system; "
                        "will be kept when asked again";
    sqlite3 *db = database_open_at(path, 0, "silent"), *other = database_open_at(path, 0, NULL);
    char what[80];

    DATABASE_SET(db, "device", "host", "view_threshold", "0", "keep_answers", "off");
    database_run(db, "PRAGMA journal_mode = %s", mode);
    database_run(db, "DROP TABLE IF EXISTS t; CREATE TABLE t(a INT, b REAL)");
    database_run(db,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO t SELECT i, i * 0.25 FROM n",
                 ROWS);
    database_run(db, "CREATE VIRTUAL TABLE temp.v USING clreduce("
                     "(SELECT gpu_sum(a), gpu_sum(a * b), count(*) FROM t))");
    snprintf(what, sizeof what, "%s, at first", mode);
    check(db, later, what);
    snprintf(what, sizeof what, "%s, asked again", mode);
    check(db, "accelerated: host", what);
    check(db, "accelerated: host", what);
    tap_ok(database_stat(db, "rows_loaded") == ROWS, "%s: filled once", mode);
    database_run(other, "UPDATE t SET b = b + 1 WHERE a = 7");
    snprintf(what, sizeof what, "%s, after another connection's change", mode);
    check(db, later, what);
    check(db, "accelerated: host", what);
    sqlite3_close(other);
    tap_ok(sqlite3_close(db) == SQLITE_OK, "%s: closed", mode);
}

TAP_TEST(all_tests)
{
    char path[SCRATCH_PATH];

    database_register();
    register_silent();
    scratch_file(path, "vfs");
    test(path, "DELETE");
    test(path, "WAL");
    unlink(path);
}
