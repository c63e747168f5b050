/*
 * Accelerated views on devices that have room for two of three columns: see failures.h, whose runs
 * these are, each given what limits the room:
 *
 *     room:DEVICES     what a device refuses: clCreateBuffer fails
 *     own:DEVICES      device_memory
 *     threads:DEVICES  the same as "room"; several connections ask at once
 *
 * Asked in turn, two of the views go on being answered by devices, and nothing is copied any more.
 * The third one is the host's or, where a setting says what room there is, the host's and the
 * device's, which has as many rows as fit. Once that one is asked for without one of the others, it
 * takes the other's place. All answers are the host's bits.
 */
#include "opencl/failing_library.h"
#include "sqlite/failures.h"

#include "tap.h"

/* REALs that take 8 bytes each. */
enum {
    WIDTH = 8,
    ROWS = 40000,
    VIEWS = 3,
    ROOM = ROWS * WIDTH * 5 / 2,
    TURNS = 30,
    ROUNDS = 9,
    LIMIT_S = 60,
    BUFFERS = 2
};

#define SELECT "SELECT gpu_sum(c%d), gpu_max(c%d) FROM t"

/* ---- One run. */

static struct {
    char path[FAILURES_PATH];
    sqlite3 *db;
    char *expected[VIEWS];
    int differing;
} run_state;

/* Returns whether the answer differs from the host's. */
static int ask_by(sqlite3 *db, int view)
{
    char sql[40], *found;
    int differs;

    snprintf(sql, sizeof sql, "SELECT * FROM v%d", view);
    found = database_query(db, sql);
    differs = strcmp(found, run_state.expected[view]) != 0;
    if (differs)
        tap_diag("%s\n got: %swant: %s", sql, found, run_state.expected[view]);
    free(found);
    return differs;
}

/* Who answered: the device and the host together, if it has the first rows. */
enum answerer { BY_HOST, BY_BOTH, BY_DEVICES, ANSWERERS };

static enum answerer ask(int view)
{
    const int64_t devices = database_stat(run_state.db, "scans_on_device");
    const int64_t host = database_stat(run_state.db, "scans_on_host");

    run_state.differing += ask_by(run_state.db, view);
    if (database_stat(run_state.db, "scans_on_device") == devices)
        return BY_HOST;
    return database_stat(run_state.db, "scans_on_host") == host ? BY_DEVICES : BY_BOTH;
}

/* Returns an integer that a query gives. */
static int64_t number(const char *sql)
{
    char *text = database_query(run_state.db, sql);
    const int64_t result = strtoll(text, NULL, 10);

    free(text);
    return result;
}

/* Asks a view, and after it another one or itself, until the first one is answered so. Returns how
   often, or -1 if it never is. */
static int ask_until(enum answerer wanted, int view, int other)
{
    const double start = child_now();
    int askings = 0;

    while (child_now() - start < LIMIT_S) {
        askings++;
        if (ask(view) == wanted)
            return askings;
        ask(other);
        usleep(5000);
    }
    return -1;
}

/* Says how many of a view's answers in turn these are. The host may be sooner now and then, where a
   device is still busy. */
static const char *share(int answers)
{
    return answers == 0 ? "none" : answers > TURNS / 2 ? "most" : "some";
}

/* Asks all views in turn, and says whose answers devices gave, or a device and the host together,
   and how many bytes went there. */
static void take_turns(const char *name)
{
    const int64_t copied = database_stat(run_state.db, "column_bytes_copied");
    int answers[VIEWS][ANSWERERS] = {0};
    int64_t there = 0;
    int turn, i;

    for (turn = 0; turn < TURNS; turn++) {
        for (i = 0; i < VIEWS; i++)
            answers[i][ask(i)]++;
    }
    printf("%s: devices served", name);
    for (i = 0; i < VIEWS; i++)
        printf(" %s", share(answers[i][BY_DEVICES]));
    printf(", with the host");
    for (i = 0; i < VIEWS; i++)
        printf(" %s", share(answers[i][BY_BOTH]));
    printf(", %d bytes copied\n",
           (int)(database_stat(run_state.db, "column_bytes_copied") - copied));
    printf("%s: by the host", name);
    for (i = 0; i < VIEWS; i++) {
        char sql[100];

        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM clreduce_plan('v%d') WHERE line = 'accelerated: host'", i);
        printf(" %d", (int)number(sql));
    }
    printf("\n");
    printf("%s: columns on devices", name);
    for (i = 0; i < VIEWS; i++) {
        char sql[100];
        int64_t bytes;

        snprintf(sql, sizeof sql, "SELECT device_bytes FROM clreduce_columns WHERE column = 'c%d'",
                 i);
        bytes = number(sql);
        there += bytes;
        printf(" %s", bytes == 0 ? "none" : bytes < (int64_t)ROWS * WIDTH ? "part" : "all");
    }
    printf(", %s\n", there <= ROOM ? "in the room" : "more than in the room");
}

/* Waits until what was dropped has gone. */
static void settle(void)
{
    long before = -1;
    int quiet;

    for (quiet = 0; quiet < 20; quiet++) {
        if (live(BUFFERS) != before)
            quiet = 0;
        before = live(BUFFERS);
        usleep(1000);
    }
}

static sqlite3 *open_connection(const char *devices)
{
    sqlite3 *db = failures_open(run_state.path);

    database_set(db, "devices", devices);
    failures_use_devices(db, "60000");
    return db;
}

static void add_views(sqlite3 *db)
{
    int i;

    for (i = 0; i < VIEWS; i++)
        database_run(db, "CREATE VIRTUAL TABLE temp.v%d USING clreduce((" SELECT "))", i, i, i);
}

static void set_up(const char *devices)
{
    char sql[100];
    int i;

    failures_make_file(run_state.path, "room");
    run_state.db = open_connection(devices);
    database_run(run_state.db,
                 "CREATE TABLE t(i INTEGER PRIMARY KEY, c0, c1, c2);"
                 "WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO t"
                 " SELECT i, i * 7919 %% 65536 / 3.0, i * 31337 %% 65536 / 3.0,"
                 " i * 104729 %% 65536 / 3.0 FROM n",
                 ROWS - 1);
    for (i = 0; i < VIEWS; i++) {
        snprintf(sql, sizeof sql, SELECT, i, i);
        run_state.expected[i] = database_query(run_state.db, sql);
    }
    add_views(run_state.db);
}

static void clean_up(void)
{
    int i;

    for (i = 0; i < VIEWS; i++)
        free(run_state.expected[i]);
    sqlite3_close(run_state.db);
    unlink(run_state.path);
}

static void run_turns(bool is_set)
{
    const enum answerer third = is_set ? BY_BOTH : BY_HOST;

    printf("%d served first\n",
           (ask_until(BY_DEVICES, 0, 0) > 0) + (ask_until(BY_DEVICES, 1, 1) > 0));
    printf("third %d\n", ask_until(third, 2, 1) > 0);
    take_turns("first");
    /* The column of v1, which nobody asks for, goes. */
    printf("patience %d\n", ask_until(BY_DEVICES, 2, 0) >= 8);
    printf("second %d\n", ask_until(third, 1, 2) > 0);
    take_turns("then");
    if (is_set)
        database_set(run_state.db, "device_memory", "0");
    else
        set_room(-1);
    printf("%d served again\n", ask_until(BY_DEVICES, 1, 0) > 0);
    take_turns("last");
}

/* Each asks for the views one after the other, each for a while: columns come and go. */
static void *ask_often(void *argument)
{
    sqlite3 *db = open_connection("1");
    intptr_t number = (intptr_t)argument, differing = 0;
    int turn;

    add_views(db);
    for (turn = 0; turn < ROUNDS * TURNS; turn++) {
        differing += ask_by(db, (turn / TURNS + (int)number / 2) % VIEWS);
        usleep(200);
    }
    sqlite3_close(db);
    return (void *)differing;
}

static void run_threads(void)
{
    int served = 0, i;

    run_state.differing += failures_run_threads(ask_often);
    printf("%s\n", set_room(-1) > 0 ? "some refused" : "none refused");
    for (i = 0; i < VIEWS; i++)
        served += ask_until(BY_DEVICES, i, i) > 0;
    printf("%d served at last\n", served);
}

static int run(const char *what)
{
    const char *devices = strchr(what, ':') + 1;
    const bool is_set = what[0] == 'o';
    char text[30];
    int i, served = 0, differing;

    find_library();
    set_up(devices);
    /* What devices keep besides columns. */
    for (i = 0; i < VIEWS; i++)
        served += ask_until(BY_DEVICES, i, i) > 0;
    printf("%d served with room\n", served);
    free(database_query(run_state.db, "SELECT clreduce_evict()"));
    settle();
    snprintf(text, sizeof text, "%d", ROOM / atoi(devices));
    if (is_set)
        database_set(run_state.db, "device_memory", text);
    else
        set_room(ROOM / atoi(devices));
    if (what[0] == 't')
        run_threads();
    else
        run_turns(is_set);
    differing = run_state.differing;
    failures_print(run_state.db, differing);
    clean_up();
    return differing;
}

/* ---- The test. */

/* What a run prints, and what that says. */
struct shown {
    const char *text, *meaning;
};

/* Where devices refuse room, the third column is the host's alone. */
static const struct shown refused[] = {
    {"third 1", "the third one is the host's"},
    {"first: devices served most most none, with the host none none none, 0 bytes copied",
     "in turn these stay, and nothing is copied"},
    {"first: by the host 0 0 1\n", "the third one's plan says that it is the host's"},
    {"first: columns on devices all all none, in the room\n", "its column is on no device"},
    {"then: devices served most none most, with the host none none none, 0 bytes copied",
     "and keeps it"},
    {"then: columns on devices all none all, in the room\n", "the second one's column is gone"},
    {"then: by the host 0 1 0\n", "and the host answers it"},
};

/* Where a setting says what room there is, the device takes the third column's first rows, as
   many as have room beside the other two. */
static const struct shown divided[] = {
    {"third 1", "the device has a part of the third one"},
    {"first: devices served most most none, with the host none none most, 0 bytes copied",
     "in turn these stay, and nothing is copied"},
    {"first: by the host 0 0 0\n", "the third one's plan does not say that it is the host's alone"},
    {"first: columns on devices all all part, in the room\n",
     "as many rows of it are there as fit"},
    {"then: devices served most none most, with the host none most none, 0 bytes copied",
     "and keeps it"},
    {"then: columns on devices all part all, in the room\n",
     "a part of the second one's column is left"},
    {"then: by the host 0 0 0\n", "and both answer it"},
};

/* In all runs. */
static const struct shown always[] = {
    {"3 served with room", "all are answered by devices that have room"},
    {"2 served first", "two fit"},
    {"patience 1", "asked for without the second one, it gets its place after a while"},
    {"second 1", "and the second one what the third one had"},
    {"1 served again", "with more room it comes back"},
    {"last: devices served most most most, with the host none none none, 0 bytes copied",
     "and all stay"},
    {"last: columns on devices all all all, more than in the room\n", "wholly"},
};

static void check_shown(const struct failures_attempt *attempt, const char *what,
                        const struct shown *shown, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        tap_ok(failures_shows(attempt, shown[i].text), "%s: %s", what, shown[i].meaning);
}

static void check(const char *what, bool has_devices)
{
    struct failures_attempt attempt;

    failures_attempt(&attempt, "nothing", what);
    if (!has_devices && failures_shows(&attempt, "0 served with room"))
        return;
    failures_conclude(&attempt, attempt.passed, "the host's results");
    check_shown(&attempt, what, always, sizeof always / sizeof always[0]);
    if (what[0] == 'o')
        check_shown(&attempt, what, divided, sizeof divided / sizeof divided[0]);
    else
        check_shown(&attempt, what, refused, sizeof refused / sizeof refused[0]);
    tap_diag("%s\n%s", what, attempt.text);
}

static void test_threads(void)
{
    struct failures_attempt attempt;

    failures_attempt(&attempt, "nothing", "threads:1");
    failures_conclude(&attempt,
                      attempt.passed && failures_shows(&attempt, "some refused\n3 served at last"),
                      "connections that ask at once: the host's results, and all are served again");
}

static void test(void)
{
    test_threads();
    check("room:1", true);
    check("own:1", true);
    check("room:2", false);
    check("own:2", false);
}

int main(int count, char **arguments)
{
    setenv("POCL_DEVICES", "pthread pthread", 1);
    /* Devices that share the host's columns have room for them all. */
    setenv("CLREDUCE_DEVICE_COLUMNS", "copied", 1);
    return failures_main(count, arguments, run, test);
}
