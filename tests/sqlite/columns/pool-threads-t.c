/*
 * Threads with connections to one file: readers on snapshots new and old, beside others that
 * commit, checkpoint, VACUUM, change the schema, evict, take memory away, close and open. Each
 * answer is that of the SELECT in the same transaction.
 */
#include "child.h"
#include "sqlite/pool.h"

#include <pthread.h>
#include <stdatomic.h>

enum { READERS = 6, WRITERS = 2, THREADS = READERS + WRITERS, ROWS = 1500, MOST_IN_ONE = 4 };
enum { SECONDS = 1, SECONDS_IN_FULL = 12, LEAST = 40, ANSWERS_A_COMMIT = 3 };

static atomic_int answers, accelerated, others, busy, commits;
static atomic_bool finished;

static const char *const changes[] = {
    "UPDATE t SET a = a + 1 WHERE k %% 97 = %d",
    "UPDATE t SET c = 'name ' || (k %% 5), b = b * 2 WHERE k %% 89 = %d",
    "DELETE FROM t WHERE k %% 211 = %d",
    "INSERT INTO t(a, b, c) SELECT a, b, c FROM t WHERE k %% 199 = %d",
    "INSERT INTO t(a, b, c) VALUES (%d, NULL, 'new')",
};

/* The same table of another form, with another root. */
static const char made_anew[] =
    "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS other(k INTEGER PRIMARY KEY, a, b, c);"
    "INSERT INTO other SELECT k, a, b, c FROM t; DROP TABLE t;"
    "CREATE TABLE t(x, c TEXT, k INTEGER PRIMARY KEY, b REAL, a INT);"
    "INSERT INTO t(k, a, b, c) SELECT k, a, b, c FROM other; DROP TABLE other; COMMIT";

static const char *const upkeep[] = {
    "VACUUM",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA wal_checkpoint(RESTART)",
    "PRAGMA wal_checkpoint(PASSIVE)",
    "CREATE INDEX IF NOT EXISTS i ON t(a, c)",
    "DROP INDEX IF EXISTS i",
    "CREATE TABLE IF NOT EXISTS side AS SELECT * FROM t LIMIT 50",
    "DROP TABLE IF EXISTS side",
    made_anew,
};

struct thread {
    pthread_t id;
    int file;
    uint64_t state;
};

/* Counts an answer; one that is busy ends the transaction. */
static void count(sqlite3 *db, enum pool_answer answer)
{
    if (answer == POOL_SAME)
        atomic_fetch_add(&answers, 1);
    else if (answer == POOL_BUSY)
        atomic_fetch_add(&busy, 1);
    else
        atomic_fetch_add(&others, 1);
    if (answer != POOL_SAME && !sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
}

static sqlite3 *join(struct thread *self)
{
    sqlite3 *db = pool_connect(self->file, 0);
    enum pool_answer answer;

    do {
        answer = pool_judge(pool_create_views(db), "the views", sqlite3_errmsg(db));
    } while (answer == POOL_BUSY);
    if (answer != POOL_SAME)
        atomic_fetch_add(&others, 1);
    return db;
}

static void leave(sqlite3 *db)
{
    static const char scans[] = "SELECT value FROM clreduce_stats WHERE name = 'scans_on_host'";

    atomic_fetch_add(&accelerated, (int)database_number(db, scans));
    if (sqlite3_close(db) != SQLITE_OK)
        atomic_fetch_add(&others, 1);
}

/* Some views in one transaction, and maybe another's commits amid them. */
static void read_some(sqlite3 *db, struct thread *self)
{
    int left = 1 + pool_random(&self->state, MOST_IN_ONE);

    count(db, pool_try(db, "BEGIN"));
    while (left-- > 0 && !sqlite3_get_autocommit(db)) {
        count(db, pool_compare(db, pool_random(&self->state, POOL_VIEWS)));
        if (pool_random(&self->state, 4) == 0)
            sqlite3_sleep(pool_random(&self->state, 10));
    }
    if (!sqlite3_get_autocommit(db))
        count(db, pool_try(db, "COMMIT"));
}

static void *read_on(void *argument)
{
    static const char *const memory[] = {"0", "0", "1", "20000", "100000"};
    static const char *const retention[] = {"0", "5", "10000"};
    struct thread *self = argument;
    sqlite3 *db = join(self);

    while (!atomic_load(&finished)) {
        switch (pool_random(&self->state, 24)) {
        case 0:
            count(db, pool_try(db, "SELECT clreduce_evict()"));
            break;
        case 1:
            database_set(db, "column_memory", memory[pool_random(&self->state, 5)]);
            database_set(db, "keep_answers", pool_random(&self->state, 2) == 0 ? "on" : "off");
            pool_set_retention(db, retention[pool_random(&self->state, 3)]);
            break;
        case 2:
            leave(db);
            db = join(self);
            break;
        case 3:
            count(db, pool_try(db, "SELECT * FROM clreduce_columns"));
            break;
        default:
            read_some(db, self);
            break;
        }
    }
    leave(db);
    return NULL;
}

static void *write_on(void *argument)
{
    struct thread *self = argument;
    sqlite3 *db = pool_connect(self->file, 0);
    enum pool_answer answer;
    char sql[200];

    database_run(db, "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 50");
    sqlite3_busy_timeout(db, 100);
    while (!atomic_load(&finished)) {
        const int choice = pool_random(&self->state, 40);

        if (choice < (int)(sizeof upkeep / sizeof upkeep[0])) {
            answer = pool_try(db, upkeep[choice]);
        } else {
            snprintf(sql, sizeof sql, changes[choice % 5], pool_random(&self->state, 80));
            answer = pool_try(db, sql);
        }
        atomic_fetch_add(&commits, answer == POOL_SAME);
        if (!sqlite3_get_autocommit(db))
            sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
        /* Readers get their turn, on a busy machine too: columns of each commit's version serve. */
        do {
            sqlite3_sleep(pool_random(&self->state, 40));
        } while (!atomic_load(&finished) &&
                 atomic_load(&answers) < ANSWERS_A_COMMIT * atomic_load(&commits));
    }
    sqlite3_close(db);
    return NULL;
}

/* Whether there were enough answers, and enough of them from columns. */
static bool have_seen_enough(void)
{
    const int count = atomic_load(&answers);

    return count >= LEAST && atomic_load(&accelerated) > count / 20;
}

static void test(int file, const char *mode, int seconds)
{
    struct thread threads[THREADS];
    double end = child_now() + seconds;
    sqlite3 *db;

    pool_make(file, mode, ROWS);
    atomic_store(&finished, false);
    atomic_store(&answers, 0);
    atomic_store(&accelerated, 0);
    atomic_store(&commits, 0);
    atomic_store(&busy, 0);
    atomic_store(&others, 0);
    for (int i = 0; i < THREADS; i++) {
        threads[i].file = file;
        threads[i].state = random_bits() | 1;
        if (pthread_create(&threads[i].id, NULL, i < READERS ? read_on : write_on, &threads[i]) !=
            0)
            tap_bail("no thread");
    }
    while (child_now() < end || (!have_seen_enough() && child_now() < end + 60))
        sqlite3_sleep(20);
    atomic_store(&finished, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i].id, NULL);
    tap_is_int64(atomic_load(&others), 0, "%s: what is neither right nor busy", mode);
    tap_ok(atomic_load(&answers) >= LEAST, "%s: %d answers beside %d commits, %d busy", mode,
           atomic_load(&answers), atomic_load(&commits), atomic_load(&busy));
    tap_ok(atomic_load(&accelerated) > atomic_load(&answers) / 20, "%s: %d of them accelerated",
           mode, atomic_load(&accelerated));
    db = pool_connect(file, 0);
    tap_ok(pool_create_views(db) == SQLITE_OK && pool_all_right(db), "%s: afterwards", mode);
    tap_ok(database_stat(db, "scans_on_host") > 0, "%s: and columns are used", mode);
    sqlite3_close(db);
}

TAP_TEST(all_tests)
{
    const int seconds = tap_is_quick() ? SECONDS : SECONDS_IN_FULL;

    if (!sqlite3_threadsafe())
        tap_skip_all("this SQLite is built for a single thread");
    database_register();
    pool_begin();
    test(0, "WAL", seconds);
    test(1, "DELETE", seconds);
    pool_end();
}
