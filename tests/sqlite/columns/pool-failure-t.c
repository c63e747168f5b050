/*
 * Connections of one process, whose columns go to a device together, with an OpenCL that fails: see
 * failures.h. Each asks in a thread of its own, while another one commits and evicts.
 */
#include "sqlite/failures.h"
#include "sqlite/pool.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROWS = 3000, START_LIMIT_S = 90, RUN_LIMIT_S = 12, SERVED = 30 };

/* ---- One run. */

static atomic_bool finished;
static atomic_int differing;

static sqlite3 *connect_to_device(const char *device_timeout)
{
    sqlite3 *db = pool_connect(0, 0);

    failures_use_devices(db, device_timeout);
    TAP_NEED(pool_create_views(db) == SQLITE_OK, "views: %s", sqlite3_errmsg(db));
    return db;
}

static void *ask_on(void *argument)
{
    sqlite3 *db = argument;
    enum pool_answer answer;

    for (int i = 0; !atomic_load(&finished); i++) {
        answer = pool_ask(db, i % POOL_VIEWS);
        if (answer != POOL_SAME && answer != POOL_BUSY)
            atomic_fetch_add(&differing, 1);
        sqlite3_sleep(10);
    }
    return NULL;
}

/* Until something has failed and been seen, or the device has answered often, or for long enough.
 */
static void meddle(sqlite3 *db, sqlite3 *const asking[THREADS])
{
    double end = child_now() + START_LIMIT_S;
    int64_t served = 0, before;
    bool failed = false;
    int i;

    for (int round = 0; served < SERVED && !failed && child_now() < end; round++) {
        sqlite3_sleep(50);
        if (served > 0 && round % 4 == 1 &&
            pool_try(db, "UPDATE t SET a = a + 1 WHERE k % 97 = 5") > POOL_BUSY)
            atomic_fetch_add(&differing, 1);
        if (served > 0 && round % 10 == 9)
            database_run(db, "SELECT clreduce_evict()");
        before = served;
        for (i = 0, served = 0; i < THREADS; i++) {
            served += database_stat(asking[i], "scans_on_device");
            failed = failed || *database_stat_text(asking[i], "last_error") != '\0';
        }
        if (before == 0 && served > 0)
            end = child_now() + RUN_LIMIT_S;
    }
    sqlite3_sleep(failed ? 300 : 0); /* and what comes after that */
}

static int run(const char *device_timeout)
{
    sqlite3 *db[THREADS], *other;
    pthread_t threads[THREADS];
    int served = 0;

    pool_begin();
    pool_make(0, "WAL", ROWS);
    other = connect_to_device(device_timeout);
    for (int i = 0; i < THREADS; i++)
        db[i] = connect_to_device(device_timeout);
    for (int i = 0; i < THREADS; i++)
        TAP_NEED(pthread_create(&threads[i], NULL, ask_on, db[i]) == 0, "no thread");
    meddle(other, db);
    atomic_store(&finished, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        served += database_stat(db[i], "scans_on_device") > 0;
    printf("%d others were served\n", served);
    failures_print(db[0], atomic_load(&differing));
    for (int i = 0; i < THREADS; i++)
        atomic_fetch_add(&differing, sqlite3_close(db[i]) != SQLITE_OK);
    atomic_fetch_add(&differing, !pool_all_right(other));
    sqlite3_close(other);
    pool_end();
    return atomic_load(&differing);
}

/* ---- The test. */

static void test(void)
{
    static const char *const functions[] = {
        "clCreateBuffer:-4",          "clEnqueueWriteBuffer:-5", "clEnqueueMapBuffer:-12",
        "clEnqueueNDRangeKernel:-54", "clEnqueueReadBuffer:-5",  "clFlush:-36",
        "clWaitForEvents:-14",        "clSetKernelArg:-51",
    };
    static struct failures_attempt attempts[2];
    const int count = sizeof functions / sizeof functions[0];

    failures_test_success("scans_on_device 0\n");
    for (int i = 0; i < count; i += 2) {
        for (int call = 3; call < 200; call *= tap_is_quick() ? 50 : 4) {
            for (int j = 0; j < 2; j++) {
                snprintf(attempts[j].rule, sizeof attempts[j].rule, "%s:%d", functions[i + j],
                         call + 5 * j);
                failures_start(&attempts[j], "10000");
            }
            for (int j = 0; j < 2; j++) {
                failures_finish(&attempts[j]);
                failures_conclude(&attempts[j], attempts[j].passed,
                                  failures_acted(&attempts[j])
                                      ? "right answers"
                                      : "right answers (and no such call)");
            }
        }
    }
}

int main(int count, char **arguments)
{
    if (!sqlite3_threadsafe())
        tap_skip_all("this SQLite is built for a single thread");
    return failures_main(count, arguments, run, test);
}
