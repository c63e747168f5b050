/*
 * Accelerated views on devices that have room for two of three columns: see failures.h, whose runs
 * these are, each given what limits the room:
 *
 *     room:DEVICES     what a device refuses: clCreateBuffer fails
 *     own:DEVICES      device_memory
 *     threads:DEVICES  the same as "room"; several connections ask at once
 *
 * Asked in turn, two of the views go on being answered by devices, the third one by the host, and
 * nothing is copied any more. Once that one is asked for without one of the others, it takes the
 * other's place. All answers are the host's bits.
 */
#include "opencl/failing_library.h"
#include "sqlite/failures.h"

/* REALs that take 8 bytes each. */
enum {
    ROWS = 40000,
    VIEWS = 3,
    ROOM = ROWS * 20,
    TURNS = 30,
    ROUNDS = 9,
    LIMIT_S = 60,
    BUFFERS = 2
};

#define SELECT "SELECT gpu_sum(c%d), gpu_max(c%d) FROM t"

/* ---- One run. */

static struct {
    char path[SCRATCH_PATH];
    sqlite3 *db;
    char *expected[VIEWS];
    int differing;
} run_state;

/* Returns whether the answer differs from the host's. */
static int ask_by(sqlite3 *db, int view)
{
    char sql[40];

    snprintf(sql, sizeof sql, "SELECT * FROM v%d", view);
    return !database_gives(db, sql, run_state.expected[view]);
}

static void ask(int view)
{
    run_state.differing += ask_by(run_state.db, view);
}

/* Asks a view, and after it another one or itself, until devices answer the first one. Returns how
   often, or -1 if they never do. */
static int ask_until_served(int view, int other)
{
    const double start = child_now();
    int64_t before;
    int askings = 0;

    while (child_now() - start < LIMIT_S) {
        before = database_stat(run_state.db, "scans_on_device");
        askings++;
        ask(view);
        if (database_stat(run_state.db, "scans_on_device") > before)
            return askings;
        ask(other);
        usleep(5000);
    }
    return -1;
}

/* Asks all views in turn, and says whose answers devices gave, and how many bytes went there. */
static void take_turns(const char *name)
{
    const int64_t copied = database_stat(run_state.db, "column_bytes_copied");
    int64_t served[VIEWS] = {0}, before;

    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < VIEWS; i++) {
            before = database_stat(run_state.db, "scans_on_device");
            ask(i);
            served[i] += database_stat(run_state.db, "scans_on_device") - before;
        }
    }
    printf("%s: devices served", name);
    for (int i = 0; i < VIEWS; i++)
        printf(" %s", served[i] == 0 ? "none" : served[i] > TURNS / 2 ? "most" : "some");
    printf(", %d bytes copied\n",
           (int)(database_stat(run_state.db, "column_bytes_copied") - copied));
    printf("%s: by the host", name);
    for (int i = 0; i < VIEWS; i++) {
        char sql[100];

        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM clreduce_plan('v%d') WHERE line = 'accelerated: host'", i);
        printf(" %d", (int)database_number(run_state.db, sql));
    }
    printf("\n");
    printf("%s: columns on devices %d %d %d\n", name,
           (int)database_number(run_state.db,
                                "SELECT device_bytes FROM clreduce_columns WHERE column = 'c0'"),
           (int)database_number(run_state.db,
                                "SELECT device_bytes FROM clreduce_columns WHERE column = 'c1'"),
           (int)database_number(run_state.db,
                                "SELECT device_bytes FROM clreduce_columns WHERE column = 'c2'"));
}

/* Waits until what was dropped has gone. */
static void settle(void)
{
    long before = -1;

    for (int quiet = 0; quiet < 20; quiet++) {
        if (live(BUFFERS) != before)
            quiet = 0;
        before = live(BUFFERS);
        usleep(1000);
    }
}

static sqlite3 *open_connection(const char *devices)
{
    sqlite3 *db = database_open_at(run_state.path, 0, NULL);

    database_set(db, "devices", devices);
    failures_use_devices(db, "60000");
    return db;
}

static void add_views(sqlite3 *db)
{
    for (int i = 0; i < VIEWS; i++)
        database_run(db, "CREATE VIRTUAL TABLE temp.v%d USING clreduce((" SELECT "))", i, i, i);
}

static void set_up(const char *devices)
{
    char sql[100];

    scratch_file(run_state.path, "room");
    run_state.db = open_connection(devices);
    database_run(run_state.db,
                 "CREATE TABLE t(i INTEGER PRIMARY KEY, c0, c1, c2);"
                 "WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO t"
                 " SELECT i, i * 7919 %% 65536 / 3.0, i * 31337 %% 65536 / 3.0,"
                 " i * 104729 %% 65536 / 3.0 FROM n",
                 ROWS - 1);
    for (int i = 0; i < VIEWS; i++) {
        snprintf(sql, sizeof sql, SELECT, i, i);
        run_state.expected[i] = database_query(run_state.db, sql);
    }
    add_views(run_state.db);
}

static void clean_up(void)
{
    for (int i = 0; i < VIEWS; i++)
        free(run_state.expected[i]);
    sqlite3_close(run_state.db);
    unlink(run_state.path);
}

static void run_turns(bool is_set)
{
    printf("%d served first\n", (ask_until_served(0, 0) > 0) + (ask_until_served(1, 1) > 0));
    take_turns("first");
    /* The column of v1, which nobody asks for, goes. The last of the turns was the first of eight
       askings, and the last of these may be served by the copy that it has made. */
    printf("patience %d\n", ask_until_served(2, 0) >= 7);
    take_turns("then");
    if (is_set)
        database_set(run_state.db, "device_memory", "0");
    else
        set_room(-1);
    printf("%d served again\n", ask_until_served(1, 0) > 0);
    take_turns("last");
}

/* Each asks for the views one after the other, each for a while: columns come and go. */
static void *ask_often(void *argument)
{
    sqlite3 *db = open_connection("1");
    intptr_t number = (intptr_t)argument, differing = 0;

    add_views(db);
    for (int turn = 0; turn < ROUNDS * TURNS; turn++) {
        differing += ask_by(db, (turn / TURNS + (int)number / 2) % VIEWS);
        usleep(200);
    }
    sqlite3_close(db);
    return (void *)differing;
}

static void run_threads(void)
{
    int served = 0;

    run_state.differing += failures_run_threads(ask_often);
    printf("%s\n", set_room(-1) > 0 ? "some refused" : "none refused");
    for (int i = 0; i < VIEWS; i++)
        served += ask_until_served(i, i) > 0;
    printf("%d served at last\n", served);
}

static int run(const char *what)
{
    const char *devices = strchr(what, ':') + 1;
    const bool is_set = what[0] == 'o';
    char text[30];
    int served = 0, differing;

    find_library();
    set_up(devices);
    /* What devices keep besides columns. */
    for (int i = 0; i < VIEWS; i++)
        served += ask_until_served(i, i) > 0;
    printf("%d devices\n", (int)database_number(
                               run_state.db, "SELECT count(*) FROM clreduce_devices WHERE in_use"));
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

/* may_lack: there may be fewer devices alike than the run is for. */
static void check(const char *what, bool may_lack)
{
    static const char *const shown[][2] = {
        {"3 served with room", "all are answered by devices that have room"},
        {"2 served first", "two fit"},
        {"first: devices served most most none, 0 bytes copied",
         "in turn these stay, and nothing is copied"},
        {"first: by the host 0 0 1\n", "the third one's plan says that it is the host's"},
        {"first: columns on devices 320000 320000 0\n", "its column is on no device"},
        {"patience 1", "asked for without the second one, it gets its place after a while"},
        {"then: devices served most none most, 0 bytes copied", "and keeps it"},
        {"then: columns on devices 320000 0 320000\n", "the second one's column is gone"},
        {"then: by the host 0 1 0\n", "and the host answers it"},
        {"1 served again", "with more room it comes back"},
        {"last: devices served most most most, 0 bytes copied", "and all stay"},
    };
    struct failures_attempt attempt;

    failures_attempt(&attempt, "nothing", what);
    if (may_lack && !failures_shows(&attempt, "2 devices\n")) {
        tap_skip(1, "%s: there are no two devices alike", what);
        return;
    }
    failures_conclude(&attempt, attempt.passed, "the host's results");
    TAP_EACH (i, shown)
        tap_ok(failures_shows(&attempt, shown[i][0]), "%s: %s", what, shown[i][1]);
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
    check("room:1", false);
    check("own:1", false);
    check("room:2", true);
    check("own:2", true);
}

int main(int count, char **arguments)
{
    setenv("POCL_DEVICES", "pthread pthread", 1);
    /* Devices that share the host's columns have room for them all. */
    setenv("CLREDUCE_DEVICE_COLUMNS", "copied", 1);
    return failures_main(count, arguments, run, test);
}
