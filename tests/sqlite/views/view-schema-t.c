/*
 * Accelerated views that are made, connected anew, asked for their plan and dropped while other
 * connections change the schema: SQLite must not lose track of the view's table. If it does, the
 * connection cannot be closed, or memory that was freed is used, which a sanitizer shows.
 */
#include "scratch.h"
#include "sqlite/database.h"

#include <unistd.h>

enum { MOST_STEPS = 14, REPEATS = 3, MOST_CALLS = 90 };

#define MAKE                                                                                       \
    "CREATE VIRTUAL TABLE temp.v USING clreduce((SELECT gpu_sum(a) AS s FROM t WHERE b > :p))"
#define ASK "SELECT * FROM v(1)"

/* A step that begins with '<' is another connection's; with '!' it fails; with '?' it may. */
static const struct scenario {
    const char *name;
    const char *steps[MOST_STEPS];
} scenarios[] = {
    {"another connection made a table", {"<CREATE TABLE o1(x)", MAKE, ASK}},
    {"a table that is not known yet",
     {"<CREATE TABLE o1(x)",
      "CREATE VIRTUAL TABLE temp.w USING clreduce((SELECT * FROM o1 WHERE x > :p))", MAKE}},
    {"not there, and then it is",
     {"!CREATE VIRTUAL TABLE temp.w USING clreduce((SELECT * FROM o1))", "<CREATE TABLE o1(x)",
      "CREATE VIRTUAL TABLE IF NOT EXISTS temp.w USING clreduce((SELECT * FROM o1))",
      "DROP TABLE w", MAKE}},
    {"after a module that is not there, in a transaction",
     {"BEGIN", "!CREATE VIRTUAL TABLE q USING nosuch(a)", MAKE, ASK, "COMMIT"}},
    {"after a temporary one that is not there",
     {"BEGIN", "!CREATE VIRTUAL TABLE temp.q USING nosuch(a)", MAKE, ASK, "COMMIT"}},
    {"stale in a transaction",
     {"<CREATE TABLE o1(x)", "BEGIN", MAKE, ASK, "ROLLBACK", "<CREATE TABLE o2(x)", "BEGIN",
      "CREATE VIRTUAL TABLE IF NOT EXISTS "
      "temp.v USING clreduce((SELECT gpu_sum(a) AS s FROM t "
      "WHERE b > :p))",
      ASK, "COMMIT"}},
    {"schemas that were rolled back",
     {"BEGIN", "CREATE TABLE o1(x)", "CREATE TEMP TABLE o2(x)", "ROLLBACK", MAKE, "SAVEPOINT s",
      "CREATE TABLE o3(x)", "DROP TABLE v", MAKE, "ROLLBACK TO s", "RELEASE s", ASK}},
    {"connected anew",
     {MAKE, ASK, "<CREATE TABLE o1(x)", ASK, "CREATE TEMP TABLE o2(x)", "<ALTER TABLE t ADD c", ASK,
      "<DROP TABLE o1", "CREATE TEMP TABLE o3(x)", ASK}},
    {"dropped when it is stale",
     {MAKE, ASK, "<CREATE TABLE o1(x)", "DROP TABLE v", MAKE, "<ALTER TABLE t RENAME TO u",
      "DROP TABLE v", "<ALTER TABLE u RENAME TO t", MAKE}},
    {"renamed, and its table gone for a while",
     {MAKE, "<ALTER TABLE t RENAME TO u", "!" ASK, "CREATE TEMP TABLE o1(x)", "!" ASK,
      "<ALTER TABLE u RENAME TO t", ASK, "ALTER TABLE v RENAME TO w", "<CREATE TABLE o2(x)",
      "SELECT * FROM w(1)", "ALTER TABLE w RENAME TO v"}},
    {"dropped, brought back by ROLLBACK, and its table gone",
     {MAKE, "BEGIN", "DROP TABLE v", "CREATE VIRTUAL TABLE temp.v USING clreduce((SELECT 1))",
      "ROLLBACK", "<ALTER TABLE t RENAME TO u", "!" ASK, "!SELECT * FROM v", "DROP TABLE v",
      "<ALTER TABLE u RENAME TO t", MAKE}},
    {"an attached database",
     {"ATTACH '%s-attached' AS \"an \"\"other\"", "<ATTACH '%s-attached' AS b",
      "<CREATE TABLE IF NOT EXISTS b.u(a, b)", MAKE,
      "CREATE VIRTUAL TABLE temp.w USING clreduce((SELECT gpu_sum(a) FROM u WHERE b > :p))",
      "<CREATE TABLE b.o1(x)", "CREATE VIRTUAL TABLE temp.w2 USING clreduce((SELECT * FROM o1))",
      "<DROP TABLE b.o1", "CREATE TABLE o2(x)", "SELECT * FROM w(2)", "DROP TABLE w2", ASK}},
    {"a view over views",
     {MAKE, "CREATE VIRTUAL TABLE temp.w USING clreduce((SELECT s FROM v(1), t))",
      "<CREATE TABLE o1(x)", "SELECT * FROM w", "CREATE TEMP TABLE o2(x)", "<ALTER TABLE t ADD c",
      "SELECT * FROM w", "CREATE TEMP VIEW o3 AS SELECT * FROM w", "<CREATE TABLE o4(x)",
      "CREATE VIRTUAL TABLE temp.w2 USING clreduce((SELECT * FROM w, v(0)))", "SELECT * FROM w2"}},
    {"a plan that has still to be made",
     {"<BEGIN EXCLUSIVE", "?" MAKE, "<COMMIT", "CREATE TEMP TABLE IF NOT EXISTS o0(x)", "?" MAKE,
      "?" ASK, "<CREATE TABLE o1(x)", "SELECT * FROM clreduce_plan('v')", ASK,
      "<CREATE TABLE o2(x)", "SELECT * FROM clreduce_plan('v')"}},
    {"what writes from a view", /* SQLite checks the schema in the midst of it */
     {MAKE, "CREATE TEMP TABLE o1(x)", "<CREATE TABLE o2(x)", "INSERT INTO o1 SELECT s FROM v(1)",
      "<CREATE TABLE o3(x)", "UPDATE o1 SET x = (SELECT s FROM v(1))", "<CREATE TABLE o4(x)",
      "CREATE TEMP TABLE o5 AS SELECT * FROM v(1)"}},
};

/* Of connections that share a cache. */
static const struct scenario shared_cache = {
    "a shared cache",
    {MAKE, ASK, "<CREATE TABLE o1(x)", ASK, "DROP TABLE v", "<CREATE TABLE o2(x)", MAKE, ASK}};

static char path[SCRATCH_PATH];

static void remove_files(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", "-attached"};
    char name[240];

    TAP_EACH (i, ends) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static sqlite3 *open_database(int flags)
{
    sqlite3 *db = database_open_at(path, flags, NULL);

    DATABASE_SET(db, "device", "host", "view_threshold", "0");
    return db;
}

/* Both connections know the schema. */
static void begin(sqlite3 **db, sqlite3 **other, const char *mode, int flags)
{
    remove_files();
    *db = open_database(flags);
    *other = open_database(flags);
    database_run(*db, "PRAGMA journal_mode = %s", mode);
    database_run(*db, "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2), (3, 4);"
                      "CREATE VIEW w AS SELECT gpu_sum(a) AS s FROM t");
    database_run(*db, "SELECT count(*) FROM t");
    database_run(*other, "SELECT count(*) FROM t");
}

/* Runs a step. Returns whether that went as it was to. */
static int take_step(sqlite3 *db, sqlite3 *other, const char *step)
{
    const char may = *step;
    char *sql;
    int rc;

    if (may == '<' || may == '!' || may == '?')
        step++;
    sql = sqlite3_mprintf(step, path);
    rc = sqlite3_exec(may == '<' ? other : db, sql, NULL, NULL, NULL);
    if (may != '?' && (rc == SQLITE_OK) == (may == '!'))
        tap_diag("%s: %d, %s", sql, rc, sqlite3_errmsg(may == '<' ? other : db));
    sqlite3_free(sql);
    return may == '?' || (rc == SQLITE_OK) == (may != '!');
}

/* Returns whether the view gives what the SELECT gives, and both connections can be closed. */
static int end(sqlite3 *db, sqlite3 *other)
{
    int good = database_agrees(db, "SELECT * FROM v(2)", "SELECT gpu_sum(a) FROM t WHERE b > 2");

    return (sqlite3_close(db) == SQLITE_OK) & (sqlite3_close(other) == SQLITE_OK) & good;
}

static void test(const struct scenario *scenario, int flags)
{
    sqlite3 *db, *other;
    int good = 1;

    for (int i = 0; i < REPEATS; i++) {
        begin(&db, &other, "DELETE", flags);
        for (int j = 0; j < MOST_STEPS && scenario->steps[j] != NULL; j++)
            good &= take_step(db, other, scenario->steps[j]);
        good &= end(db, other);
    }
    tap_ok(good, "%s", scenario->name);
}

/* An authorizer, through which another connection comes in between: at call number turn. */
struct intruder {
    sqlite3 *other;
    int calls, turn, tables;
};

static int intrude(void *pointer, int action, const char *a, const char *b, const char *c,
                   const char *d)
{
    struct intruder *intruder = pointer;

    (void)action, (void)a, (void)b, (void)c, (void)d;
    if (++intruder->calls == intruder->turn)
        database_run(intruder->other, "CREATE TABLE o%d(x); DROP TABLE IF EXISTS o%d",
                     intruder->tables, intruder->tables - 1);
    return SQLITE_OK;
}

static const char *const view_steps[] = {
    MAKE, ASK, "SELECT * FROM clreduce_plan('v')", "CREATE TEMP TABLE x(x)", ASK, "DROP TABLE v",
};

/* Views that are made by their SELECT, or go before an ordinary one. */
static const char *const access_steps[] = {
    "SELECT clreduce_rewrite('SELECT gpu_sum(a) FROM t')",
    "SELECT * FROM clreduce_view_1",
    "?SELECT clreduce_accelerate('w')", /* while the schema changes it may not be planned */
    "SELECT * FROM w",
    "SELECT clreduce_accelerate()",
    "SELECT * FROM w",
    "?SELECT * FROM clreduce_plan('w')",
    "DROP VIEW IF EXISTS temp.w",
    "SELECT clreduce_rewrite('SELECT gpu_sum(a) FROM t')",
};

/* Each step is tried with the change at each of so many moments. The log lets the other connection
   write. */
static void test_moments(const char *const *steps, int count, int moments, const char *name)
{
    sqlite3 *db, *other;
    int good = 1, changes = 0;

    for (int turn = 1; turn <= moments; turn++) {
        struct intruder intruder = {NULL, 0, turn, 0};
        begin(&db, &other, "WAL", 0);
        intruder.other = other;
        for (int i = 0; i < count; i++) {
            intruder.calls = 0;
            intruder.tables++;
            sqlite3_set_authorizer(db, intrude, &intruder);
            good &= take_step(db, other, steps[i]);
            sqlite3_set_authorizer(db, NULL, NULL);
            changes += intruder.calls >= turn;
        }
        good &= take_step(db, other, MAKE);
        good &= end(db, other);
    }
    tap_ok(good && changes > moments, "%s: changes at %d moments", name, changes);
}

TAP_TEST(all_tests)
{
    database_register();
    scratch_file(path, "schema");
    TAP_EACH (i, scenarios)
        test(&scenarios[i], 0);
    test(&shared_cache, SQLITE_OPEN_SHAREDCACHE);
    test_moments(view_steps, sizeof view_steps / sizeof view_steps[0], MOST_CALLS, "views");
    test_moments(access_steps, sizeof access_steps / sizeof access_steps[0],
                 tap_is_quick() ? MOST_CALLS : 4 * MOST_CALLS, "ways to views");
    remove_files();
}

static void give_own(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count, (void)values;
    sqlite3_result_text(context, "own", -1, SQLITE_STATIC);
}

/* A function beside SQLite's own that differs by its encoding alone expires no statement, and looks
   the same in EXPLAIN. */
TAP_TEST(test_encodings)
{
    static const char select[] = "SELECT upper(a) AS u, count(*) FROM t GROUP BY 1 ORDER BY 1";
    sqlite3 *db;

    scratch_file(path, "encodings");
    db = database_open_file(path);
    DATABASE_SET(db, "view_threshold", "0", "keep_answers", "off");
    database_run(db, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a); INSERT INTO t WITH RECURSIVE"
                     " n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 999)"
                     " SELECT 'a' || (i %% 7) FROM n");
    database_run(db, "CREATE VIRTUAL TABLE temp.v USING clreduce((%s))", select);
    tap_ok(database_agrees(db, "SELECT * FROM v", select), "with SQLite's function");
    tap_ok(database_stat(db, "entries_evaluated") == 7, "which is evaluated for each value");
    tap_ok(sqlite3_create_function(db, "upper", 1, SQLITE_UTF16LE | SQLITE_DETERMINISTIC, NULL,
                                   give_own, NULL, NULL) == SQLITE_OK,
           "another one");
    tap_ok(database_agrees(db, "SELECT * FROM v", select) &&
               database_number(db, "SELECT u = 'own' FROM v") == 1,
           "with that one");
    sqlite3_close(db);
    remove_files();
}
