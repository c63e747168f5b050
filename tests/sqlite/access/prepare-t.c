/*
 * clreduce_prepare_v2(): what it prepares has the parameters, columns and rows of the SELECT,
 * accelerated where that is possible; all else is what sqlite3_prepare_v2() prepares.
 */
#include "base/memory.h"
#include "scratch.h"
#include "sqlite/database.h"
#include "sqlite/nomem.h"

#include <unistd.h>

enum { ROWS = 2000, MANY = 80 };

static char path[SCRATCH_PATH];

static sqlite3 *open_file(void)
{
    sqlite3 *db = database_open_file(path);

    database_set(db, "view_threshold", "0");
    return db;
}

static void fill(void)
{
    sqlite3 *db;

    unlink(path);
    db = open_file();
    database_run(db, "CREATE TABLE t(k INTEGER PRIMARY KEY, i INT, r REAL, s)");
    database_run(db,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO t SELECT i, i %% 97, i * 0.125, 'text ' || i %% 7 FROM n",
                 ROWS);
    sqlite3_close(db);
}

/* Whether a statement reads an accelerated view. */
static bool is_ours(sqlite3_stmt *statement)
{
    return statement != NULL && strstr(sqlite3_sql(statement), "clreduce_view_") != NULL;
}

/* Appends parameters, columns and rows, of values that are bound by number. */
static void describe(sqlite3_stmt *statement, struct database_text *text)
{
    const int parameters = sqlite3_bind_parameter_count(statement);
    int i;

    database_append(text, "", 0);
    for (i = 1; i <= parameters; i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        database_append(text, name == NULL ? "-" : name, name == NULL ? 1 : strlen(name));
        database_append(text, " ", 1);
    }
    for (i = 0; i < sqlite3_column_count(statement); i++) {
        const char *name = sqlite3_column_name(statement, i);
        database_append(text, name, strlen(name));
        database_append(text, "|", 1);
    }
    for (int run = 0; run < 3; run++) {
        for (i = 1; i <= parameters && run > 0; i++)
            sqlite3_bind_int(statement, i, 5 * i + run);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            for (i = 0; i < sqlite3_column_count(statement); i++) {
                database_append(text, " ", 1);
                database_append_value(text, statement, i);
            }
            database_append(text, "\n", 1);
        }
        i = sqlite3_reset(statement);
        if (i != SQLITE_OK)
            database_append(text, "error", 5);
    }
}

static const struct {
    const char *sql;
    bool ours;
} selects[] = {
    {"SELECT gpu_sum(r) AS total, count(*), max(i) FROM t WHERE i < 50", true},
    {"SELECT gpu_sum(r) AS \"a \"\"b\", gpu_sum(r) AS \"a \"\"b\", gpu_avg(i) AS \"\" FROM t",
     true},
    {"SELECT gpu_sum(r), :b, ? FROM t WHERE i > :b AND i < ?7 + $c AND k > @d AND k > :b;", true},
    {"SELECT count(*) FROM t WHERE i > ?003 LIMIT ?", true},
    {" /* ; */ SELECT count(*) AS x FROM t -- ; ", true},
    {"SELECT ?2 + count(*) FROM main.t WHERE s LIKE 'text%'", true},
    {"SELECT i, r FROM t WHERE k = ?", false},
    {"SELECT count(*) FROM t AS a, t AS b WHERE a.k = b.k AND a.i > :x", true},
    {"SELECT count(*) FROM t AS a, t AS b WHERE a.k = b.k + b.i AND a.i > :x", true},
    {"SELECT count(*) FROM t AS a, t AS b WHERE a.i = b.k + b.i AND a.i > :x", false},
    {"WITH a AS (SELECT 7 AS n) SELECT n + ? FROM a", false},
    {"VALUES (1), (?)", false},
    {"EXPLAIN SELECT count(*) FROM t", false},
    {"PRAGMA application_id", false},
    {"DELETE FROM t WHERE (SELECT gpu_sum(i) FROM t) = 0.5 RETURNING k", false},
    {"  ", false},
    {"", false},
};

static void test_selects(void)
{
    sqlite3 *db = open_file();

    TAP_EACH (i, selects) {
        struct database_text got = {NULL, 0, 0}, want = {NULL, 0, 0};
        sqlite3_stmt *ours = NULL, *plain = NULL;
        const char *our_tail = NULL, *plain_tail = NULL;
        int our_rc = clreduce_prepare_v2(db, selects[i].sql, -1, &ours, &our_tail);
        int plain_rc = sqlite3_prepare_v2(db, selects[i].sql, -1, &plain, &plain_tail);
        bool expected = is_ours(ours) == selects[i].ours;

        tap_ok(our_rc == plain_rc && our_tail == plain_tail && expected &&
                   (ours == NULL) == (plain == NULL),
               "%s prepared: %s", selects[i].ours ? "accelerated" : "plainly", selects[i].sql);
        if (plain != NULL && strncmp(selects[i].sql, "EXPLAIN", 7) != 0) {
            describe(ours, &got);
            describe(plain, &want);
            if (!tap_ok(strcmp(got.text, want.text) == 0, "parameters, columns, rows: %s",
                        selects[i].sql))
                tap_diag(" got: %s\nwant: %s", got.text, want.text);
            tap_ok(sqlite3_stmt_readonly(ours) == sqlite3_stmt_readonly(plain), "it writes or not");
        }
        sqlite3_finalize(ours);
        sqlite3_finalize(plain);
        free(got.text);
        free(want.text);
    }
    tap_ok(database_stat(db, "scans_on_host") > 5, "views were scanned");
    tap_ok(sqlite3_close(db) == SQLITE_OK, "the connection can be closed");
}

/* Where the text ends, and what follows. */
static void test_text(void)
{
    static const char text[] = "SELECT count(*) FROM t; SELECT gpu_sum(i) FROM t;\n"
                               "CREATE TEMP TABLE n(x);INSERT INTO n SELECT count(*) FROM t;"
                               " SELECT sum(x) FROM n; -- end";
    static const int ours[] = {1, 1, 0, 1, 1};
    sqlite3 *db = open_file();
    const char *at = text, *tail;
    sqlite3_stmt *statement, *other;

    for (int i = 0; i < 5; i++) {
        const int rc = clreduce_prepare_v2(db, at, -1, &statement, &tail);
        tap_ok(rc == SQLITE_OK && is_ours(statement) == ours[i], "statement %d: %.30s", i + 1, at);
        sqlite3_step(statement);
        if (i == 4)
            tap_ok(sqlite3_column_int(statement, 0) == ROWS, "the last one has its row");
        sqlite3_finalize(statement);
        at = tail;
    }
    tap_ok(clreduce_prepare_v2(db, at, -1, &statement, &tail) == SQLITE_OK && statement == NULL &&
               *tail == '\0',
           "then comes the end");
    tap_ok(clreduce_prepare_v2(db, "SELECT count(*) FROM t WHERE i > 7", 22, &statement, NULL) ==
                   SQLITE_OK &&
               sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == ROWS,
           "so many bytes, and nobody asks for the tail");
    sqlite3_finalize(statement);
    tap_ok(clreduce_prepare_v2(db, "SELECT count(*) FROM nosuch", -1, &statement, NULL) ==
                   SQLITE_ERROR &&
               statement == NULL && strcmp(sqlite3_errmsg(db), "no such table: nosuch") == 0,
           "an error is SQLite's");
    clreduce_prepare_v2(db, "SELECT count(*) FROM t, t AS u", -1, &statement, NULL);
    tap_ok(sqlite3_errcode(db) == SQLITE_OK, "there is no error where a SELECT is not accelerated");
    sqlite3_finalize(statement);
    clreduce_prepare_v2(db, "SELECT count(*) FROM t", -1, &statement, NULL);
    clreduce_prepare_v2(db, "SELECT  count(*) FROM t  ;", -1, &other, NULL);
    sqlite3_finalize(other);
    clreduce_prepare_v2(db, "\n SELECT count(*) FROM t  ;", -1, &other, NULL);
    tap_ok(strcmp(sqlite3_sql(statement), sqlite3_sql(other)) == 0, "one SELECT has one view");
    sqlite3_finalize(statement);
    sqlite3_finalize(other);
    sqlite3_close(db);
}

/* Prepares the count of the rows. Returns whether it is right, and accelerated or not. */
static bool counts(sqlite3 *db, const char *sql, int rows, bool ours)
{
    sqlite3_stmt *statement = NULL;
    bool right = clreduce_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
                 sqlite3_errcode(db) == SQLITE_OK && is_ours(statement) == ours &&
                 sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == rows;

    if (!right)
        tap_diag("%s: %s", statement == NULL ? "NULL" : sqlite3_sql(statement), sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    return right;
}

/* A SELECT that can't be accelerated leaves other statements as they are: a kept one is not
   prepared anew. */
static void test_kept(void)
{
    static const char *const refused[] = {
        "SELECT count(*) FROM clreduce_settings",
        "SELECT max(name) FROM clreduce_settings WHERE value > 5",
        "SELECT max(n) FROM (SELECT count(*) AS n FROM clreduce_settings GROUP BY name)"};
    sqlite3 *db = open_file();
    sqlite3_stmt *kept, *statement;

    database_run(db, "CREATE TABLE IF NOT EXISTS u(n)");
    sqlite3_prepare_v2(db, "INSERT INTO u VALUES (1)", -1, &kept, NULL);
    TAP_EACH (i, refused) {
        clreduce_prepare_v2(db, refused[i], -1, &statement, NULL);
        tap_ok(!is_ours(statement), "refused: %s", refused[i]);
        sqlite3_finalize(statement);
        tap_ok(sqlite3_step(kept) == SQLITE_DONE && sqlite3_reset(kept) == SQLITE_OK &&
                   sqlite3_stmt_status(kept, SQLITE_STMTSTATUS_REPREPARE, 0) == 0,
               "the kept statement was prepared once");
    }
    sqlite3_finalize(kept);
    sqlite3_close(db);
}

static void test_places(void)
{
    static const char first[] = "SELECT count(*) FROM t", second[] = "SELECT count(r) FROM t";
    sqlite3 *db = open_file(), *bare;
    sqlite3_stmt *statement = NULL, *insert = NULL;

    tap_ok(counts(db, first, ROWS, true), "at first");
    database_run(db, "INSERT INTO t(k) VALUES (100000); DELETE FROM t WHERE k = 100000");
    sqlite3_changes(db);
    tap_ok(counts(db, "SELECT count(i) FROM t", ROWS, true) && sqlite3_changes(db) == 1 &&
               sqlite3_last_insert_rowid(db) == 100000,
           "what the application has changed last is what it was");
    database_run(db, "BEGIN");
    tap_ok(counts(db, first, ROWS, true), "in a transaction, a view from before");
    tap_ok(counts(db, second, ROWS, true), "and one that is made in it");
    clreduce_prepare_v2(db, first, -1, &statement, NULL);
    database_run(db, "INSERT INTO t(i) VALUES (1)");
    tap_ok(sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == ROWS + 1,
           "what the transaction has written is there");
    sqlite3_reset(statement);
    database_run(db, "ROLLBACK");
    tap_ok(sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) == ROWS,
           "the statement outlives it");
    sqlite3_finalize(statement);
    sqlite3_prepare_v2(db, "UPDATE t SET i = i WHERE k = 1 RETURNING k", -1, &insert, NULL);
    sqlite3_step(insert);
    tap_ok(counts(db, "SELECT count(k) FROM t", ROWS, false), "while a statement writes");
    sqlite3_finalize(insert);
    database_run(db, "PRAGMA query_only = 1");
    tap_ok(counts(db, "SELECT count(k) FROM t", ROWS, true), "query_only");
    database_run(db, "PRAGMA query_only = 0; CREATE TEMP TABLE t(i, r)");
    tap_ok(counts(db, first, 0, true), "a name means what it means now");
    sqlite3_close(db);
    sqlite3_reset_auto_extension();
    sqlite3_open(path, &bare);
    tap_ok(counts(bare, first, ROWS, false), "a connection without the extension");
    sqlite3_close(bare);
    database_register();
}

static int count_views(sqlite3 *db)
{
    return (int)database_number(
        db, "SELECT count(*) FROM pragma_module_list WHERE name LIKE 'clreduce_view_%'");
}

/* Statements keep their views, and other connections change the schema. */
static void test_many(void)
{
    sqlite3 *db = open_file(), *other = open_file();
    sqlite3_stmt *statements[MANY];
    char sql[100];
    int good = 0;

    for (int i = 0; i < MANY; i++) {
        snprintf(sql, sizeof sql, "SELECT count(*) + %d + ? FROM t", i);
        clreduce_prepare_v2(db, sql, -1, &statements[i], NULL);
    }
    for (int round = 0; round < 3; round++) {
        database_run(other, "CREATE TABLE o%d(x)", round);
        for (int i = 0; i < MANY; i++) {
            sqlite3_bind_int(statements[i], 1, 7);
            good += is_ours(statements[i]) && sqlite3_step(statements[i]) == SQLITE_ROW &&
                    sqlite3_column_int(statements[i], 0) == ROWS + i + 7;
            sqlite3_reset(statements[i]);
        }
    }
    tap_ok(good == 3 * MANY, "%d of %d statements at a time", good, 3 * MANY);
    tap_ok(count_views(db) == MANY, "each has its view");
    for (int i = 0; i < MANY; i++)
        sqlite3_finalize(statements[i]);
    counts(db, "SELECT count(*) FROM t WHERE i > -5", ROWS, true);
    tap_ok(count_views(db) == 32, "a few are left: %d", count_views(db));
    tap_ok(counts(other, "SELECT count(*) FROM t", ROWS, true) && count_views(other) == 1,
           "each connection has its own");
    for (int i = 0; i < 3; i++)
        database_run(other, "DROP TABLE o%d", i);
    sqlite3_close(other);
    tap_ok(sqlite3_close(db) == SQLITE_OK, "the connection can be closed");
}

/* Each allocation fails once. The statement is right then, or the error is SQLITE_NOMEM. */
static void test_nomem(int (*fail_after)(long), const char *whose, int most)
{
    long told = 0, plain = 0, cases = 0;
    bool failed = true;

    for (long after = 0; failed; after += random_between(1, most)) {
        const sqlite3_int64 before = sqlite3_memory_used();
        sqlite3 *db = open_file();
        sqlite3_stmt *statement = NULL;
        int rc;

        fail_after(after);
        rc = clreduce_prepare_v2(db, "SELECT gpu_sum(i) AS s FROM t WHERE i < :a", -1, &statement,
                                 NULL);
        failed = fail_after(-1);
        cases++;
        told += rc == SQLITE_NOMEM;
        plain += rc == SQLITE_OK && !is_ours(statement);
        if (rc == SQLITE_OK) {
            sqlite3_bind_int(statement, 1, 3);
            if (sqlite3_step(statement) != SQLITE_ROW ||
                strcmp(sqlite3_column_name(statement, 0), "s") != 0 ||
                sqlite3_column_int(statement, 0) != 63)
                tap_ok(false, "allocation %ld: %s", after, sqlite3_errmsg(db));
        } else if (rc != SQLITE_NOMEM || statement != NULL) {
            tap_ok(false, "allocation %ld: result %d", after, rc);
        }
        sqlite3_finalize(statement);
        if (!counts(db, "SELECT count(*) FROM t", ROWS, true))
            tap_ok(false, "allocation %ld: views are no longer made", after);
        if (sqlite3_close(db) != SQLITE_OK)
            tap_ok(false, "allocation %ld: the connection is still in use", after);
        if (sqlite3_memory_used() != before)
            tap_ok(false, "allocation %ld: memory is left over", after);
    }
    tap_ok(cases > 1 && plain > 0,
           "%ld allocations of %s: %ld statements not accelerated, %ld errors", cases, whose, plain,
           told);
}

/* Counts how often SQLite would wait for a lock, and waits not at all. */
static int count_wait(void *waits, int attempt)
{
    (void)attempt;
    ++*(int *)waits;
    return 0;
}

/* Calls clreduce_rewrite(). Returns SQLite's result code; stores whether there is a text. */
static int rewrite(sqlite3 *db, const char *sql, bool *rewritten)
{
    sqlite3_stmt *statement;
    int rc = sqlite3_prepare_v2(db, "SELECT clreduce_rewrite(?)", -1, &statement, NULL);

    *rewritten = false;
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 1, sql, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *rewritten = sqlite3_column_type(statement, 0) != SQLITE_NULL;
    return sqlite3_finalize(statement);
}

/* Statements for which another connection may have main for itself: whether they read it, and
   whether they are accelerated. */
static const struct {
    const char *sql;
    bool reads_main, ours;
} of_locked[] = {
    {"SELECT gpu_sum(i) FROM t", true, true},
    {"SELECT gpu_sum(i) AS other FROM t WHERE i < 40", true, true},
    {"SELECT max(i) FROM (SELECT i, count(*) FROM t GROUP BY i)", true, true},
    {"SELECT a.i, (SELECT max(b.r) FROM t AS b WHERE b.i = a.i) FROM t AS a", true, false},
    {"INSERT INTO temp.few SELECT count(*) FROM t", true, true},
    {"SELECT gpu_sum(i) FROM attached.u", false, true},
    {"SELECT gpu_sum(i) FROM t, attached.u USING (i)", true, false},
    {"SELECT count(*) FROM temp.few WHERE i > 5", false, true},
    {"SELECT max(column1) FROM (VALUES (1), (2))", false, false},
};

/* Who waits for a lock waits once, as SQLite does, and not again for each look at the schema. */
static void test_locked(void)
{
    sqlite3 *db = open_file(), *other = open_file();
    sqlite3_stmt *known;
    bool rewritten;
    int waits = 0, rc;

    database_run(db, "CREATE TEMP TABLE few(i); ATTACH ':memory:' AS attached");
    database_run(db, "CREATE TABLE attached.u AS SELECT i FROM t");
    clreduce_prepare_v2(db, of_locked[0].sql, -1, &known, NULL);
    tap_ok(is_ours(known) && sqlite3_step(known) == SQLITE_ROW, "a statement that is known");
    sqlite3_reset(known);
    sqlite3_busy_handler(db, count_wait, &waits);
    database_run(other, "BEGIN EXCLUSIVE");
    rc = sqlite3_step(known);
    tap_ok(rc == SQLITE_BUSY && waits == 1, "locked: its result is %d after %d waits", rc, waits);
    sqlite3_reset(known);
    TAP_EACH (i, of_locked) {
        const bool fails = of_locked[i].reads_main;
        sqlite3_stmt *statement;

        waits = 0;
        rc = rewrite(db, of_locked[i].sql, &rewritten);
        tap_ok(rc == (fails ? SQLITE_BUSY : SQLITE_OK) && !rewritten && waits <= 1,
               "%s: clreduce_rewrite() has %d after %d waits", of_locked[i].sql, rc, waits);
        tap_ok(!fails || strcmp(sqlite3_errmsg(db), "database is locked") == 0,
               "and the message is '%s'", sqlite3_errmsg(db));
        waits = 0;
        rc = clreduce_prepare_v2(db, of_locked[i].sql, -1, &statement, NULL);
        tap_ok(rc == SQLITE_OK && !is_ours(statement) && waits <= 1,
               "clreduce_prepare_v2() has %d after %d waits", rc, waits);
        sqlite3_finalize(statement);
    }
    database_run(other, "COMMIT");
    TAP_EACH (i, of_locked) {
        rc = rewrite(db, of_locked[i].sql, &rewritten);
        tap_ok(rc == SQLITE_OK && rewritten == of_locked[i].ours, "without the lock: %s",
               of_locked[i].sql);
    }
    /* In a transaction main has a snapshot from when a statement reads it, and not before. */
    TAP_EACH (i, of_locked) {
        database_run(db, "BEGIN");
        rc = rewrite(db, of_locked[i].sql, &rewritten);
        tap_ok(rc == SQLITE_OK && (of_locked[i].reads_main || sqlite3_txn_state(db, "main") == 0),
               "in a transaction: %s", of_locked[i].sql);
        database_run(db, "COMMIT");
    }
    database_run(db, "BEGIN");
    rewrite(db, "SELECT gpu_sum(nosuch) FROM t", &rewritten);
    tap_ok(sqlite3_txn_state(db, "main") == 0, "nor by what is no statement");
    database_run(db, "COMMIT");
    sqlite3_finalize(known);
    sqlite3_close(other);
    tap_ok(sqlite3_close(db) == SQLITE_OK, "the connection can be closed");
    /* Nor is it kept open by what made no view. */
    TAP_EACH (i, selects) {
        db = open_file();
        rc = rewrite(db, selects[i].sql, &rewritten);
        tap_ok(rc == SQLITE_OK && sqlite3_close(db) == SQLITE_OK, "and after '%s'", selects[i].sql);
    }
}

TAP_TEST(all_tests)
{
    nomem_replace_malloc();
    database_register();
    scratch_file(path, "prepare");
    fill();
    test_selects();
    test_text();
    test_kept();
    test_places();
    test_many();
    test_locked();
    test_nomem(clr_memory_fail_after, "the extension", tap_is_quick() ? 3 : 1);
    test_nomem(nomem_sqlite_fail_after, "SQLite", tap_is_quick() ? 30 : 4);
    unlink(path);
}
