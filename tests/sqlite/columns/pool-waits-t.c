/*
 * Connections that need the columns which another one is loading at that moment: whoever waits can
 * be interrupted or cancelled, whoever loads may fail, and no two wait for each other, in one
 * thread or two. Each answer that comes is that of the SELECT; and what one loads no other reads.
 *
 * A load is held in the middle by a read that does not return.
 */
#include "sqlite/askers.h"
#include "sqlite/slow_reads.h"

enum { ROWS = 4000, MANY_ROWS = 20000, PROMPT_MS = 20000, LIMIT_S = 300, ROUNDS = 40 };
enum { THREADS = 8, WAITERS = 4, COMMITS = 4 };

static const char *const modes[] = {"DELETE", "WAL"};

/* Of the test that runs, to its file. */
static sqlite3 *db[THREADS];

/* Begins to load what view 0 needs, and stops amid that. */
static void start_loader(struct asker *loader)
{
    database_run(db[0], "SELECT clreduce_evict()");
    slow_reads_stop_next();
    asker_start(loader, db[0], 0);
    TAP_NEED(slow_reads_wait_stopped(PROMPT_MS), "the load reads nothing");
}

/* A waiter is interrupted, while the load goes on. */
static void test_interrupted(int file)
{
    struct asker loader, waiter;
    enum pool_answer answer;
    bool prompt;

    start_loader(&loader);
    asker_start(&waiter, db[1], 0);
    asker_is_done(&waiter, 100, false);
    prompt = asker_is_done(&waiter, PROMPT_MS, true);
    tap_ok(prompt, "%s: it ends while the other loads", modes[file]);
    slow_reads_release();
    answer = asker_join(&waiter);
    tap_ok(answer == POOL_SAME || answer == POOL_INTERRUPTED, "%s: interrupted, or right: %d",
           modes[file], answer);
    tap_ok(asker_join(&loader) == POOL_SAME, "%s: the load goes on", modes[file]);
    tap_ok(pool_all_right(db[1]) && pool_all_right(db[0]), "%s: both are right", modes[file]);
}

/* The loader is interrupted, and two that wait are not. */
static void test_loader_interrupted(int file)
{
    struct asker loader, waiters[2];
    enum pool_answer answer;

    start_loader(&loader);
    for (int i = 0; i < 2; i++)
        asker_start(&waiters[i], db[1 + i], 0);
    asker_is_done(&waiters[0], 100, false);
    sqlite3_interrupt(db[0]);
    slow_reads_release();
    answer = asker_join(&loader);
    tap_ok(answer == POOL_SAME || answer == POOL_INTERRUPTED, "%s: the loader is interrupted: %d",
           modes[file], answer);
    for (int i = 0; i < 2; i++)
        tap_ok(asker_join(&waiters[i]) == POOL_SAME, "%s: waiter %d is right", modes[file], i);
    for (int i = 0; i < 3; i++)
        tap_ok(pool_all_right(db[i]), "%s: connection %d", modes[file], i);
}

/* A thread that may be cancelled: it asks view 0, and does nothing else that is a cancellation
   point. */
static void *ask_cancelled(void *argument)
{
    struct asker *self = argument;
    sqlite3_stmt *query = NULL;
    int rc = sqlite3_prepare_v2(self->db, "SELECT * FROM v0", -1, &query, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(query);
    sqlite3_finalize(query);
    self->answer = rc == SQLITE_ROW ? POOL_SAME : POOL_OTHER;
    pthread_testcancel();
    return NULL;
}

static void start_cancelled(struct asker *self, int number)
{
    self->db = db[number];
    self->answer = POOL_BUSY;
    atomic_init(&self->done, false);
    TAP_NEED(pthread_create(&self->thread, NULL, ask_cancelled, self) == 0, "no thread");
}

/* The thread that loads and another one that waits are cancelled: nothing stays locked, and a third
   gets its answer. */
static void test_cancelled(int file)
{
    struct asker cancelled[2], third;
    void *result;

    database_run(db[0], "SELECT clreduce_evict()");
    slow_reads_stop_next();
    start_cancelled(&cancelled[0], 0);
    TAP_NEED(slow_reads_wait_stopped(PROMPT_MS), "the load reads nothing");
    start_cancelled(&cancelled[1], 1);
    asker_start(&third, db[2], 0);
    asker_is_done(&third, 100, false);
    for (int i = 0; i < 2; i++)
        pthread_cancel(cancelled[i].thread);
    asker_is_done(&third, 100, false);
    slow_reads_release();
    tap_ok(asker_join(&third) == POOL_SAME, "%s: others go on", modes[file]);
    for (int i = 0; i < 2; i++) {
        pthread_join(cancelled[i].thread, &result);
        tap_ok(result == PTHREAD_CANCELED && cancelled[i].answer == POOL_SAME,
               "%s: who is cancelled has the row first", modes[file]);
    }
    for (int i = 0; i < 3; i++)
        tap_ok(pool_all_right(db[i]), "%s: connection %d", modes[file], i);
}

/* A connection whose busy handler does not wait. */
static void test_impatient(int file)
{
    struct asker loader, waiter;
    enum pool_answer answer;

    sqlite3_busy_timeout(db[1], 0);
    start_loader(&loader);
    asker_start(&waiter, db[1], 0);
    if (!asker_is_done(&waiter, 500, false))
        tap_diag("it waits, whatever its busy handler says");
    slow_reads_release();
    answer = asker_join(&waiter);
    tap_ok(answer == POOL_SAME || answer == POOL_BUSY, "%s: right or busy: %d", modes[file],
           answer);
    tap_ok(asker_join(&loader) == POOL_SAME, "%s: the loader", modes[file]);
}

/* What others do while one loads, and none of it waits for that. */
static void *meddle(void *unused)
{
    sqlite3 *passing = asker_connect(0);

    (void)unused;
    database_run(db[1], "SELECT * FROM clreduce_columns; SELECT clreduce_set('column_memory', 1)");
    database_run(db[1], "SELECT clreduce_evict(); SELECT clreduce_set('column_memory', 0)");
    database_run(db[1], "SELECT * FROM clreduce_stats");
    sqlite3_close(passing);
    return NULL;
}

static void test_meddled(int file)
{
    struct asker loader;
    pthread_t thread;

    start_loader(&loader);
    TAP_NEED(pthread_create(&thread, NULL, meddle, NULL) == 0, "no thread");
    pthread_join(thread, NULL); /* without an end, if it waits */
    tap_ok(true, "%s: listed, set and evicted while another loads", modes[file]);
    slow_reads_release();
    tap_ok(asker_join(&loader) == POOL_SAME, "%s: the load is right", modes[file]);
    tap_ok(pool_all_right(db[1]) && pool_all_right(db[0]), "%s: both are right", modes[file]);
}

/* ---- Closing, while another thread cannot end its refresh. */

static atomic_bool are_closed;

static void *close_both(void *argument)
{
    sqlite3 **closed = argument;

    for (int i = 0; i < 2; i++)
        TAP_NEED(sqlite3_close(closed[i]) == SQLITE_OK, "a connection is in use");
    atomic_store(&are_closed, true);
    return NULL;
}

/* Closes connections while a refresh stands still at read number `read`: one to that file, which
   has used its columns, and one to another file. Returns whether it came to that read, and *prompt
   whether they were closed meanwhile. */
static bool close_amid_refresh(int read, bool *prompt)
{
    sqlite3 *first = asker_connect(1), *writer = pool_connect(1, 0);
    sqlite3 *closed[] = {asker_connect(1), asker_connect(0)};
    struct asker refresher;
    pthread_t closer;
    bool stopped;
    int left = PROMPT_MS, wrong = 0;

    database_run(writer, "UPDATE t SET a = a + 1 WHERE k = 10"); /* the log begins with this */
    for (int i = 0; i < 2; i++)
        wrong += pool_ask(closed[i], 0) != POOL_SAME;
    TAP_NEED(wrong == 0 && pool_ask(first, 0) == POOL_SAME, "no answers");
    database_run(writer, "UPDATE t SET a = a + 1 WHERE k %% 1000 < 2");
    atomic_store(&are_closed, false);
    slow_reads_stop_after(read);
    asker_start(&refresher, first, 0);
    while (!(stopped = slow_reads_wait_stopped(5)) && !atomic_load(&refresher.done))
        ;
    TAP_NEED(pthread_create(&closer, NULL, close_both, closed) == 0, "no thread");
    for (; !atomic_load(&are_closed) && left > 0; left -= 5)
        sqlite3_sleep(5);
    *prompt = left > 0;
    slow_reads_release();
    pthread_join(closer, NULL);
    TAP_NEED(asker_join(&refresher) == POOL_SAME && database_stat(first, "leaves_refreshed") != 0,
             "no refresh");
    sqlite3_close(first);
    sqlite3_close(writer);
    return stopped;
}

/* sqlite3_close() waits for no other thread's refresh, whose progress handler may wait for a lock
   of the closing thread's: such as Python's. */
static void test_closed_amid_refresh(void)
{
    bool prompt = true;
    int read = 0;

    while (close_amid_refresh(read, &prompt) && prompt)
        read++;
    tap_ok(prompt, "connections are closed amid a refresh, at each of its reads: %d", read);
    tap_ok(read > 10, "which were several");
}

/* A commit comes in between: one loads the old snapshot, and one needs the new. */
static void test_commit_between(int file)
{
    sqlite3 *writer = pool_connect(file, 0);
    struct asker loader, waiter;

    start_loader(&loader);
    database_run(writer, "UPDATE t SET a = a + 1 WHERE k %% 3 = 0");
    asker_start(&waiter, db[1], 0);
    asker_is_done(&waiter, 200, false);
    database_run(writer, "UPDATE t SET a = a + 1 WHERE k %% 5 = 0");
    slow_reads_release();
    tap_ok(asker_join(&loader) == POOL_SAME, "the old snapshot");
    tap_ok(asker_join(&waiter) == POOL_SAME, "the new one");
    tap_ok(pool_all_right(db[0]) && pool_all_right(db[1]), "both at the newest");
    sqlite3_close(writer);
}

/* Queries of a version each wait while the table is busy, for longer than they wait for one
   another: the older ones go first all the same, and each brings the columns on from there. */
static void test_versions_in_order(int file)
{
    sqlite3 *writer = pool_connect(file, 0);
    struct asker loader, waiters[WAITERS];

    /* What changes is told by the log, which begins with this. */
    database_run(writer, "UPDATE t SET a = a + 1 WHERE k = 10");
    start_loader(&loader);
    for (int i = 0; i < WAITERS; i++) {
        database_run(writer, "UPDATE t SET a = a + 1 WHERE k = %d", 1 + i);
        asker_start(&waiters[i], db[1 + i], 0);
        asker_is_done(&waiters[i], 1200, false);
    }
    slow_reads_release();
    tap_ok(asker_join(&loader) == POOL_SAME, "the oldest of several versions");
    for (int i = 0; i < WAITERS; i++) {
        tap_ok(asker_join(&waiters[i]) == POOL_SAME, "the version after %d commits", 1 + i);
        tap_ok(database_stat(db[1 + i], "leaves_refreshed") > 0, "it is refreshed");
    }
    sqlite3_close(writer);
}

/* ---- Several connections in one thread, of which one is in the middle of something. */

static struct {
    sqlite3 *db;
    int calls, wrong;
} inner;

/* Asks the other connection, from within a query of the first. */
static void ask_inner(void)
{
    enum pool_answer answer;

    if (inner.db == NULL || inner.calls++ > 8)
        return;
    answer = pool_ask(inner.db, inner.calls % POOL_VIEWS);
    inner.wrong += answer != POOL_SAME && answer != POOL_BUSY;
    if (inner.calls % 3 == 0)
        database_run(inner.db, "SELECT clreduce_evict()");
}

static int on_progress(void *unused)
{
    (void)unused;
    ask_inner();
    return 0;
}

/* nested(x): x. */
static void nested(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    ask_inner();
    sqlite3_result_value(context, values[0]);
}

static void test_nested(int file)
{
    static const char select[] = "SELECT gpu_sum(a), count(*) FROM t WHERE nested(c) <> 'name 2'";
    sqlite3 *outer = db[0];
    enum pool_answer answer;
    char *got, *want;

    sqlite3_create_function(outer, "nested", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, nested,
                            NULL, NULL);
    database_run(outer, "CREATE VIRTUAL TABLE temp.n USING clreduce((%s))", select);
    inner.db = db[1];
    inner.calls = inner.wrong = 0;
    got = database_query(outer, "SELECT * FROM n");
    tap_ok(inner.calls > 0, "%s: a function asks another connection", modes[file]);
    inner.calls = 0;
    sqlite3_progress_handler(outer, 10, on_progress, NULL);
    database_run(inner.db, "SELECT clreduce_evict()");
    answer = pool_compare(outer, 0);
    tap_ok(answer == POOL_SAME && inner.calls > 0, "%s: and a progress handler", modes[file]);
    sqlite3_progress_handler(outer, 0, NULL, NULL);
    tap_is_int64(inner.wrong, 0, "%s: what the inner one answered wrongly", modes[file]);
    inner.db = NULL;
    want = database_query(outer, select);
    tap_is_string(got, want, "%s: the outer answer", modes[file]);
    free(got);
    free(want);
}

/* A query whose rows are still to come, while others evict, change the file, and close. */
static void test_half_read(int file)
{
    sqlite3 *first = db[0], *second = asker_connect(file);
    char *want = database_query(first, pool_selects[4]);
    struct database_text got = {NULL, 0, 0};
    sqlite3_stmt *query = database_prepare(first, "SELECT * FROM v4");

    database_append(&got, "", 0);
    for (int step = 0; sqlite3_step(query) == SQLITE_ROW; step++) {
        for (int i = 0; i < 3; i++) {
            database_append(&got, " ", i == 0 ? 0 : 1);
            database_append_value(&got, query, i);
        }
        database_append(&got, "\n", 1);
        if (step == 3)
            tap_ok(pool_all_right(second), "%s: another in the middle of rows", modes[file]);
        if (step == 5 && file == 1)
            database_run(second, "UPDATE t SET a = a + 1");
        if (step == 7)
            database_run(second, "SELECT clreduce_evict(), clreduce_set('column_memory', 1)");
        if (step == 8)
            tap_ok(pool_all_right(second), "%s: another with little memory", modes[file]);
        if (step == 9)
            database_run(second, "SELECT clreduce_set('column_memory', 0)");
        if (step == 10)
            sqlite3_close(second);
    }
    sqlite3_finalize(query);
    tap_is_string(got.text, want, "%s: the rows of the first", modes[file]);
    free(got.text);
    free(want);
}

/* ---- Two columns in opposite orders. */

struct order {
    pthread_t thread;
    const char *sql;
    char *want;
    int wrong;
};

static void *ask_in_order(void *argument)
{
    struct order *self = argument;
    sqlite3 *own = asker_connect(0);
    int rc;

    database_run(own, "CREATE VIRTUAL TABLE temp.x USING clreduce((SELECT gpu_sum(a) FROM t))");
    database_run(own, "CREATE VIRTUAL TABLE temp.y USING clreduce((SELECT gpu_sum(z) FROM u))");
    for (int round = 0; round < ROUNDS; round++) {
        char *got = database_query_rc(own, self->sql, &rc);
        self->wrong += strcmp(got, self->want) != 0;
        free(got);
        database_run(own, "SELECT clreduce_evict()");
    }
    sqlite3_close(own);
    return NULL;
}

static void test_opposite_orders(int file)
{
    struct order orders[] = {{.sql = "SELECT * FROM x CROSS JOIN y"},
                             {.sql = "SELECT * FROM y CROSS JOIN x"},
                             {.sql = "SELECT * FROM x CROSS JOIN y"}};
    int wrong = 0;

    (void)file;
    database_run(db[0], "CREATE TABLE u AS SELECT a + 7 AS z, c FROM t");
    orders[0].want = database_query(db[0], "SELECT sum(a), (SELECT sum(z) FROM u) FROM t");
    orders[1].want = database_query(db[0], "SELECT sum(z), (SELECT sum(a) FROM t) FROM u");
    orders[2].want = orders[0].want;
    slow_reads_delay(200);
    for (int i = 0; i < 3; i++)
        TAP_NEED(pthread_create(&orders[i].thread, NULL, ask_in_order, &orders[i]) == 0,
                 "no thread");
    for (int i = 0; i < 3; i++) {
        pthread_join(orders[i].thread, NULL);
        wrong += orders[i].wrong;
    }
    slow_reads_delay(0);
    tap_is_int64(wrong, 0, "two tables, needed in opposite orders");
    free(orders[0].want);
    free(orders[1].want);
}

/* ---- What is read, and by whom. */

/* All ask the same view at once. Returns how many answers were wrong. */
static int ask_together(int count, int view)
{
    struct asker askers[THREADS];
    int wrong = 0;

    for (int i = 0; i < count; i++)
        asker_start(&askers[i], db[i], view);
    for (int i = 0; i < count; i++)
        wrong += asker_join(&askers[i]) != POOL_SAME;
    return wrong;
}

/* What was read of the file for views of all connections. */
static int64_t decoded(void)
{
    int64_t sum = 0;

    for (int i = 0; i < THREADS; i++)
        sum += database_stat(db[i], "bytes_decoded");
    return sum;
}

/* One waits while another loads, and reads nothing. */
static void test_waits(int file)
{
    struct asker loader, waiter;

    start_loader(&loader);
    asker_start(&waiter, db[1], 0);
    tap_ok(!asker_is_done(&waiter, 300, false), "%s: one waits for another's load", modes[file]);
    slow_reads_release();
    tap_ok(asker_join(&waiter) == POOL_SAME && asker_join(&loader) == POOL_SAME,
           "%s: both are right", modes[file]);
    tap_ok(database_stat(db[0], "bytes_decoded") > 0, "%s: the first has read", modes[file]);
    tap_is_int64(database_stat(db[1], "bytes_decoded"), 0, "%s: the second has not", modes[file]);
}

/* Many at once: what they read together is what one alone reads. */
static void test_many(int file)
{
    int64_t alone, together, before;
    int wrong;

    slow_reads_delay(500);
    for (int view = 0; view < POOL_VIEWS; view++) {
        before = decoded();
        database_run(db[0], "SELECT clreduce_evict()");
        wrong = ask_together(1, view);
        alone = decoded() - before;
        before = decoded();
        database_run(db[0], "SELECT clreduce_evict()");
        wrong += ask_together(THREADS, view);
        together = decoded() - before;
        tap_is_int64(wrong, 0, "%s: wrong answers of view %d", modes[file], view);
        /* SQLite may run the SELECT of one that is not asked again. */
        tap_ok(alone == 0 || together <= alone, "%s: all read %lld bytes of it, one %lld",
               modes[file], (long long)together, (long long)alone);
    }
    /* A commit changes some pages; what one alone reads of it, all together read. */
    for (int commit = 0; file == 1 && commit < COMMITS; commit++) {
        database_run(db[commit], "UPDATE t SET a = a + 1 WHERE k < 300");
        before = decoded();
        wrong = ask_together(1, 0);
        alone = decoded() - before;
        database_run(db[commit], "UPDATE t SET a = a - 1 WHERE k < 300");
        before = decoded();
        wrong += ask_together(THREADS, 0);
        together = decoded() - before;
        tap_is_int64(wrong, 0, "wrong answers after commit %d", commit);
        tap_ok(alone > 0 && together <= alone, "after commit %d all read %lld bytes, one %lld",
               commit, (long long)together, (long long)alone);
    }
    slow_reads_delay(0);
}

/* Runs a test with so many connections to the file. */
static void run(void (*test)(int file), int file, int connections)
{
    for (int i = 0; i < connections; i++)
        db[i] = asker_connect(file);
    test(file);
    for (int i = 0; i < connections; i++)
        TAP_NEED(sqlite3_close(db[i]) == SQLITE_OK, "connection %d is still in use", i);
}

TAP_TEST(all_tests)
{
    slow_reads_begin(LIMIT_S);
    database_register();
    pool_begin();
    for (int file = 0; file < 2; file++) {
        pool_make(file, modes[file], ROWS);
        run(test_interrupted, file, 2);
        run(test_loader_interrupted, file, 3);
        run(test_cancelled, file, 3);
        run(test_impatient, file, 2);
        run(test_meddled, file, 2);
        run(test_nested, file, 2);
        run(test_half_read, file, 1);
    }
    test_closed_amid_refresh();
    run(test_commit_between, 1, 2);
    run(test_versions_in_order, 1, 1 + WAITERS);
    run(test_opposite_orders, 0, 1);
    pool_end();
    pool_begin();
    for (int file = 0; file < 2; file++) {
        pool_make(file, modes[file], MANY_ROWS);
        run(test_waits, file, 2);
        run(test_many, file, THREADS);
    }
    pool_end();
}
