/*
 * The gate: which statements it lets through, what it remembers of them, and that the accelerated
 * statement gives the plain one's rows.
 */
#include "scratch.h"
#include "sqlite/access/gate.h"
#include "sqlite/database.h"
#include "sqlite/nomem.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 260000 };

static char path[SCRATCH_PATH];
static const struct clreduce_gate *gate;

static void fill(void)
{
    sqlite3 *db;

    unlink(path);
    db = database_open_file(path);
    database_run(db, "CREATE TABLE large(k INTEGER PRIMARY KEY, i INT, s);"
                     "CREATE INDEX by_i ON large(i); CREATE TABLE small AS SELECT 1 AS k, 2 AS i");
    database_run(db,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO large SELECT i, i %% 9973, 'text ' || (i %% 7) FROM n",
                 ROWS);
    sqlite3_close(db);
}

/* A statement and what watches it, and which of the two the last run was of. */
struct watched {
    sqlite3_stmt *plain;
    struct clreduce_watched *watched;
    int quiet; /* so many of the next runs are */
    struct clreduce_quiet_runs ended;
    bool timed; /* the last run */
};

static const struct clreduce_quiet_runs none;

static struct watched prepare(sqlite3 *db, const char *sql)
{
    struct watched result = {
        database_prepare(db, sql), malloc(gate->watched_bytes), 0, {0, 0}, true};

    TAP_NEED(result.watched != NULL, "memory");
    if (!gate->watch(result.watched, result.plain, 1)) {
        free(result.watched);
        result.watched = NULL;
    }
    return result;
}

static void finalize(struct watched *of)
{
    if (of->watched != NULL)
        gate->unwatch(of->watched, of->ended);
    free(of->watched);
    sqlite3_finalize(of->plain);
}

static void close_watched(sqlite3 *db, const char *name)
{
    gate->closing(db);
    tap_ok(sqlite3_close(db) == SQLITE_OK, "%s", name);
}

/* A progress handler: the rows that were walked are said to have taken 100 nanoseconds each. */
static int look(void *watched)
{
    const struct watched *of = watched;
    sqlite3 *db = sqlite3_db_handle(of->plain);
    const int walked = sqlite3_stmt_status(of->plain, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);

    sqlite3_progress_handler(db, 0, NULL, NULL);
    return gate->stops(of->watched, (sqlite3_int64)walked * 100);
}

/* Begins a run, and stops that of the plain statement if the gate says so. Returns the companion,
   or NULL, and what the first step of the one that runs gave. */
static sqlite3_stmt *begin(struct watched *of, int *rc)
{
    sqlite3 *db = sqlite3_db_handle(of->plain);
    sqlite3_int64 patience = 0;
    sqlite3_stmt *companion = NULL;

    if (of->watched != NULL && of->quiet == 0) {
        companion = gate->begin(of->watched, of->ended, &patience, &of->quiet);
        of->ended = none;
    }
    of->timed = of->quiet == 0;
    if (companion == NULL) {
        if (patience > 0)
            sqlite3_progress_handler(db, 10000, look, of);
        *rc = sqlite3_step(of->plain);
        sqlite3_progress_handler(db, 0, NULL, NULL);
        if (*rc != SQLITE_INTERRUPT)
            return NULL;
        sqlite3_reset(of->plain);
        companion = gate->begin(of->watched, none, &patience, &of->quiet);
    }
    *rc = sqlite3_step(companion == NULL ? of->plain : companion);
    return companion;
}

/* Runs it once, which is said to take so long. Returns the sum of its integers; was_accelerated
   says how it ran. */
static sqlite3_int64 run(struct watched *of, sqlite3_int64 nanoseconds, bool *was_accelerated)
{
    int rc, steps, i;
    sqlite3_stmt *companion = begin(of, &rc);
    sqlite3_stmt *statement = companion == NULL ? of->plain : companion;
    sqlite3_int64 sum = 0;

    for (; rc == SQLITE_ROW; rc = sqlite3_step(statement)) {
        for (i = 0; i < sqlite3_column_count(statement); i++)
            sum += sqlite3_column_int64(statement, i);
    }
    sqlite3_reset(statement);
    steps = sqlite3_stmt_status(of->plain, SQLITE_STMTSTATUS_VM_STEP, true);
    if (of->quiet > 0) {
        of->ended = (struct clreduce_quiet_runs){of->ended.count + 1, steps};
        of->quiet = steps < CLREDUCE_FEW_STEPS ? of->quiet - 1 : 0;
    } else if (of->watched != NULL) {
        gate->end(of->watched, companion != NULL, nanoseconds, true);
    }
    *was_accelerated = companion != NULL;
    return sum;
}

/* Prepares and runs a SELECT. Returns whether the sum was that, and the way was that. */
static bool gives(sqlite3 *db, const char *sql, sqlite3_int64 want, bool accelerated,
                  sqlite3_int64 nanoseconds)
{
    struct watched of = prepare(db, sql);
    bool was_accelerated;
    sqlite3_int64 sum = run(&of, nanoseconds, &was_accelerated);

    finalize(&of);
    if (sum != want || was_accelerated != accelerated)
        tap_diag("%s: %lld, %s", sql, (long long)sum, was_accelerated ? "accelerated" : "plain");
    return sum == want && was_accelerated == accelerated;
}

static void test_texts(void)
{
    static const struct {
        const char *sql;
        bool is_watched;
    } texts[] = {
        {"SELECT count(*) FROM large", true},
        {" -- a comment\n/* and */ select k from large where i = 5", true},
        {"WITH a AS (SELECT k FROM large) SELECT * FROM a", true},
        {"SELECT DISTINCT i FROM large", true},
        {"SELECT k FROM large LIMIT 3", false},
        {"SELECT k FROM large ORDER BY i", false},
        {"SELECT k FROM large ORDER BY i LIMIT 3", true},
        {"SELECT k, 'where (' FROM large", false},
        {"INSERT INTO small SELECT count(*), 1 FROM large", true},
        {"WITH a AS (SELECT 1) DELETE FROM small WHERE k IN (SELECT * FROM a)", true},
        {"CREATE TEMP TABLE a AS SELECT DISTINCT i FROM large", true},
        {"INSERT INTO small SELECT 1, 1", false},
        {"INSERT INTO small VALUES (1, abs(2))", false},
        {"DELETE FROM small WHERE k IN (1, 2)", false},
        {"UPDATE small SET k = (SELECT max(k) FROM large) RETURNING k", false},
        {"CREATE TABLE a(i CHECK (i > 1))", false},
        {"EXPLAIN SELECT count(*) FROM large", true},
        {"explain query plan SELECT count(*) FROM large", true},
        {"EXPLAIN SELECT k FROM large", false},
        {"EXPLAIN DELETE FROM large WHERE k = 1", false},
        {"EXPLAIN DELETE FROM small WHERE k > (SELECT avg(k) FROM large)", true},
        {"PRAGMA table_info(large)", false},
        {"VALUES (1)", false},
        {"SELECT last_insert_rowid(), 'from'", false},
    };
    sqlite3 *db = database_open_file(path);
    struct watched of;

    TAP_EACH (i, texts) {
        of = prepare(db, texts[i].sql);
        tap_ok((of.watched != NULL) == texts[i].is_watched, "%s: %s",
               texts[i].is_watched ? "watched" : "not watched", texts[i].sql);
        finalize(&of);
    }
    close_watched(db, "the connection can be closed");
}

static const sqlite3_int64 sum_of_keys = (sqlite3_int64)ROWS * (ROWS + 1) / 2;

/* counted(x) is x. */
static void count(sqlite3_context *context, int number, sqlite3_value **values)
{
    (void)number;
    ++*(int *)sqlite3_user_data(context);
    sqlite3_result_value(context, values[0]);
}

/* How SQLite finds the rows of statements that are new. */
static void test_scans(void)
{
    static const struct {
        const char *sql;
        sqlite3_int64 sum;
        bool is_scan;
    } selects[] = {
        {"SELECT sum(k) FROM large WHERE i = 0", 3500523, false},
        {"SELECT sum(k) FROM large WHERE s <> 'where' AND I = 0", 3500523, false},
        {"SELECT sum(k) FROM large WHERE rowid BETWEEN 5 AND 6", 11, false},
        {"SELECT sum(k) + 0 FROM large WHERE \"i\" = 0", 3500523, false},
        {"SELECT max(k) FROM large", ROWS, false},
        {"SELECT min(i), max(i) FROM large", 9972, true},
        {"SELECT sum(large.k) FROM nosuch JOIN large ON nosuch.k = large.k", 1, false},
        {"SELECT sum(counted(k)) FROM large", sum_of_keys, false},
        {"SELECT count(s), max(s) FROM large", ROWS, true},
        {"SELECT sum(k) FROM large WHERE s <> 'i = 0'", sum_of_keys, true},
        {"SELECT sum(k) FROM \"large\" WHERE s <> 'group by'", sum_of_keys, true},
        {"SELECT s, sum(k) FROM large AS i WHERE s <> 'x' GROUP BY s", sum_of_keys, true},
        {"SELECT sum(k) FROM large AS i GROUP BY i ORDER BY 1", sum_of_keys, true},
        {"SELECT sum(k), count(*) FROM view_of_view WHERE s <> 'view'", sum_of_keys + ROWS, true},
        {"SELECT sum(k), (SELECT n FROM keyed WHERE keyed.k = i) FROM large GROUP BY i ORDER BY 1",
         sum_of_keys + 5, true},
        {"WITH a AS (SELECT * FROM large) SELECT sum(k), count(s) FROM a", sum_of_keys + ROWS,
         true},
        {"SELECT sum(k) FROM keyed WHERE k IN (SELECT i FROM large)", 3, false},
        {"SELECT count(*) FROM view_of_few", 7, false},
        /* Rows that are given before the end are not taken back. */
        {"SELECT sum(k) FROM large AS i GROUP BY i ORDER BY i", sum_of_keys, false},
    };
    sqlite3 *db = database_open_file(path);
    int calls = 0;

    database_run(db, "CREATE TEMP TABLE nosuch AS SELECT 1 AS k;"
                     "CREATE TABLE keyed(k INTEGER PRIMARY KEY, n INT);"
                     "INSERT INTO keyed VALUES(3, 5);"
                     "CREATE VIEW a_view AS SELECT k, s FROM large WHERE s <> 'x';"
                     "CREATE VIEW view_of_view(k, s) AS SELECT k, s FROM A_VIEW;"
                     "CREATE VIEW view_of_few AS SELECT * FROM large WHERE k BETWEEN 3 AND 9");
    sqlite3_create_function(db, "counted", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, &calls, count,
                            NULL, NULL);
    TAP_EACH (i, selects)
        tap_ok(gives(db, selects[i].sql, selects[i].sum, selects[i].is_scan, 2000), "%s: %s",
               selects[i].is_scan ? "a scan" : "no scan", selects[i].sql);
    tap_ok(calls == ROWS, "a function of the application's is called once for each row: %d", calls);
    close_watched(db, "the connection can be closed");
}

/* A statement that is accelerated stays so amid a transaction that another one has begun. */
static void test_log(void)
{
    static const char sql[] = "SELECT sum(k), count(s) FROM large WHERE s <> 'a'";
    sqlite3 *db = database_open_file(path), *writer;

    database_run(db, "PRAGMA journal_mode = WAL");
    tap_ok(gives(db, sql, sum_of_keys + ROWS, true, 1000000), "with a write-ahead log");
    writer = database_open_file(path);
    database_run(writer, "UPDATE small SET k = 1");
    sqlite3_close(writer);
    database_run(db, "BEGIN; SELECT * FROM small");
    tap_ok(gives(db, sql, sum_of_keys + ROWS, true, 9000000), "amid a transaction");
    database_run(db, "COMMIT");
    tap_ok(gives(db, sql, sum_of_keys + ROWS, true, 1000000), "and after it");
    gate->closing(db);
    database_run(db, "PRAGMA journal_mode = DELETE");
    tap_ok(sqlite3_close(db) == SQLITE_OK, "the connection can be closed");
}

/* Many statements, and more than are remembered. */
static void test_memories(void)
{
    sqlite3 *db = database_open_file(path);
    bool right = true;
    char sql[80];
    int i, turn;

    for (turn = 0; turn < 3; turn++) {
        for (i = 0; i < 700; i++) {
            sqlite3_snprintf(sizeof sql, sql, "SELECT sum(i) AS a%d FROM small", i);
            right &= gives(db, sql, 2, turn == 2, turn == 2 ? 1000 : 5000000);
        }
    }
    tap_ok(right, "seven hundred statements, each of which is known the third time");
    for (i = 0, right = true; i < 9000; i++) {
        sqlite3_snprintf(sizeof sql, sql, "SELECT sum(i) AS b%d FROM small", i);
        right &= gives(db, sql, 2, false, 1000);
    }
    tap_ok(right && gives(db, sql, 2, false, 5000000) && gives(db, sql, 2, false, 5000000) &&
               gives(db, sql, 2, true, 1000),
           "thousands more, of which the last is known");
    close_watched(db, "the connection can be closed");
}

static void test_ways(void)
{
    sqlite3 *db = database_open_file(path), *other;

    tap_ok(gives(db, "SELECT sum(k) FROM large", sum_of_keys, true, 1000000), "a large table");
    tap_ok(gives(db, "SELECT sum(k) FROM large", sum_of_keys, true, 1000000), "and again");
    tap_ok(gives(db, "SELECT k AS once FROM large WHERE k = 17", 17, false, 20000000), "once");
    tap_ok(gives(db, "SELECT k FROM large WHERE k = 17", 17, false, 2000), "one row by its key");
    tap_ok(gives(db, "SELECT k FROM large WHERE k = 18", 18, false, 2000), "and another");
    tap_ok(gives(db, "SELECT sum(i) FROM small", 2, false, 2000), "a small table");
    other = database_open_file(path);
    tap_ok(gives(other, "SELECT sum(k) FROM large", sum_of_keys, true, 1000000),
           "another connection knows it");
    close_watched(other, "and can be closed");
    database_run(db, "BEGIN; INSERT INTO small VALUES (3, 4)");
    tap_ok(gives(db, "SELECT sum(k) FROM large", sum_of_keys, false, 9000000),
           "while a transaction writes");
    database_run(db, "ROLLBACK");
    database_set(db, "view_threshold", "0");
    tap_ok(gives(db, "SELECT sum(i) FROM small", 2, true, 2000), "everything, for tests");
    close_watched(db, "the connection can be closed");
}

/* What the application's own runs take decides. */
static void test_times(void)
{
    static const char slow[] = "SELECT count(DISTINCT i) FROM large";
    sqlite3 *db = database_open_file(path);
    bool right = true;
    int i;

    tap_ok(gives(db, "SELECT sum(i) + 1 FROM small", 3, false, 5000000), "it was slow, once");
    tap_ok(gives(db, "SELECT sum(i) + 1 FROM small", 3, false, 5000000), "and twice");
    tap_ok(gives(db, "SELECT sum(i) + 1 FROM small", 3, true, 1000),
           "so that another way is tried");
    tap_ok(gives(db, "SELECT sum(i) + 1 FROM small", 3, false, 1000),
           "which SQLite went itself, as the table is small");
    for (i = 0; i < 4; i++)
        right &= gives(db, slow, 9973, true, 900000000);
    tap_ok(right, "a slow way is tried");
    tap_ok(gives(db, slow, 9973, false, 1000000), "then the plain one");
    tap_ok(gives(db, slow, 9973, true, 900000000), "and the slow one");
    tap_ok(gives(db, slow, 9973, false, 1000000), "which is given up");
    tap_ok(gives(db, slow, 9973, false, 1000000), "for a while");
    close_watched(db, "the connection can be closed");
}

/* The companion has the bindings, and is known. */
static void test_companion(void)
{
    sqlite3 *db = database_open_file(path);
    struct watched of = prepare(db, "SELECT sum(k), count(*) FROM large WHERE k <= :most");
    struct watched second = prepare(db, "SELECT sum(k), count(*) FROM large WHERE k <= :most");
    sqlite3_stmt *companion = NULL, *another = NULL;
    sqlite3_int64 patience;

    database_set(db, "view_threshold", "0");
    companion = gate->begin(of.watched, none, &patience, &of.quiet);
    another = gate->begin(second.watched, none, &patience, &second.quiet);
    tap_ok(companion != NULL && another != NULL && companion != another, "each has its own");
    sqlite3_bind_int(companion, 1, 10);
    tap_ok(sqlite3_step(companion) == SQLITE_ROW && sqlite3_column_int(companion, 0) == 55 &&
               sqlite3_column_int(companion, 1) == 10,
           "parameters");
    tap_ok(strcmp(sqlite3_column_name(companion, 0), "sum(k)") == 0, "names");
    sqlite3_reset(companion);
    gate->failed(of.watched);
    tap_ok(gate->begin(second.watched, none, &patience, &second.quiet) != NULL,
           "one that failed is nobody else's loss");
    finalize(&of);
    finalize(&second);
    tap_ok(sqlite3_next_stmt(db, NULL) != NULL, "it waits for the next of the same text");
    close_watched(db, "until the connection is closed");
}

/* What SQLite runs once, to see whether it comes again, is no reason to refuse a statement. */
static void test_postponed(void)
{
    static const char sql[] = "SELECT count(*) FROM large WHERE i || s LIKE '%text 3'";
    sqlite3 *db = database_open_file(path);
    bool right = true;
    int i;

    for (i = 0; i < 3; i++)
        right &= gives(db, sql, (ROWS - 3) / 7 + 1, true, 1000000);
    tap_ok(right, "a derived column is made in the second run");
    tap_ok(database_stat(db, "selects_by_rows") == 1, "and serves the third one");
    close_watched(db, "the connection can be closed");
}

static int allow(void *unused, int action, const char *a, const char *b, const char *c,
                 const char *d)
{
    (void)unused;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return action < 0 ? SQLITE_DENY : SQLITE_OK;
}

/* Of a quick statement few runs are timed, and one that comes after a longer one is. */
static void test_timed(void)
{
    sqlite3 *db = database_open_file(path);
    struct watched of = prepare(db, "SELECT sum(k) FROM large WHERE ?1 AND s <> ''");
    bool was_accelerated, all = true;
    int i, timed = 0;

    for (i = 0; i < 33; i++) {
        sqlite3_bind_int(of.plain, 1, false);
        all &= run(&of, 1000, &was_accelerated) == 0 && !was_accelerated;
        timed += of.timed;
    }
    tap_ok(all && timed == 6, "of 33 runs of a quick statement six are timed: %d", timed);
    sqlite3_bind_int(of.plain, 1, true);
    run(&of, 20000000, &was_accelerated);
    run(&of, 20000000, &was_accelerated);
    tap_ok(of.timed && !was_accelerated, "that after one of many steps is timed");
    run(&of, 1000, &was_accelerated);
    tap_ok(was_accelerated, "and the next one is accelerated");
    finalize(&of);
    close_watched(db, "the connection can be closed");
}

/* A parameter may outdate a statement, which stays what it is to the application. */
static void test_outdated(void)
{
    sqlite3 *db = database_open_file(path);
    struct watched of = prepare(db, "SELECT count(*) FROM large WHERE s LIKE ?1");
    bool was_accelerated[5];
    int i;

    for (i = 0; i < 5; i++) {
        sqlite3_bind_text(of.plain, 1, "text 3%", -1, SQLITE_STATIC);
        if (i == 2)
            sqlite3_set_authorizer(db, allow, NULL);
        run(&of, 1000000, &was_accelerated[i]);
    }
    tap_ok(was_accelerated[0] && was_accelerated[1], "a parameter of LIKE");
    tap_ok(!was_accelerated[2] && was_accelerated[3] && was_accelerated[4],
           "what outdates all statements has SQLite prepare the plain one");
    finalize(&of);
    close_watched(db, "the connection can be closed");
}

/* Without memory SQLite runs the statement, and nothing is left that keeps the connection. */
static void test_nomem(void)
{
    bool happened = true, closed = true;
    int i;

    for (i = 0; happened && closed; i++) {
        sqlite3 *db = database_open_file(path);
        struct watched of = prepare(db, "SELECT sum(i) FROM small");
        sqlite3_int64 patience;

        database_set(db, "view_threshold", "0");
        nomem_sqlite_fail_after(i);
        gate->begin(of.watched, none, &patience, &of.quiet);
        happened = nomem_sqlite_fail_after(-1);
        finalize(&of);
        gate->closing(db);
        closed = sqlite3_close(db) == SQLITE_OK;
    }
    tap_ok(closed && i > 100, "of %d allocations each may fail", i);
}

/* What was learned of a statement of which SELECTs are accelerated by themselves is not kept. */
static void test_freed(void)
{
    sqlite3_int64 used = 0;
    bool right = true;
    int i;

    for (i = 0; i < 3; i++) {
        sqlite3 *db = database_open_file(path);

        database_set(db, "view_threshold", "0");
        right &= gives(db, "SELECT max(n) FROM (SELECT i, count(*) AS n FROM small GROUP BY i)", 1,
                       true, 1000);
        gate->closing(db);
        sqlite3_close(db);
        if (i == 1)
            used = sqlite3_memory_used();
    }
    tap_ok(right && sqlite3_memory_used() == used, "%lld bytes, and then %lld", (long long)used,
           (long long)sqlite3_memory_used());
}

/* sqlite3_deserialize() takes the schema away that views of modules of their own are of. */
static void test_deserialize(void)
{
    static const char sql[] = "SELECT sum(k), count(s) FROM large";
    sqlite3 *db = database_open_file(path), *small = database_open();
    struct watched of = prepare(db, sql);
    bool was_accelerated;
    sqlite3_int64 size;
    unsigned char *image;

    database_run(small, "CREATE TABLE large(k INTEGER PRIMARY KEY, i INT, s);"
                        "INSERT INTO large VALUES (5, 6, 'seven')");
    image = sqlite3_serialize(small, "main", &size, 0);
    tap_ok(run(&of, 1000000, &was_accelerated) == sum_of_keys + ROWS && was_accelerated, "a file");
    tap_ok(sqlite3_deserialize(db, "main", image, size, size, SQLITE_DESERIALIZE_FREEONCLOSE) ==
               SQLITE_OK,
           "another database comes in its place");
    tap_ok(run(&of, 1000000, &was_accelerated) == 6 && !was_accelerated, "a kept statement");
    finalize(&of);
    tap_ok(gives(db, sql, 6, false, 900000000) && gives(db, sql, 6, false, 900000000),
           "and the same again");
    close_watched(db, "the connection can be closed");
    sqlite3_close(small);
}

/* EXPLAIN says what will run. */
static void test_explain(void)
{
    static const char *const texts[] = {
        "EXPLAIN QUERY PLAN SELECT sum(k) FROM large WHERE s <> 'x' -- end",
        "EXPLAIN SELECT sum(k) FROM large WHERE s <> 'x'",
        "EXPLAIN QUERY PLAN SELECT k FROM large WHERE k = 1000",
    };
    static const char *const wanted[] = {
        "SCAN large BY clreduce (not run yet, columns not resident)", "VFilter", NULL};
    sqlite3 *db = database_open_file(path);

    TAP_EACH (i, texts) {
        struct watched of = prepare(db, texts[i]);
        sqlite3_int64 patience;
        sqlite3_stmt *companion = gate->begin(of.watched, none, &patience, &of.quiet);
        bool found = companion == NULL && wanted[i] == NULL;
        int j;
        while (companion != NULL && sqlite3_step(companion) == SQLITE_ROW) {
            for (j = 0; j < sqlite3_column_count(companion); j++) {
                const char *text = (const char *)sqlite3_column_text(companion, j);
                found |= text != NULL && strcmp(text, wanted[i]) == 0;
            }
        }
        for (j = 0; companion != NULL && j < sqlite3_column_count(of.plain); j++)
            found &=
                strcmp(sqlite3_column_name(companion, j), sqlite3_column_name(of.plain, j)) == 0;
        sqlite3_reset(companion);
        gate->end(of.watched, companion != NULL, 1000, true);
        tap_ok(found, "%s", texts[i]);
        finalize(&of);
    }
    tap_ok(gives(db, "SELECT sum(k) FROM large WHERE s <> 'x'", sum_of_keys, true, 1000),
           "and that runs");
    close_watched(db, "the connection can be closed");
}

static void check_line(void *found, const struct clreduce_gate_line *line)
{
    int *bits = found;

    if (strcmp(line->sql, "SELECT sum(k) FROM large") == 0)
        *bits |= line->reason == NULL && line->runs == 4 && line->accelerated_runs == 3 ? 1 : 0;
    if (strcmp(line->sql, "SELECT k FROM large WHERE k = 17") == 0)
        *bits |= line->reason != NULL && strstr(line->reason, "no time") != NULL &&
                         line->runs == 2 && line->plain > 0
                     ? 2
                     : 0;
    if (strcmp(line->sql, "SELECT k AS once FROM large WHERE k = 17") == 0)
        *bits |= line->reason != NULL && strstr(line->reason, "comes again") != NULL ? 4 : 0;
}

TAP_TEST(all_tests)
{
    int found = 0;

    nomem_replace_malloc();
    database_register();
    gate = clreduce_gate();
    scratch_file(path, "gate");
    fill();
    test_texts();
    test_ways();
    test_times();
    test_companion();
    test_explain();
    test_postponed();
    test_timed();
    test_outdated();
    test_nomem();
    test_freed();
    test_deserialize();
    test_scans();
    test_log();
    gate->report(check_line, &found);
    tap_ok(found == 7, "the report has every statement: %d", found);
    test_memories();
    unlink(path);
}
