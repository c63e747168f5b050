/*
 * A device that is short of memory or resources for a moment, or slow, at any call of OpenCL's: the
 * answers are the host's bits, nothing is left behind on the device, and it is in use again
 * afterwards. And threads whose locks and calls are delayed at random. See failures.h, whose runs
 * these are, each given what it has to do:
 *
 *     warm:FIRST:STEP    fails once at each of these calls of a round, when everything is built
 *     cold               fails as the rule of the environment says, from the start of the process
 *     room               has no room, and then more and more of it, when everything is built
 *     threads            several connections, for CLR_DELAYS
 *
 * A round goes over every path: rows fed in chunks, columns that are copied, scans, histograms and
 * groups of columns that lie there, a refresh.
 */
#include "opencl/failing_library.h"
#include "sqlite/failures.h"

/* Kinds of objects. Of events uploads keep those of their two stages until they are next used. The
   second slot's buffers are made when two chunks come at a time, which may be late. */
enum {
    OBJECT_KINDS = 6,
    OBJECT_BUFFERS = 2,
    OBJECT_EVENTS = 5,
    KEPT_EVENTS = 2,
    KEPT_BUFFERS = 12
};

enum { ROWS = 2000, MOST_ROUNDS = 400, MOST_ROOM = 1 << 22, TURNS = 12 };

static const char *const views[] = {
    "SELECT gpu_sum(i), gpu_total(r), gpu_max(i) FROM t",
    "SELECT count(*), gpu_sum(i * 2 + 1), gpu_dot(r, i) FROM t WHERE i > r",
    "SELECT gpu_histogram(a, -5, 5, 20) FROM u",
    "SELECT b, count(*), gpu_sum(a), gpu_max(a) FROM u GROUP BY b",
};

/* Of rows, which the device gets in chunks. */
static const char *const fed[] = {
    "SELECT gpu_sum(r), gpu_dot(r, i), gpu_min(i) FROM t",
};

enum { VIEWS = sizeof views / sizeof views[0], FED = sizeof fed / sizeof fed[0] };

/* ---- One run. */

/* The database, a connection that uses the device, and one that does not. */
static struct {
    char folder[SCRATCH_PATH], path[SCRATCH_PATH + 20];
    sqlite3 *db, *plain;
    int differing, updates;
} run_state;

static sqlite3 *open_connection(bool uses_device)
{
    sqlite3 *db = database_open_at(run_state.path, 0, NULL);

    sqlite3_busy_timeout(db, FAILURES_LIMIT_S * 1000);
    database_set(db, "chunk_size", "100");
    failures_use_devices(db, "60000");
    if (!uses_device) {
        database_set(db, "device", "host");
        return db;
    }
    for (int i = 0; i < VIEWS; i++)
        database_run(db, "CREATE VIRTUAL TABLE temp.v%d USING clreduce((%s))", i, views[i]);
    return db;
}

static void make_database(void)
{
    sqlite3 *db;

    scratch_folder(run_state.folder, "shortage");
    snprintf(run_state.path, sizeof run_state.path, "%s/t.db", run_state.folder);
    db = database_open_at(run_state.path, 0, NULL);
    database_run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
    database_fill(db, ROWS);
    database_run(db,
                 "CREATE TABLE u(a REAL, b INT);"
                 "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO u"
                 " SELECT (i * 7919 %% 65537 - 30000) * 0.00037, i * 7919 %% 101 FROM n",
                 4 * ROWS);
    sqlite3_close(db);
}

/* Compares what a query gives with what the host gives for another one. */
static void compare(const char *sql, const char *plain)
{
    char *expected = database_query(run_state.plain, plain);

    run_state.differing += !database_gives(run_state.db, sql, expected);
    free(expected);
}

static void compare_views(void)
{
    char sql[40];

    for (int i = 0; i < VIEWS; i++) {
        snprintf(sql, sizeof sql, "SELECT * FROM v%d", i);
        compare(sql, views[i]);
    }
}

static void do_round(void)
{
    free(database_query(run_state.db, "SELECT clreduce_evict()"));
    compare_views();
    compare_views();
    for (int i = 0; i < FED; i++)
        compare(fed[i], fed[i]);
    run_state.updates++;
    database_run(run_state.plain, "UPDATE t SET i = i + 1, r = -r WHERE rowid = %d",
                 1 + run_state.updates * 7919 % ROWS);
    compare_views();
}

/* Asks all views until the device has answered all of them, with what it has. Returns whether it
   has: a copy that failed is made again. */
static bool answers(void)
{
    int64_t before;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        before = database_stat(run_state.db, "scans_on_device");
        compare_views();
        if (database_stat(run_state.db, "scans_on_device") == before + VIEWS)
            return true;
        usleep(1000 * (useconds_t)(round < 20 ? round : 20));
    }
    return false;
}

/* Goes round until the device has done all it can do. Returns whether it has. */
static bool serves(void)
{
    static const char *const figures[] = {"chunks_to_device", "scans_on_device"};
    int64_t before[2];
    int grown;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        for (int i = 0; i < 2; i++)
            before[i] = database_stat(run_state.db, figures[i]);
        do_round();
        grown = 0;
        for (int i = 0; i < 2; i++)
            grown += database_stat(run_state.db, figures[i]) > before[i] + (i == 1 ? VIEWS : 0);
        if (grown == 2)
            return true;
        usleep(1000 * (useconds_t)(round < 20 ? round : 20));
    }
    return false;
}

/* Has the device's programs built, which takes long while others compile theirs: they are no part
   of what is waited for later. */
static void build_programs(void)
{
    for (int turn = 0; turn < 4 && !serves(); turn++)
        ;
}

/* Counts what lies on the device, when nothing is kept there and nothing is under way: it is the
   same for 20 milliseconds. */
static void count_objects(long counts[OBJECT_KINDS])
{
    int quiet = 0, tries = 0;

    free(database_query(run_state.db, "SELECT clreduce_evict()"));
    for (int i = 0; i < OBJECT_KINDS; i++)
        counts[i] = -1;
    while (quiet < 20 && tries++ < 5000) {
        usleep(1000);
        quiet++;
        for (int i = 0; i < OBJECT_KINDS; i++) {
            if (counts[i] != live(i))
                quiet = 0;
            counts[i] = live(i);
        }
    }
}

static void run_warm(long first, long step)
{
    static const char *const actions[] = {"-4", "-5", "-6", "-5", "hang"};
    long most[OBJECT_KINDS] = {0}, counts[OBJECT_KINDS], calls, acted;
    int unserved = 0, left = 0, failures = 0;
    char rule[60];

    build_programs();
    for (int round = 0; round < 4; round++) {
        unserved += !serves();
        count_objects(counts);
        for (int i = 0; i < OBJECT_KINDS; i++)
            most[i] = counts[i] > most[i] ? counts[i] : most[i];
    }
    most[OBJECT_BUFFERS] += KEPT_BUFFERS;
    if (most[OBJECT_EVENTS] < KEPT_EVENTS)
        most[OBJECT_EVENTS] = KEPT_EVENTS;
    set_rule("any:-5:1000000000");
    do_round();
    calls = seen(&acted);
    for (long call = first; call <= calls; call += step + (long)random_below((uint64_t)step)) {
        const char *action = actions[random_below(5)];
        snprintf(rule, sizeof rule, "any:%s:%ld:%d:50", action, call, random_between(1, 2));
        set_rule(rule);
        do_round();
        seen(&acted);
        set_rule(NULL);
        failures += acted > 0;
        if (!answers() || !serves()) {
            unserved++;
            tap_diag("%s: not in use again: %s", rule,
                     database_stat_text(run_state.db, "last_error"));
            break;
        }
        count_objects(counts);
        for (int i = 0; i < OBJECT_KINDS; i++) {
            if (counts[i] > most[i]) {
                left++;
                tap_diag("%s: %ld objects of kind %d, not %ld", rule, counts[i], i, most[i]);
                most[i] = counts[i];
            }
        }
    }
    printf("%ld calls in a round, %d failures, %d left behind, %d unserved\n", calls, failures,
           left, unserved);
}

static void run_room(void)
{
    long counts[OBJECT_KINDS], most = 0, kept, refused = 0;
    int unserved = !serves(), left = 0;

    for (long bytes = 1; bytes < MOST_ROOM; bytes *= 4) {
        count_objects(counts);
        kept = counts[OBJECT_BUFFERS];
        most = kept > most ? kept : most;
        set_room(bytes == 1 ? 0 : random_between((int)bytes, 4 * (int)bytes));
        do_round();
        do_round();
        refused += set_room(-1);
        if (!answers() || !serves()) {
            unserved++;
            tap_diag("%ld bytes: not in use again: %s", bytes,
                     database_stat_text(run_state.db, "last_error"));
        }
    }
    count_objects(counts);
    left = counts[OBJECT_BUFFERS] > most + KEPT_BUFFERS;
    printf("%s, %d left behind, %d unserved\n", refused > 0 ? "some refused" : "none refused", left,
           unserved);
}

/* Each in a transaction of its own, in which the built-in functions know the answer. */
static void *read_often(void *argument)
{
    static const char *const queries[][2] = {
        {"SELECT * FROM v0", "SELECT sum(i), total(r), max(i) FROM t"},
        {"SELECT gpu_sum(b), gpu_min(b) FROM u", "SELECT sum(b), min(b) FROM u"},
    };
    sqlite3 *db = open_connection(true);
    intptr_t number = (intptr_t)argument, differing = 0;

    for (int turn = 0; turn < TURNS; turn++) {
        if ((turn + number) % 3 == 0)
            free(database_query(db, "SELECT clreduce_evict()"));
        if (turn % 4 == number)
            database_run(db, "UPDATE t SET i = i + 1 WHERE rowid %% 100 = %d", turn);
        for (int i = 0; i < 2; i++) {
            database_run(db, "BEGIN");
            /* total() of reals is rounded many times: only integers are compared. */
            differing +=
                i > 0 ? !database_agrees(db, queries[i][0], queries[i][1])
                      : database_number(db, queries[i][0]) != database_number(db, queries[i][1]);
            database_run(db, "COMMIT");
        }
    }
    sqlite3_close(db);
    return (void *)differing;
}

static int run(const char *what)
{
    long first = 1, step = 1;

    find_library();
    make_database();
    run_state.db = open_connection(true);
    run_state.plain = open_connection(false);
    if (sscanf(what, "warm:%ld:%ld", &first, &step) == 2)
        run_warm(first, step);
    else if (strcmp(what, "cold") == 0)
        printf("%s\n", serves() ? "0 unserved" : "1 unserved");
    else if (strcmp(what, "room") == 0)
        run_room();
    else
        run_state.differing += failures_run_threads(read_often);
    failures_print(run_state.db, run_state.differing);
    sqlite3_close(run_state.db);
    sqlite3_close(run_state.plain);
    scratch_remove(run_state.folder);
    return run_state.differing;
}

/* ---- The test. */

static void attempt_and_check(const char *rule, const char *what, const char *shown,
                              const char *name)
{
    static int attempts;
    /* Where columns are shared nothing needs room any more. */
    const bool copies = strcmp(what, "room") == 0 || attempts++ % 2 > 0;
    const char *columns = copies ? "copied" : "auto";
    struct failures_attempt attempt;

    setenv("CLREDUCE_DEVICE_COLUMNS", columns, 1);
    failures_attempt(&attempt, rule, what);
    failures_conclude(&attempt, attempt.passed && failures_shows(&attempt, shown), name);
    tap_diag("%s, device_columns %s: %.1f s", what, columns, attempt.took);
}

static void test(void)
{
    const int count = tap_is_quick() ? 2 : 12;
    char text[100];

    random_start();
    /* Where nobody asks for the whole, calls are drawn: about so many of a thousand or two. */
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "warm:%d:%d", random_between(1, 20), tap_is_quick() ? 240 : 8);
        attempt_and_check("nothing", text, "0 left behind, 0 unserved",
                          "any call fails for a moment: the host's results, nothing is left behind,"
                          " and the device is in use again");
    }
    for (int i = 0; i < (tap_is_quick() ? 1 : 2); i++)
        attempt_and_check("nothing", "room", "some refused, 0 left behind, 0 unserved",
                          "little room: the host's results, nothing is left behind, and the device"
                          " is in use again");
    attempt_and_check("clGetPlatformIDs:-6:1:2", "cold", "0 unserved", "while it is looked for");
    snprintf(text, sizeof text, "clGetDeviceInfo:-5:%d:1", random_between(1, 13));
    attempt_and_check(text, "cold", "0 unserved", "while it is asked about itself");
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "any:%d:%d:%d", -4 - (int)random_below(3),
                 random_between(1, 400), random_between(1, 2));
        attempt_and_check(text, "cold", "0 unserved", "while it is being opened and built");
    }
    for (int i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%d", (int)random_below(1000000));
        setenv("CLR_DELAYS", text, 1);
        snprintf(text, sizeof text, "any:-5:%d:1", random_between(1, 3000));
        attempt_and_check(text, "threads", "0 results differ", "threads that are delayed");
        tap_diag("CLR_DELAYS=%s", getenv("CLR_DELAYS"));
        unsetenv("CLR_DELAYS");
    }
}

int main(int count, char **arguments)
{
    return failures_main(count, arguments, run, test);
}
