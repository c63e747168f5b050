/*
 * Threads, each with connections of its own, over the one runtime that they share: all feed at the
 * same time, open and close, change settings and look into the tables.
 */
#include "child.h"
#include "sqlite/database.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ROWS = 1500, WORKERS = 6, OPENERS = 2, SECONDS_IN_FULL = 3, LEAST_ROUNDS = 2 };

static pthread_mutex_t source_lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3 *source; /* the database that all begin with, under the lock */
static char *expected[DATABASE_QUERIES];
static atomic_int differing, rounds, served;
static double end_time;

/* A connection with a copy of the data. */
static sqlite3 *copy_source(void)
{
    sqlite3 *db = database_open();
    sqlite3_backup *backup;

    pthread_mutex_lock(&source_lock);
    backup = sqlite3_backup_init(db, "main", source, "main");
    TAP_NEED(backup != NULL && sqlite3_backup_step(backup, -1) == SQLITE_DONE,
             "the data could not be copied: %s", sqlite3_errmsg(db));
    sqlite3_backup_finish(backup);
    pthread_mutex_unlock(&source_lock);
    DATABASE_SET(db, "host_threshold", "1", "start_after", "0");
    return db;
}

/* As database_compare(), but without the test's log, which is no thread's. */
static int count_differing(sqlite3 *db)
{
    int count = 0;

    for (int i = 0; i < DATABASE_QUERIES; i++) {
        char *found = database_query(db, database_queries[i]);
        count += strcmp(found, expected[i]) != 0;
        free(found);
    }
    return count;
}

static void *work(void *argument)
{
    static const char *const sizes[] = {"16", "50", "1000", "65536"};
    int number = *(int *)argument;
    sqlite3 *db = copy_source();

    if (number == 0)
        database_set(db, "device", "host");
    else
        database_use_device(db);
    for (int round = 0; round < LEAST_ROUNDS || child_now() < end_time; round++) {
        database_set(db, "chunk_size", sizes[(number + round) % 4]);
        atomic_fetch_add(&differing, count_differing(db));
        atomic_fetch_add(&rounds, 1);
        if (round % 3 == 2) { /* another connection, while the others go on */
            atomic_fetch_add(&served,
                             (int)database_number(db, "SELECT value FROM clreduce_stats WHERE"
                                                      " name = 'chunks_to_device'"));
            sqlite3_close(db);
            db = copy_source();
            database_use_device(db);
        }
    }
    atomic_fetch_add(&served,
                     (int)database_number(db, "SELECT value FROM clreduce_stats WHERE name ="
                                              " 'chunks_to_device'"));
    if (sqlite3_close(db) != SQLITE_OK)
        atomic_fetch_add(&differing, 1);
    return NULL;
}

/* Opens, looks around and closes, many connections at a time. */
static void *open_and_close(void *unused)
{
    enum { MANY = 10 };
    sqlite3 *many[MANY];

    (void)unused;
    for (int round = 0; round < LEAST_ROUNDS || child_now() < end_time; round++) {
        for (int i = 0; i < MANY; i++)
            many[i] = database_open();
        for (int i = 0; i < MANY; i++) {
            if (database_number(many[i], "SELECT count(*) FROM clreduce_stats, clreduce_devices") <
                    0 ||
                database_number(many[i], "SELECT gpu_sum(1)") != 1)
                atomic_fetch_add(&differing, 1);
        }
        for (int i = 0; i < MANY; i++) /* in another order */
            sqlite3_close(many[(i * 7 + round) % MANY]);
    }
    return NULL;
}

TAP_TEST(all_tests)
{
    pthread_t threads[WORKERS + OPENERS];
    int numbers[WORKERS + OPENERS];

    if (!sqlite3_threadsafe())
        tap_skip_all("this SQLite is built for a single thread");
    database_register();
    devices_setting(); /* found before there are threads */
    source = database_open();
    database_fill(source, ROWS);
    database_expect(source, expected);
    end_time = child_now() + (tap_is_quick() ? 1 : SECONDS_IN_FULL);
    for (int i = 0; i < WORKERS + OPENERS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, i < WORKERS ? work : open_and_close, &numbers[i]) !=
            0)
            tap_bail("no thread");
    }
    for (int i = 0; i < WORKERS + OPENERS; i++)
        pthread_join(threads[i], NULL);
    tap_is_int64(atomic_load(&differing), 0, "results of %d threads at the same time", WORKERS);
    tap_ok(atomic_load(&rounds) >= WORKERS * LEAST_ROUNDS, "in %d rounds", atomic_load(&rounds));
    tap_diag("%d chunks were reduced on a device", atomic_load(&served));
    tap_is_int64(database_compare(source, expected), 0, "and in the main thread afterwards");
    database_free_expected(expected);
    sqlite3_close(source);
}
