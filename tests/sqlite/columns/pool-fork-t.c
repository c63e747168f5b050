/*
 * fork() in a process whose connections share columns: when they are closed, while they are there,
 * while one is in the middle of its rows, and while another thread loads some. A child's own
 * connections answer as they should, whatever its parent's threads were doing; it ends well or is
 * killed; and the parent's go on.
 */
#include "child.h"
#include "sqlite/askers.h"
#include "sqlite/slow_reads.h"

/*
 * The address sanitizer's allocator has locks that fork() knows nothing of: where a thread holds
 * one, the child waits for it for ever. And the thread sanitizer ends a child of a process with
 * threads that starts one. That says nothing about the extension.
 */
#ifdef __SANITIZE_ADDRESS__
enum { LIMIT_S = 8, MAY_HANG = true };
#else
enum { LIMIT_S = 60, MAY_HANG = false };
#endif
#ifdef __SANITIZE_THREAD__
enum { MAY_HAVE_THREADS = false };
#else
enum { MAY_HAVE_THREADS = true };
#endif

enum { ROWS = 4000, PROMPT_MS = 10000 };

static const char *const modes[] = {"DELETE", "WAL"};
static int file; /* the one that the child opens */
static bool kills_itself;

/* In the child: connections of its own. */
static void ask_in_child(void)
{
    sqlite3 *db[2];

    child_leaves_threads_behind();
    for (int i = 0; i < 2; i++)
        db[i] = asker_connect(file);
    for (int i = 0; i < 2; i++)
        child_ok(pool_all_right(db[i]), "views in the child");
    child_ok(pool_try(db[0], "SELECT clreduce_evict()") == POOL_SAME, "evicted in the child");
    child_ok(pool_try(db[0], "SELECT * FROM clreduce_columns") == POOL_SAME, "listed there");
    for (int i = 0; i < 2; i++)
        child_ok(pool_all_right(db[i]), "views in the child, after that");
    if (kills_itself)
        raise(SIGKILL);
    for (int i = 0; i < 2; i++)
        child_ok(sqlite3_close(db[i]) == SQLITE_OK, "closed in the child");
}

/* Runs such a child; returns whether it did well, or was killed as it was to be. */
static bool run_child(bool killed)
{
    int status;
    pid_t child;

    kills_itself = killed;
    child = child_start(ask_in_child, LIMIT_S);
    while (waitpid(child, &status, 0) < 0)
        TAP_NEED(errno == EINTR, "waitpid: %s", strerror(errno));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM && MAY_HANG)
        return true;
    if (WIFSIGNALED(status) && !(killed && WTERMSIG(status) == SIGKILL))
        tap_diag("the child was ended by signal %d", WTERMSIG(status));
    return killed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                  : WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

/* Between two queries, and in the middle of rows that another connection has yet to take. */
static void test_quiet(void)
{
    sqlite3 *db[3];
    sqlite3_stmt *query = NULL;
    int rows = 0;

    for (int i = 0; i < 3; i++)
        db[i] = asker_connect(file);
    tap_ok(pool_all_right(db[0]) && pool_all_right(db[1]), "%s: before", modes[file]);
    for (int i = 0; i < 4; i++)
        tap_ok(run_child(i % 2 != 0), "%s: child %d", modes[file], i);
    tap_ok(pool_all_right(db[0]) && pool_all_right(db[1]), "%s: after the children", modes[file]);
    database_run(db[1], "UPDATE t SET a = a + 1 WHERE k %% 3 = 0");
    tap_ok(pool_all_right(db[0]) && pool_all_right(db[2]), "%s: and a change", modes[file]);
    query = database_prepare(db[0], "SELECT * FROM v4");
    while (sqlite3_step(query) == SQLITE_ROW) {
        if (rows++ == 5)
            tap_ok(run_child(false), "%s: a child in the middle of rows", modes[file]);
    }
    sqlite3_finalize(query);
    tap_is_int64(rows, ROWS / 50, "%s: all rows", modes[file]);
    for (int i = 0; i < 3; i++)
        tap_ok(sqlite3_close(db[i]) == SQLITE_OK, "%s: connection %d", modes[file], i);
}

/* Asks and closes, time and again: then a thread waits until the columns may go. It takes a moment
   to begin with that. */
static bool ask_and_close(void)
{
    enum { TIMES = 3, MOMENT_MS = 50 };
    bool right = true;
    sqlite3 *db;

    for (int i = 0; i < TIMES; i++) {
        db = asker_connect(file);
        right = pool_all_right(db) && right;
        right = sqlite3_close(db) == SQLITE_OK && right;
        sqlite3_sleep(MOMENT_MS);
    }
    return right;
}

static void ask_and_close_in_child(void)
{
    child_leaves_threads_behind();
    child_ok(ask_and_close(), "asked and closed in the child");
    child_ok(child_run(ask_in_child, LIMIT_S), "a child of the child");
    child_ok(ask_and_close(), "asked and closed after that");
}

/* Servers that fork do this first: the parent has asked, and closed its connections. Its one thread
   is ours then; children have connections of their own. */
static void test_closed(void)
{
    kills_itself = false;
    tap_ok(ask_and_close(), "%s: asked and closed", modes[file]);
    tap_ok(child_run(ask_and_close_in_child, LIMIT_S), "%s: a child after that", modes[file]);
    tap_ok(ask_and_close(), "%s: asked and closed again", modes[file]);
}

/*
 * While another thread is in the middle of a load. In the child nobody goes on with it.
 * Children that SQLite itself lets wait, for it has locks of its own, there are none: the thread
 * holds those of its connection alone.
 */
static void test_loading(void)
{
    sqlite3 *db[2];
    struct asker loader;

    for (int i = 0; i < 2; i++)
        db[i] = asker_connect(file);
    database_run(db[0], "SELECT clreduce_evict()");
    slow_reads_stop_next();
    asker_start(&loader, db[0], 0);
    TAP_NEED(slow_reads_wait_stopped(PROMPT_MS), "the load reads nothing");
    tap_ok(run_child(false), "%s: a child amid another thread's load", modes[file]);
    tap_ok(run_child(true), "%s: and one that is killed", modes[file]);
    slow_reads_release();
    tap_ok(asker_join(&loader) == POOL_SAME, "%s: the load is right", modes[file]);
    for (int i = 0; i < 2; i++)
        tap_ok(pool_all_right(db[i]) && sqlite3_close(db[i]) == SQLITE_OK, "%s: connection %d",
               modes[file], i);
}

TAP_TEST(all_tests)
{
    if (!sqlite3_threadsafe())
        tap_skip_all("this SQLite is built for a single thread");
    database_register();
    pool_begin();
    for (file = 0; file < 2; file++) {
        pool_make(file, modes[file], ROWS);
        test_closed();
        test_quiet();
    }
    if (MAY_HAVE_THREADS && slow_reads_install()) {
        for (file = 0; file < 2; file++)
            test_loading();
    } else {
        tap_skip(10, "no read can be held, or no child can be left alone");
    }
    pool_end();
}
