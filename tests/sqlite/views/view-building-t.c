/*
 * Accelerated views of columns that a device alone has, asked for while it builds a program: see
 * failures.h, whose runs these are. Devices decode the columns of t, and those of u, whose b-tree
 * is an index, the host.
 *
 *     quick:KIND   the build takes less time than reading the pages took: nothing is read again
 *     slow:KIND    it takes more: the pages are read again, and the plan says why
 *
 * KIND is of the query: "sums", for which the device builds, or "groups", while it builds for
 * another query, of u.
 */
#include "opencl/failing_library.h"
#include "sqlite/failures.h"

#include "tap.h"

enum { ROWS = 40000, LIMIT_S = 60, TRIES = 8 };

/* Rules by which decoding, and a build, take their time. */
#define SLOW_DECODING "clEnqueueNDRangeKernel:hang:1:1:2000"
#define QUICK_BUILD "clBuildProgram:hang:1:1:400"
#define SLOW_BUILD "clBuildProgram:hang:1:1:3000"

/* What is decoded, and what is asked for while something is built: of so many terms that no program
   is there yet. */
static const char *const loaded = "SELECT gpu_sum(x), gpu_max(x), gpu_sum(g%s) FROM t";
static const char *const sums = "SELECT gpu_sum(x * g%s) FROM t";
static const char *const groups = "SELECT g, gpu_sum(x%s) FROM t GROUP BY g";
static const char *const others = "SELECT gpu_sum(x * g%s) FROM u";

/* ---- One run. */

static sqlite3 *db, *host; /* the latter has no device */
static int differing;

/* Writes the SELECT with so many more terms. */
static void write_select(const char *select, int terms, char sql[200])
{
    char more[100] = "";

    while (terms-- > 0)
        strcat(more, " + x");
    snprintf(sql, 200, select, more);
}

/* Makes a view of the SELECT. */
static void make(const char *name, const char *select, int terms)
{
    char sql[200];

    write_select(select, terms, sql);
    database_run(db, "DROP TABLE IF EXISTS temp.%s", name);
    database_run(db, "CREATE VIRTUAL TABLE temp.%s USING clreduce((%s))", name, sql);
}

/* Asks a view of the SELECT. Returns whether a device has answered. */
static bool ask(const char *name, const char *select, int terms)
{
    const int64_t before = database_stat(db, "scans_on_device");
    char sql[200], *found, *expected;

    snprintf(sql, sizeof sql, "SELECT * FROM %s", name);
    found = database_query(db, sql);
    write_select(select, terms, sql);
    expected = database_query(host, sql);
    differing += strcmp(found, expected) != 0;
    free(found);
    free(expected);
    return database_stat(db, "scans_on_device") > before;
}

/* Has a device decode the columns of t, and have them alone. Returns false if it never does. */
static bool decode(const char *rule)
{
    const double start = child_now();
    int64_t before;
    bool served;

    for (;;) {
        free(database_query(db, "SELECT clreduce_evict()"));
        before = database_stat(db, "bytes_decoded_on_device");
        set_rule(rule);
        served = ask("loaded", loaded, 0);
        set_rule(NULL);
        if (served && database_stat(db, "bytes_decoded_on_device") > before)
            return true;
        if (child_now() - start > LIMIT_S)
            return false;
        usleep(5000);
    }
}

/* Asks for u until a device serves: then there is nothing that it builds, and its copies of the
   columns are there. Returns false if it never does. */
static bool serve_others(void)
{
    const double start = child_now();

    make("other", others, 0);
    while (!ask("other", others, 0)) {
        if (child_now() - start > LIMIT_S)
            return false;
        usleep(5000);
    }
    return true;
}

/* Whether a view's plan has a line like that. */
static bool plan_has(const char *name, const char *pattern)
{
    char sql[200], *found, *none = database_query(db, "SELECT 0");
    bool has;

    snprintf(sql, sizeof sql, "SELECT count(*) FROM clreduce_plan('%s') WHERE line LIKE '%s'", name,
             pattern);
    found = database_query(db, sql);
    has = strcmp(found, none) != 0;
    free(found);
    free(none);
    return has;
}

/* Asks once while something is built. Returns whether nothing was read again. */
static bool ask_while_building(bool is_slow, bool is_grouped, int terms)
{
    const char *select = is_grouped ? groups : sums;
    bool served, is_over, has_read;
    int64_t read;

    printf("%s\n", decode(is_slow ? "nothing" : SLOW_DECODING) ? "decoded" : "not decoded");
    if (is_grouped)
        printf("%s\n", serve_others() ? "served" : "not served");
    make("asked", select, terms);
    make("building", others, terms);
    set_rule(is_slow ? SLOW_BUILD : QUICK_BUILD);
    if (is_grouped) {
        ask("building", others, terms);
        usleep(50000);
    }
    read = database_stat(db, "bytes_decoded");
    served = ask("asked", select, terms);
    is_over = database_stat(db, "is_building") == 0;
    has_read = database_stat(db, "bytes_decoded") > read;
    printf("%s, the build is %s, %s\n", served ? "by a device" : "by the host",
           is_over ? "over" : "under way",
           plan_has("asked", "%has lost%") ? "lost"
           : !has_read                     ? "not read again"
           : plan_has("asked", "%: the device that has the columns was building programs")
               ? "read as the device was building"
               : "read again");
    set_rule(NULL);
    return !has_read;
}

static int run(const char *what)
{
    const bool is_slow = what[0] == 's', is_grouped = strstr(what, ":groups") != NULL;
    const char *parent = getenv("TMPDIR");
    char path[300];
    bool is_done = false;
    int file, i;

    find_library();
    snprintf(path, sizeof path, "%s/clreduce-building-XXXXXX", parent != NULL ? parent : "/tmp");
    file = mkstemp(path);
    if (file < 0 || sqlite3_open(path, &db) != SQLITE_OK || sqlite3_open(path, &host) != SQLITE_OK)
        tap_bail("no database in %s", path);
    close(file);
    database_set(host, "device", "host");
    database_set(db, "host_threshold", "1");
    database_set(db, "view_threshold", "0");
    database_set(db, "start_after", "0");
    database_set(db, "device_timeout", "60000");
    database_use_device(db);
    database_run(db,
                 "CREATE TABLE t(i INTEGER PRIMARY KEY, x REAL, g INT);"
                 "CREATE TABLE u(i INTEGER PRIMARY KEY, x REAL, g INT) WITHOUT ROWID;"
                 "WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO t"
                 " SELECT i, i * 7919 %% 65536 / 3.0, i %% 5 FROM n;"
                 "INSERT INTO u SELECT * FROM t",
                 ROWS - 1);
    make("loaded", loaded, 0);
    /* On a busy machine a build may well take longer than the decoding did. */
    for (i = 1; i <= (is_slow ? 1 : TRIES) && !is_done; i++)
        is_done = ask_while_building(is_slow, is_grouped, i);
    failures_print(db, differing);
    sqlite3_close(host);
    sqlite3_close(db);
    unlink(path);
    return differing;
}

/* ---- The test. */

static void check(const char *what, const char *shown, const char *name)
{
    struct failures_attempt attempt;

    failures_attempt(&attempt, "nothing", what);
    failures_conclude(&attempt, attempt.passed, "the host's results");
    tap_ok(failures_shows(&attempt, shown), "%s: %s", what, name);
    tap_ok(!failures_shows(&attempt, "lost"), "%s: no device has lost anything", what);
    tap_diag("%s\n%s", what, attempt.text);
}

static void test(void)
{
    check("quick:sums", "by a device, the build is over, not read again",
          "the build is waited for, and the device answers");
    check("quick:groups", "not read again", "the build is waited for, and the columns are fetched");
    check("slow:sums", "by the host, the build is under way, read as the device was building",
          "the pages are read meanwhile, and the plan says why");
}

int main(int count, char **arguments)
{
    /* Devices that share the host's columns have none alone. */
    setenv("CLREDUCE_DEVICE_COLUMNS", "copied", 1);
    return failures_main(count, arguments, run, test);
}
