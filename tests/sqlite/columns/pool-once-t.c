/*
 * Connections that need the same columns at the same time: one loads them, and the others wait and
 * find them. That answers are right, whoever waits for whom, is shown by pool-waits-t.c.
 */
#include "sqlite/askers.h"
#include "sqlite/slow_reads.h"

enum { THREADS = 8, ROWS = 20000, PROMPT_MS = 20000, COMMITS = 4, LIMIT_S = 300 };

static const char *const modes[] = {"DELETE", "WAL"};

/* All ask the same view at once. Returns how many answers were wrong. */
static int ask_together(sqlite3 *const db[], int count, int view)
{
    struct asker askers[THREADS];
    int i, wrong = 0;

    for (i = 0; i < count; i++)
        asker_start(&askers[i], db[i], view);
    for (i = 0; i < count; i++)
        wrong += asker_join(&askers[i]) != POOL_SAME;
    return wrong;
}

/* What was read of the file for views of these connections. */
static int64_t decoded(sqlite3 *const db[], int count)
{
    int64_t sum = 0;
    int i;

    for (i = 0; i < count; i++)
        sum += database_stat(db[i], "bytes_decoded");
    return sum;
}

static void open_all(sqlite3 *db[], int count, int file)
{
    int i;

    for (i = 0; i < count; i++)
        db[i] = asker_connect(file);
}

static void close_all(sqlite3 *db[], int count)
{
    int i;

    for (i = 0; i < count; i++) {
        if (sqlite3_close(db[i]) != SQLITE_OK)
            tap_bail("connection %d is still in use", i);
    }
}

/* One waits while another loads, and reads nothing. */
static void test_waits(int file)
{
    sqlite3 *db[2];
    struct asker loader, waiter;

    open_all(db, 2, file);
    database_run(db[0], "SELECT clreduce_evict()");
    slow_reads_stop_next();
    asker_start(&loader, db[0], 0);
    if (!slow_reads_wait_stopped(PROMPT_MS))
        tap_bail("the load reads nothing");
    asker_start(&waiter, db[1], 0);
    tap_ok(!asker_is_done(&waiter, 300, false), "%s: one waits for another's load", modes[file]);
    slow_reads_release();
    tap_ok(asker_join(&waiter) == POOL_SAME && asker_join(&loader) == POOL_SAME,
           "%s: both are right", modes[file]);
    tap_ok(database_stat(db[0], "bytes_decoded") > 0, "%s: the first has read", modes[file]);
    tap_is_int64(database_stat(db[1], "bytes_decoded"), 0, "%s: the second has not", modes[file]);
    close_all(db, 2);
}

/* Many at once: what they read together is what one alone reads. */
static void test_many(int file)
{
    sqlite3 *db[THREADS];
    int64_t alone, together, before;
    int view, commit, wrong;

    open_all(db, THREADS, file);
    slow_reads_delay(500);
    for (view = 0; view < POOL_VIEWS; view++) {
        before = decoded(db, THREADS);
        database_run(db[0], "SELECT clreduce_evict()");
        wrong = ask_together(db, 1, view);
        alone = decoded(db, THREADS) - before;
        before = decoded(db, THREADS);
        database_run(db[0], "SELECT clreduce_evict()");
        wrong += ask_together(db, THREADS, view);
        together = decoded(db, THREADS) - before;
        tap_is_int64(wrong, 0, "%s: wrong answers of view %d", modes[file], view);
        /* SQLite may run the SELECT of one that is not asked again. */
        tap_ok(alone == 0 || together <= alone, "%s: all read %lld bytes of it, one %lld",
               modes[file], (long long)together, (long long)alone);
    }
    /* A commit changes some pages; what one alone reads of it, all together read. */
    for (commit = 0; file == 1 && commit < COMMITS; commit++) {
        database_run(db[commit], "UPDATE t SET a = a + 1 WHERE k < 300");
        before = decoded(db, THREADS);
        wrong = ask_together(db, 1, 0);
        alone = decoded(db, THREADS) - before;
        database_run(db[commit], "UPDATE t SET a = a - 1 WHERE k < 300");
        before = decoded(db, THREADS);
        wrong += ask_together(db, THREADS, 0);
        together = decoded(db, THREADS) - before;
        tap_is_int64(wrong, 0, "wrong answers after commit %d", commit);
        tap_ok(alone > 0 && together <= alone, "after commit %d all read %lld bytes, one %lld",
               commit, (long long)together, (long long)alone);
    }
    slow_reads_delay(0);
    close_all(db, THREADS);
}

int main(void)
{
    int file;

    slow_reads_begin(LIMIT_S);
    database_register();
    pool_begin();
    for (file = 0; file < 2; file++) {
        pool_make(file, modes[file], ROWS);
        test_waits(file);
        test_many(file);
    }
    pool_end();
    return tap_done();
}
