/*
 * Accelerated views without memory: each allocation of the extension, and each of SQLite's, fails
 * once in a view's life. What it is in the middle of gives SQLITE_NOMEM or the right answer, and
 * can be done again; nothing is left locked, and all memory is freed.
 */
#include "base/memory.h"
#include "child.h"
#include "scratch.h"
#include "sqlite/database.h"
#include "sqlite/nomem.h"

/* How many allocations at most are passed from one that fails to the next, at random. */
#ifdef __SANITIZE_THREAD__
enum { MOST_SKIPPED = 200, MOST_SKIPPED_IN_FULL = 30 };
#elif defined __SANITIZE_ADDRESS__
enum { MOST_SKIPPED = 600, MOST_SKIPPED_IN_FULL = 30 };
#else
enum { MOST_SKIPPED = 450, MOST_SKIPPED_IN_FULL = 30 };
#endif
enum { MOST_SKIPPED_OF_OURS = 40 }; /* in full: none */

enum { ROWS = 150, LIMIT_S = 100, DEVICE_CASES = 24 };

/* ---- Lives of views, from the first to the last statement about them. */

/* What a step has to give is what another query gives, or nothing is said of it. */
struct step {
    const char *sql, *same_as;
};

/* Kinds of places: the table streams, is filled by SQLite, or has no rowid. */
enum { STREAMS = 1, FILLED = 2, KEYED = 4 };

/* A view that has a life of its own: its SELECT, in which ? is a parameter, and what is done with
   it. a and b ask it, with the value of that name, p looks at its plan, c at the columns, and e
   evicts those. SQLite fills columns for a view that is asked again. */
struct viewed {
    const char *name, *does, *a, *b, *select;
    unsigned slow; /* the kinds of places where it is not accelerated */
};

/* The life of views of numbers, and of one that is beside another. */
#define SUMS "SELECT gpu_sum(oid), gpu_sum(r), gpu_total(e) FROM t"
#define MORE                                                                                       \
    "SELECT count(*), min(i), max(k), gpu_avg(r * 2) + 1.5, gpu_median(r), gpu_mode(i), "          \
    "gpu_histogram(r, -1, 9, 3) FROM t WHERE r > -1.5"
static const struct step numbers[] = {
    {"CREATE VIRTUAL TABLE temp.v USING clreduce((" SUMS " WHERE i < :most))", "SELECT 1 WHERE 0"},
    {"CREATE VIRTUAL TABLE temp.w USING clreduce((" MORE "))", "SELECT 1 WHERE 0"},
    {"SELECT * FROM v(90)", SUMS " WHERE i < 90"},
    {"SELECT * FROM v WHERE most = 20", SUMS " WHERE i < 20"},
    {"SELECT line FROM clreduce_plan('v')", NULL},
    {"SELECT * FROM w", MORE},
    {"SELECT * FROM clreduce_columns", NULL},
    {"SELECT clreduce_evict()", NULL},
    {"SELECT v.*, w.* FROM v, w WHERE most = 1e9", "SELECT * FROM (" SUMS "), (" MORE ")"},
    {"DROP TABLE w", "SELECT 1 WHERE 0"},
    {"SELECT line FROM clreduce_plan('v')", NULL},
    {"SELECT * FROM v(30)", SUMS " WHERE i < 30"},
    {"DROP TABLE v", "SELECT 1 WHERE 0"},
};

/* Columns of TEXT have their bytes or a dictionary; a WHERE is computed by the scan, or in part;
   times are counts, days and operands; joins go by way of CTEs and subqueries. */
static const struct viewed views[] = {
    {"bytes", "aaea", NULL, NULL, "SELECT gpu_count_distinct(s), gpu_mode(s) FROM t", 0},
    {"lookups", "aapeb", "'t'", "'5'",
     "SELECT gpu_sum(r), gpu_min(s), gpu_mode(upper(s)) FROM t WHERE s LIKE '%' || ? || '%' AND "
     "substr(s, 6) <> '3' AND i > 3",
     STREAMS},
    {"lookups that stream", "ba", "'t'", "'5'",
     "SELECT gpu_sum(r), gpu_max(s) FROM t WHERE s LIKE '%' || ? || '%' AND i > 3", 0},
    {"groups", "aaea", "3", NULL,
     "SELECT s, upper(s) AS u, gpu_sum(r), gpu_median(i), gpu_max(s), count(DISTINCT i % 5) FROM t "
     "WHERE i > ? GROUP BY s, i % 2 HAVING count(*) > 1 ORDER BY s DESC, 3",
     0},
    {"rows", "aa", NULL, NULL,
     "SELECT *, upper(s) FROM t WHERE s LIKE '%3%' AND i > 140 ORDER BY r", KEYED},
    {"the first rows", "ab", "2", "1", "SELECT *, upper(s) FROM t ORDER BY i DESC LIMIT ? + 1",
     STREAMS | FILLED | KEYED},
    {"ranks", "aa", NULL, NULL,
     "SELECT s, r FROM (SELECT *, rank() OVER (PARTITION BY i < 9 ORDER BY i DESC) AS n FROM "
     "t WHERE i > 20) WHERE n <= 2",
     STREAMS | FILLED | KEYED},
    {"groups of a subquery", "aa", NULL, NULL,
     "SELECT i % 3, gpu_sum(r), (SELECT max(s) FROM t) FROM t GROUP BY 1 HAVING i % 3 IN "
     "(SELECT i + 0 FROM t) ORDER BY 1 DESC",
     0},
    {"times", "aapceb", "'2023-11-19'", "5",
     "SELECT date(ts) AS day, min(ts), count(*), gpu_sum(julianday(ts)) FROM t WHERE ts >= ? AND "
     "ts <> datetime('2023-11-20', '+1 day') GROUP BY day",
     0},
    {"joins", "abpeb", "'n3'", "'n4'",
     "WITH f AS (SELECT * FROM t WHERE i > 2), x(s, name) AS (SELECT s, name FROM dim) SELECT "
     "d.name, count(e.name), gpu_sum(f.r * length(e.name)) FROM f JOIN x AS d ON d.s = f.s LEFT "
     "JOIN (SELECT s, name FROM dim) AS e USING (s) WHERE d.name <> ? GROUP BY d.s",
     0},
    {"subqueries looked up", "abp", "'n3'", "'n4'",
     "SELECT (SELECT max(name) FROM dim AS d WHERE d.s = t.s) AS found, count(*), gpu_sum(r) "
     "FROM t WHERE s IN (SELECT s FROM dim WHERE name <> ?) GROUP BY found",
     0},
    {"groups before a join", "aa", NULL, NULL,
     "SELECT a.k, count(b.i) AS n, max(b.s) FROM t AS a LEFT JOIN t AS b ON b.i = a.k GROUP BY a.k "
     "ORDER BY n DESC",
     FILLED | KEYED},
    {"a part of WHERE", "aa", "'a'", NULL,
     "SELECT gpu_sum(r), max(s || i) FROM t WHERE i = 70 AND s || i > ?", KEYED},
    {"sums of one", "aa", NULL, NULL,
     "SELECT gpu_sum(i + 1), gpu_sum(i + 2), gpu_sum(i + 3) FROM t", 0},
    {"derived text", "aapaeaa", NULL, NULL,
     "SELECT s || i % 3, gpu_sum(length(s || i)), max(s || i % 2) FROM t WHERE s || r "
     "LIKE '%t 1%' GROUP BY 1",
     STREAMS | FILLED | KEYED},
    {"a derived parameter", "abba", "'a'", "'b'",
     "SELECT s || ? || i % 2 AS g, gpu_sum(r), gpu_sum(r) / count(*) FROM t GROUP BY g",
     STREAMS | FILLED | KEYED},
    {"derived keys", "aaea", NULL, NULL,
     "SELECT substr(s, 1, 1) AS c, i % 3 AS m, max(r), k FROM t GROUP BY c, m ORDER BY 1, 2",
     STREAMS | FILLED | KEYED},
};

/* The life of an ordinary view, before which an accelerated one goes. */
#define ORDINARY                                                                                   \
    "SELECT gpu_sum(r) AS s, count(*) AS n, gpu_max(k) AS \"k \"\"k\" FROM main.t WHERE i < 90"
static const struct step ordinary[] = {
    {"SELECT clreduce_accelerate('ov')", "SELECT 1"},
    {"SELECT * FROM ov", ORDINARY},
    {"SELECT line FROM clreduce_plan('ov')", NULL},
    {"SELECT clreduce_accelerate()", "SELECT 1"},
    {"SELECT * FROM ov", ORDINARY},
    {"DROP VIEW temp.ov", "SELECT 1 WHERE 0"},
    {"SELECT clreduce_rewrite('SELECT count(*) FROM t')", NULL},
    {"SELECT clreduce_rewrite('SELECT count(*) FROM main.ov')", NULL},
    {"SELECT * FROM ov", ORDINARY},
    {"SELECT clreduce_set('override', 'on')", "SELECT 'on'"},
    {"SELECT sum(r), total(r), avg(r) FROM main.t",
     "SELECT gpu_sum(r), gpu_total(r), gpu_avg(r) FROM main.t"},
};

/* The lives: these two, and those of the views. */
enum { NUMBERS, ORDINARY_VIEW, FIRST_VIEW, LIVES = FIRST_VIEW + sizeof views / sizeof views[0] };

enum { STEPS = 16 }; /* of a life, at most */

/* Returns the SELECT with that in the place of ?, in memory of SQLite's. */
static char *lives_put(const char *select, const char *value)
{
    const char *mark = strchr(select, '?');

    return mark == NULL
               ? sqlite3_mprintf("%s", select)
               : sqlite3_mprintf("%.*s%s%s", (int)(mark - select), select, value, mark + 1);
}

/* Writes a view's steps, whose texts stay, and returns how many they are. */
static int lives_write(const struct viewed *view, struct step *steps)
{
    const bool asked_with = strchr(view->select, '?') != NULL;
    char *select = lives_put(view->select, ":value");
    int count = 0;

    steps[count++] =
        (struct step){sqlite3_mprintf("CREATE VIRTUAL TABLE temp.v USING clreduce((%s))", select),
                      "SELECT 1 WHERE 0"};
    sqlite3_free(select);
    for (const char *does = view->does; *does != '\0'; does++) {
        const char *value = *does == 'b' ? view->b : view->a;

        if (*does == 'p')
            steps[count++] = (struct step){"SELECT line FROM clreduce_plan('v')", NULL};
        else if (*does == 'c')
            steps[count++] = (struct step){"SELECT * FROM clreduce_columns", NULL};
        else if (*does == 'e')
            steps[count++] = (struct step){"SELECT clreduce_evict()", NULL};
        else
            steps[count++] = (struct step){
                asked_with ? sqlite3_mprintf("SELECT * FROM v(%s)", value) : "SELECT * FROM v",
                lives_put(view->select, value)};
    }
    steps[count++] = (struct step){"DROP TABLE v", "SELECT 1 WHERE 0"};
    return count;
}

/* ---- The test. */

/* The life that is being tested. */
static struct life {
    const char *name;
    const struct step *steps;
    int count;
    unsigned slow;
} life;

#define LIFE_OF(name, steps) ((struct life){name, steps, sizeof(steps) / sizeof((steps)[0]), 0})

static void take(int number)
{
    static struct step written[LIVES][STEPS];
    static int counts[LIVES];

    if (number == NUMBERS) {
        life = LIFE_OF("numbers", numbers);
    } else if (number == ORDINARY_VIEW) {
        life = LIFE_OF("an ordinary view", ordinary);
    } else {
        const struct viewed *view = &views[number - FIRST_VIEW];

        if (counts[number] == 0)
            counts[number] = lives_write(view, written[number]);
        life = (struct life){view->name, written[number], counts[number], view->slow};
    }
}

/* A function of the application's in the place of max(). */
static void other_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)context, (void)count, (void)values;
}

static void other_final(sqlite3_context *context)
{
    sqlite3_result_int(context, -77);
}

static void replace_max(sqlite3 *db)
{
    sqlite3_create_function(db, "max", 1, SQLITE_UTF8, NULL, NULL, other_step, other_final);
}

/* A dimension that is not the one of the file. The name is looked up in this schema first. */
static void shadow_dimension(sqlite3 *db)
{
    database_run(db, "CREATE TEMP TABLE dim(s PRIMARY KEY, name)");
    database_run(db, "INSERT INTO temp.dim SELECT s, name || 'x' FROM main.dim");
}

/* The same of the table, too. */
static void shadow_table(sqlite3 *db)
{
    database_run(db, "CREATE TEMP TABLE t AS SELECT k, i + 1 AS i, r, oid, e, s, ts FROM main.t "
                     "WHERE i < 50");
    shadow_dimension(db);
}

/* Some versions of SQLite read the schema of a UTF-16 database amid no other statement. */
static void read_schema(sqlite3 *db)
{
    database_run(db, "SELECT 1 FROM t WHERE 0");
}

/* Columns have no room, but dictionaries do: their tables stream. */
static void leave_no_room(sqlite3 *db)
{
    database_set(db, "column_memory", "4000");
}

/* What can only be found out by asking SQLite, which may have no memory for the answer. */
static const struct place {
    const char *name, *pragma;
    void (*prepare)(sqlite3 *db); /* or NULL */
    bool accelerated, filled;     /* filled: by SQLite */
    const char *options;          /* of the table, or NULL */
    unsigned kind;                /* what views may be slow by */
} places[] = {
    {"a rollback journal", "journal_mode = DELETE", NULL, true, false, NULL, 0},
    {"a table that streams", "journal_mode = DELETE", leave_no_room, true, false, NULL, STREAMS},
    {"a write-ahead log", "journal_mode = WAL", NULL, true, false, NULL, 0},
    {"UTF-16", "encoding = 'UTF-16'", read_schema, true, false, NULL, 0},
    {"a temporary table of that name", "journal_mode = DELETE", shadow_table, true, true, NULL,
     FILLED},
    {"a temporary dimension", "journal_mode = WAL", shadow_dimension, true, false, NULL, 0},
    {"an application's max()", "journal_mode = DELETE", replace_max, false, false, NULL, 0},
    {"a table WITHOUT ROWID", "journal_mode = DELETE", NULL, true, false, "WITHOUT ROWID", KEYED},
};

enum { PLACES = sizeof places / sizeof places[0] };

static char folder[SCRATCH_PATH];

static sqlite3 *open_file(int number)
{
    char path[sizeof folder + 20];

    snprintf(path, sizeof path, "%s/%d.db", folder, number);
    return database_open_at(path, 0, NULL);
}

/*
 * Makes the table t. Integers in REAL column r are stored as integers; oid is a column and not the
 * rowid; and e is in no record.
 */
static sqlite3 *fill(int number, int rows)
{
    const char *options = places[number % PLACES].options;
    sqlite3 *db = open_file(number);

    database_run(db, "PRAGMA synchronous = OFF");
    database_run(db, "PRAGMA %s", places[number % PLACES].pragma);
    database_run(db, "CREATE TABLE t(k INTEGER PRIMARY KEY, i INT, r REAL, oid INT, s, ts TEXT) %s",
                 options == NULL ? "" : options);
    database_run(db,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
                 " INSERT INTO t SELECT i * 2, i, CASE WHEN i %% 3 THEN i ELSE i * 0.25 END, i * i,"
                 " 'text ' || i %% 7, datetime(1700000000 + i * 9000, 'unixepoch') FROM n",
                 rows);
    database_run(db, "CREATE TABLE dim(s TEXT PRIMARY KEY, name TEXT)");
    database_run(db, "INSERT INTO dim SELECT DISTINCT s, 'n' || i %% 7 FROM t WHERE i %% 7 > 1");
    database_run(db, "ALTER TABLE t ADD COLUMN e REAL DEFAULT 7");
    database_run(db, "CREATE VIEW ov AS %s", ORDINARY);
    database_run(db, "BEGIN EXCLUSIVE; COMMIT");
    return db;
}

static sqlite3 *connect_to(int number)
{
    sqlite3 *db = open_file(number);

    DATABASE_SET(db, "device", "host", "view_threshold", "0");
    database_set(db, "column_memory", "0"); /* the process's, which another place has set */
    database_set(db, "column_retention", "0");
    if (places[number].prepare != NULL)
        places[number].prepare(db);
    return db;
}

static void expect(sqlite3 *db, char *expected[STEPS])
{
    for (int i = 0; i < STEPS; i++)
        expected[i] = NULL;
    for (int i = 0; i < life.count; i++)
        if (life.steps[i].same_as != NULL)
            expected[i] = database_query(db, life.steps[i].same_as);
}

static void free_expected(char *expected[STEPS])
{
    for (int i = 0; i < STEPS; i++)
        free(expected[i]);
}

/* One step. Returns whether it was told that there is no memory, or says what is wrong. */
static bool run_step(sqlite3 *db, int i, const char *expected, long after)
{
    int rc;
    const char *sql = life.steps[i].sql;
    char *found = database_query_rc(db, sql, &rc);

    if (rc != SQLITE_NOMEM &&
        (rc != SQLITE_OK || (expected != NULL && strcmp(found, expected) != 0))) {
        tap_ok(false, "allocation %ld: result %d of %.60s", after, rc, sql);
        tap_diag(" got: %s\nwant: %s", found, expected == NULL ? "anything" : expected);
    }
    free(found);
    if (sqlite3_txn_state(db, NULL) != SQLITE_TXN_NONE)
        tap_ok(false, "allocation %ld: a transaction is open after %.60s", after, sql);
    return rc == SQLITE_NOMEM;
}

/* Runs all steps, each again if there was no memory for it. Returns how many had none. */
static int run_steps(sqlite3 *db, char *const expected[STEPS], int (*fail_after)(long), long after,
                     bool *failed)
{
    int told = 0;

    *failed = false;
    fail_after(after);
    for (int i = 0; i < life.count; i++) {
        if (!run_step(db, i, expected[i], after))
            continue;
        told++;
        *failed = fail_after(-1) || *failed;
        if (run_step(db, i, expected[i], after))
            tap_ok(false, "allocation %ld: there is memory again, but not for %.60s", after,
                   life.steps[i].sql);
    }
    *failed = fail_after(-1) || *failed;
    return told;
}

/* Afterwards no lock is left, a new view is right and, whatever was in the way before, quick. */
static void check_afterwards(sqlite3 *db, sqlite3 *other, const struct place *place,
                             char *const expected[STEPS], long after)
{
    int64_t scans;
    bool failed;

    if (sqlite3_exec(other, "BEGIN EXCLUSIVE; COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        tap_ok(false, "allocation %ld: %s", after, sqlite3_errmsg(other));
    /* Columns that went, unused, are filled again when they have been asked for more often. */
    if (place->filled)
        database_run(db, "SELECT clreduce_evict()");
    scans = database_stat(db, "scans_on_host");
    if (run_steps(db, expected, nomem_sqlite_fail_after, -1, &failed) != 0)
        tap_ok(false, "allocation %ld: SQLITE_NOMEM afterwards", after);
    if (place->accelerated && !(life.slow & place->kind) &&
        database_stat(db, "scans_on_host") == scans)
        tap_ok(false, "allocation %ld: views are no longer accelerated", after);
}

static void test(int number, int (*fail_after)(long), const char *whose, bool ours)
{
    const struct place *place = &places[number];
    sqlite3 *db = connect_to(number), *other = open_file(number);
    char *expected[STEPS];
    int most = tap_is_quick() ? MOST_SKIPPED : MOST_SKIPPED_IN_FULL;
    long after, failures = 0, told = 0;
    sqlite3_stmt *statement;
    bool failed;

    if (ours)
        most = tap_is_quick() ? MOST_SKIPPED_OF_OURS : 1;
    /* What the lives have in common is tested with the first. */
    if (life.steps != numbers && most > 1)
        most *= 3;
    expect(db, expected);
    run_steps(db, expected, fail_after, -1, &failed);
    sqlite3_close(db);
    check_afterwards(db = connect_to(number), other, place, expected, -1);
    sqlite3_close(db);
    failed = true;
    for (after = 0; failed; after += random_between(1, most)) {
        sqlite3_int64 before = sqlite3_memory_used();
        db = connect_to(number);
        told += run_steps(db, expected, fail_after, after, &failed);
        failures += failed;
        check_afterwards(db, other, place, expected, after);
        statement = sqlite3_next_stmt(db, NULL);
        if (sqlite3_close(db) != SQLITE_OK)
            tap_ok(false, "allocation %ld: the connection is still in use: %s", after,
                   statement == NULL ? "by no statement" : sqlite3_sql(statement));
        if (sqlite3_memory_used() != before)
            tap_ok(false, "allocation %ld: memory is left over", after);
    }
    tap_ok(failures > 0, "%s, %s: %ld of %ld allocations of %s, %ld of them told", place->name,
           life.name, failures, after, whose, told);
    sqlite3_close(other);
    free_expected(expected);
}

/*
 * Without memory for a connection's first view, nothing is left of it: the connection is closed
 * right then, where a later view would put things in order.
 */
static void test_first_view(int (*fail_after)(long), const char *whose, int most)
{
    bool failed = true;
    long after, told = 0;

    for (after = 0; failed; after += random_between(1, most)) {
        sqlite3_int64 before = sqlite3_memory_used();
        sqlite3 *db = connect_to(0);

        fail_after(after);
        if (sqlite3_exec(db, numbers[0].sql, NULL, NULL, NULL) == SQLITE_OK)
            sqlite3_exec(db, "DROP TABLE v", NULL, NULL, NULL);
        else
            told++;
        failed = fail_after(-1);
        if (sqlite3_close(db) != SQLITE_OK)
            tap_ok(false, "allocation %ld: the connection is still in use", after);
        else if (sqlite3_memory_used() != before)
            tap_ok(false, "allocation %ld: memory is left over", after);
    }
    tap_ok(told > 0, "a first view: %ld of %ld allocations of %s told", told, after, whose);
}

/* Returns the text that a query gives, to be freed with free(). */
static char *read_text(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *query = NULL;
    char *text = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW && sqlite3_column_text(query, 0) != NULL)
        text = strdup((const char *)sqlite3_column_text(query, 0));
    sqlite3_finalize(query);
    return text == NULL ? strdup("") : text;
}

/* A statement of which SELECTs are accelerated by themselves is written, or there is no memory for
   it, or for a view of one; then the rest may be, and with memory all is. */
static void test_units(int (*fail_after)(long), const char *whose, int most)
{
    static const char units[] = "WITH g AS (SELECT s, count(*) AS n FROM t GROUP BY s) SELECT"
                                " max(n), (SELECT sum(i) FROM t WHERE \"k\" > 9) FROM g",
                      ask[] = "SELECT clreduce_rewrite('WITH g AS (SELECT s, count(*) AS n FROM t"
                              " GROUP BY s) SELECT max(n), (SELECT sum(i) FROM t WHERE \"k\" > 9)"
                              " FROM g')";
    bool failed = true;
    long after, told = 0;

    for (after = 0; failed; after += random_between(1, most)) {
        sqlite3_int64 before = sqlite3_memory_used();
        sqlite3 *db = connect_to(0);
        char *want = database_query(db, units), *text, *got, *without;
        int rc;

        fail_after(after);
        without = database_query_rc(db, ask, &rc);
        failed = fail_after(-1);
        if (rc != SQLITE_OK && rc != SQLITE_NOMEM)
            tap_ok(false, "allocation %ld: result %d", after, rc);
        /* The SELECT may be left as it is. */
        told += rc == SQLITE_NOMEM || strstr(without, "clreduce_view_") == NULL;
        free(without);
        text = read_text(db, ask);
        got = database_query(db, text);
        if (strstr(text, "clreduce_view_") == NULL || strcmp(got, want) != 0)
            tap_ok(false, "allocation %ld: there is memory again, and %s gives %s", after, text,
                   got);
        free(want);
        free(text);
        free(got);
        if (sqlite3_close(db) != SQLITE_OK || sqlite3_memory_used() != before)
            tap_ok(false, "allocation %ld: the connection is in use, or memory left over", after);
    }
    tap_ok(told > 0, "units: %ld of %ld allocations of %s told", told, after, whose);
}

/* ---- With a device: the worker's allocations fail too, which the device may not survive. */

static long device_case;

static void run_with_device(void)
{
    sqlite3 *db = connect_to(0);
    char *expected[STEPS];
    double start = child_now();
    bool failed, ended = false;

    DATABASE_SET(db, "host_threshold", "1", "keep_answers", "off");
    expect(db, expected);
    database_set(db, "device", "cpu");
    while (!ended && child_now() - start < 20) {
        run_steps(db, expected, clr_memory_fail_after, device_case, &failed);
        ended = failed || database_stat(db, "scans_on_device") > 0;
    }
    run_steps(db, expected, clr_memory_fail_after, -1, &failed);
    free_expected(expected);
    child_ok(sqlite3_close(db) == SQLITE_OK, "the connection is closed");
}

static void test_device(void)
{
    bool passed = child_run_numbered(run_with_device, LIMIT_S, &device_case, DEVICE_CASES);

    tap_ok(passed, "%d allocations while columns go to a device", DEVICE_CASES);
}

/* Whether it is a case's turn: CLREDUCE_TEST_LONG="K N" takes every Nth, from number K on. All
   would take half an hour. */
static bool is_due(int number)
{
    const char *value = getenv("CLREDUCE_TEST_LONG");
    int first, step;

    return value == NULL || sscanf(value, "%d %d", &first, &step) != 2 ||
           number % step == first % step;
}

TAP_TEST(all_tests)
{
    sqlite3 *keepers[PLACES];

    take(NUMBERS);
    nomem_replace_malloc();
    database_register();
    scratch_folder(folder, "nomem");
    for (int i = 0; i < PLACES; i++)
        keepers[i] = fill(i, ROWS);
    test_device(); /* before anything else: its children have runtimes of their own */
    if (is_due(0)) {
        test_first_view(clr_memory_fail_after, "the extension", 1);
        test_first_view(nomem_sqlite_fail_after, "SQLite", tap_is_quick() ? 19 : 1);
        test_units(clr_memory_fail_after, "the extension", 1);
        test_units(nomem_sqlite_fail_after, "SQLite", tap_is_quick() ? 150 : 1);
    }
    for (int i = 0; i < PLACES; i++) {
        for (int j = 0; j < LIVES; j++) {
            take(j);
            /* Only what is accelerated goes before an ordinary view. */
            if (j == ORDINARY_VIEW && !places[i].accelerated)
                continue;
            /* There timestamps are text like any other. */
            if (strcmp(life.name, "times") == 0 && strcmp(places[i].name, "UTF-16") == 0)
                continue;
            /* Without the dimension it is a write-ahead log like the other. */
            if (places[i].prepare == shadow_dimension && j >= FIRST_VIEW &&
                strstr(views[j - FIRST_VIEW].select, "dim") == NULL)
                continue;
            if (!is_due(1 + i * LIVES + j))
                continue;
            test(i, clr_memory_fail_after, "the extension", true);
            test(i, nomem_sqlite_fail_after, "SQLite", false);
        }
        sqlite3_close(keepers[i]);
    }
    scratch_remove(folder);
}
