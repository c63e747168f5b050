/*
 * Two connections to one file without memory: each allocation of the extension, and each of
 * SQLite's, fails once in what they do. Whoever it hits is told so or right, and right when it asks
 * again; the other is right; and nothing is left locked, or in memory when both are closed.
 */
#include "base/memory.h"
#include "sqlite/nomem.h"
#include "sqlite/pool.h"

/* How many allocations at most are passed from one that fails to the next, at random: of SQLite's
   and of the extension's. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { MOST_SKIPPED = 2000, OF_OURS = 100, MOST_SKIPPED_IN_FULL = 600, OF_OURS_IN_FULL = 8 };
#else
enum { MOST_SKIPPED = 800, OF_OURS = 30, MOST_SKIPPED_IN_FULL = 200, OF_OURS_IN_FULL = 1 };
#endif
enum { ROWS = 120 };

static const char *const modes[] = {"DELETE", "WAL"};

/* What happens: which connection does it, and what: a view's number, all of them, or SQL. */
enum { VIEWS = POOL_VIEWS, ALL, RUN }; /* VIEWS: they are created */

static const struct step {
    int connection, what;
    const char *sql;
} steps[] = {
    {0, VIEWS, NULL},
    {0, ALL, NULL},
    {1, VIEWS, NULL},
    {1, ALL, NULL},
    {0, 0, NULL},
    {0, RUN, "UPDATE t SET a = a + 1 WHERE k = 7"},
    {1, ALL, NULL},
    {0, ALL, NULL},
    {1, RUN, "SELECT clreduce_evict()"},
    {0, 0, NULL},
    {1, 2, NULL},
    {0, 2, NULL},
    {1, RUN, "SELECT clreduce_set('column_memory', 2000)"},
    {1, ALL, NULL},
    {0, ALL, NULL},
    {0, RUN, "SELECT clreduce_set('column_memory', 0)"},
    {1, RUN, "UPDATE t SET b = b + 1 WHERE k % 5 = 0"},
    {1, 1, NULL},
    {0, ALL, NULL},
    {0, RUN, "SELECT * FROM clreduce_columns"},
};

static enum pool_answer do_step(sqlite3 *db, const struct step *step)
{
    enum pool_answer answer = POOL_SAME;

    if (step->what == VIEWS)
        return pool_judge(pool_create_views(db), "the views", sqlite3_errmsg(db));
    if (step->what == RUN)
        return pool_try(db, step->sql);
    if (step->what != ALL)
        return pool_ask(db, step->what);
    for (int i = 0; i < POOL_VIEWS && answer == POOL_SAME; i++)
        answer = pool_ask(db, i);
    return answer;
}

/* Runs all steps, each again if there was no memory for it. Returns how many had none. */
static int run_steps(sqlite3 *const db[2], int (*fail_after)(long), long after, bool *failed)
{
    enum pool_answer answer;
    int told = 0;

    *failed = false;
    fail_after(after);
    TAP_EACH (i, steps) {
        answer = do_step(db[steps[i].connection], &steps[i]);
        if (answer == POOL_NOMEM) {
            told++;
            *failed = fail_after(-1) || *failed;
            answer = do_step(db[steps[i].connection], &steps[i]);
        }
        if (answer != POOL_SAME)
            tap_ok(false, "allocation %ld: step %zu gives %d", after, i, answer);
    }
    *failed = fail_after(-1) || *failed;
    return told;
}

/* The life of two connections, in which that allocation fails, or none if after < 0. Returns how
   often they were told, and sets *failed to whether it did. */
static int live(int file, sqlite3 *other, int (*fail_after)(long), long after, bool *failed)
{
    const int last = after % 2 == 0; /* either is closed first, and the one that is left is right */
    sqlite3 *db[2];
    int told;

    for (int i = 0; i < 2; i++) {
        db[i] = pool_connect(file, 0);
        pool_set_retention(db[i], "0");
    }
    told = run_steps(db, fail_after, after, failed);
    if (sqlite3_exec(other, "BEGIN EXCLUSIVE; COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        tap_ok(false, "allocation %ld: %s", after, sqlite3_errmsg(other));
    if (sqlite3_close(db[1 - last]) != SQLITE_OK || !pool_all_right(db[last]))
        tap_ok(false, "allocation %ld: after one is closed", after);
    if (sqlite3_close(db[last]) != SQLITE_OK)
        tap_ok(false, "allocation %ld: the connection is still in use", after);
    return told;
}

static void test(int file, int (*fail_after)(long), const char *whose, int most)
{
    sqlite3 *other = pool_open(file, 0);
    long after, failures = 0, told = 0;
    bool failed;

    /* What SQLite and the other connection keep for ever they have then. */
    told = live(file, other, fail_after, -1, &failed);
    failed = true;
    for (after = 0; failed; after += random_between(1, most)) {
        const sqlite3_int64 before = sqlite3_memory_used();

        told += live(file, other, fail_after, after, &failed);
        failures += failed;
        if (sqlite3_memory_used() != before)
            tap_ok(false, "allocation %ld: memory is left over", after);
    }
    tap_ok(failures > 0 && told > 0, "%s: %ld of %ld allocations of %s, %ld of them told",
           modes[file], failures, after, whose, told);
    sqlite3_close(other);
}

TAP_TEST(all_tests)
{
    const bool quick = tap_is_quick();

    nomem_replace_malloc();
    database_register();
    pool_begin();
    for (int file = 0; file < 2; file++) {
        pool_make(file, modes[file], ROWS);
        test(file, clr_memory_fail_after, "the extension", quick ? OF_OURS : OF_OURS_IN_FULL);
        test(file, nomem_sqlite_fail_after, "SQLite", quick ? MOST_SKIPPED : MOST_SKIPPED_IN_FULL);
    }
    pool_end();
}
