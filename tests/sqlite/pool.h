/*
 * Connections of one process to the same files, with the same views: what the tests of columns that
 * they share have in common. An answer is right if it is that of the SELECT in the same
 * transaction.
 */
#ifndef CLR_TESTS_POOL_H
#define CLR_TESTS_POOL_H

#include "scratch.h"
#include "sqlite/database.h"

#include <unistd.h>

/* Of sums, a filter, groups by text, ranks, texts, and of rows; view i is named v0, v1 and so on.
 */
static const char *const pool_selects[] = {
    "SELECT gpu_sum(a), gpu_total(b), count(*), gpu_max(k) FROM t",
    "SELECT gpu_sum(a), max(b), avg(a) FROM t WHERE a > 40 AND c <> 'name 3'",
    "SELECT c, count(*), gpu_sum(a) FROM t GROUP BY c ORDER BY c",
    "SELECT gpu_median(b), gpu_count_distinct(c), gpu_max(c) FROM t",
    "SELECT k, a, c FROM t WHERE a % 50 = 7 ORDER BY k",
};

enum { POOL_VIEWS = sizeof pool_selects / sizeof pool_selects[0] };

enum pool_answer { POOL_SAME, POOL_OTHER, POOL_BUSY, POOL_INTERRUPTED, POOL_NOMEM };

static char pool_folder[SCRATCH_PATH];

/* Makes the folder of the files; pool_end() removes it. */
static inline void pool_begin(void)
{
    scratch_folder(pool_folder, "pool");
}

static inline void pool_end(void)
{
    scratch_remove(pool_folder);
}

/* Opens file number `number`, with the extension, if that was registered. more: as for
   database_open_at(). */
static inline sqlite3 *pool_open(int number, int more)
{
    char path[sizeof pool_folder + 20];

    snprintf(path, sizeof path, "%s/%d.db", pool_folder, number);
    return database_open_at(path, more, NULL);
}

/* Makes a file, with the table t. */
static inline void pool_make(int number, const char *mode, int rows)
{
    sqlite3 *db = pool_open(number, 0);

    database_run(db, "PRAGMA page_size = 1024; PRAGMA synchronous = OFF");
    database_run(db, "PRAGMA journal_mode = %s", mode);
    database_run(db, "CREATE TABLE t(k INTEGER PRIMARY KEY, a INT, b REAL, c TEXT)");
    database_run(db,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO t SELECT i, i %% 1000, i * 0.25, 'name ' || (i %% 7) FROM n",
                 rows);
    sqlite3_close(db);
}

/* Opens a file whose views scan, on the host, whatever their tables' size and whenever they are
   asked. */
static inline sqlite3 *pool_connect(int number, int more)
{
    sqlite3 *db = pool_open(number, more);

    sqlite3_busy_timeout(db, 2000);
    DATABASE_SET(db, "device", "host", "view_threshold", "0", "keep_answers", "off");
    return db;
}

/* Creates the views that are not there yet. Returns SQLite's result code. */
static inline int pool_create_views(sqlite3 *db)
{
    int rc = SQLITE_OK;

    for (int i = 0; i < POOL_VIEWS && rc == SQLITE_OK; i++) {
        char *sql = sqlite3_mprintf(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.v%d USING clreduce((%s))", i, pool_selects[i]);
        rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
    }
    return rc;
}

/* Sets milliseconds for which columns stay without a connection, where there is such a setting. */
static inline void pool_set_retention(sqlite3 *db, const char *milliseconds)
{
    database_run(db,
                 "SELECT clreduce_set(name, %Q) FROM clreduce_settings"
                 " WHERE name = 'column_retention'",
                 milliseconds);
}

/* Returns what an error is, and says what is no usual one; SQLite's message is in the text. */
static inline enum pool_answer pool_judge(int rc, const char *sql, const char *text)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
        return POOL_SAME;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return POOL_BUSY;
    case SQLITE_INTERRUPT:
        return POOL_INTERRUPTED;
    case SQLITE_NOMEM:
        return POOL_NOMEM;
    default:
        fprintf(stderr, "%s: result %d: %.200s\n", sql, rc, text);
        return POOL_OTHER;
    }
}

/* Runs SQL that others may be in the way of. */
static inline enum pool_answer pool_try(sqlite3 *db, const char *sql)
{
    const int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return pool_judge(rc, sql, sqlite3_errmsg(db));
}

/* Asks view i and runs its SELECT in the transaction that is open. */
static inline enum pool_answer pool_compare(sqlite3 *db, int i)
{
    char sql[32];
    char *got, *want = NULL;
    enum pool_answer answer;
    int rc;

    snprintf(sql, sizeof sql, "SELECT * FROM v%d", i);
    got = database_query_rc(db, sql, &rc);
    answer = pool_judge(rc, sql, got);
    if (answer == POOL_SAME) {
        want = database_query_rc(db, pool_selects[i], &rc);
        answer = pool_judge(rc, pool_selects[i], want);
    }
    if (answer == POOL_SAME && strcmp(got, want) != 0) {
        fprintf(stderr, "%s\n got: %.300s\nwant: %.300s\n", pool_selects[i], got, want);
        answer = POOL_OTHER;
    }
    free(got);
    free(want);
    return answer;
}

/* The same in a transaction of its own. */
static inline enum pool_answer pool_ask(sqlite3 *db, int i)
{
    enum pool_answer answer = pool_try(db, "BEGIN");

    if (answer == POOL_SAME)
        answer = pool_compare(db, i);
    if (!sqlite3_get_autocommit(db) && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return answer;
}

/* Returns whether all views of a connection are right now. */
static inline bool pool_all_right(sqlite3 *db)
{
    bool right = true;

    for (int i = 0; i < POOL_VIEWS; i++)
        right = pool_ask(db, i) == POOL_SAME && right;
    return right;
}

/* A number from 0 to below - 1; each thread has a state of its own, which is not 0. */
static inline int pool_random(uint64_t *state, int below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (int)((*state >> 33) % (uint64_t)below);
}

#endif
