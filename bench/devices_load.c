/*
 * A table in the page cache and a view's first query of it: loaded, decoded and summed by one and
 * by more devices of a kind.
 */
#include "devices_load.h"

#include "clreduce.h"
#include "database.h"
#include "measure.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Rows of the table, about 23 bytes each. */
enum { GPU_ROWS = 12000000, CPU_ROWS = 1000000 };

/* How often a query is asked at most until devices have what they need. */
enum { MOST_TRIES = 60000 };

/* A connection that uses so many devices. */
struct loading {
    int devices;
    sqlite3 *db;
    sqlite3_stmt *evict, *query, *plan;
    char *found; /* what the query gives */
};

static void run_sql(sqlite3 *db, char *sql)
{
    char *error = NULL;

    if (sql == NULL || sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
        bench_die("%s: %s", sql == NULL ? "no memory" : sql, error == NULL ? "" : error);
    sqlite3_free(sql);
}

/* Makes the table. Returns the file's bytes. */
static int64_t make_table(const char *path, int64_t rows)
{
    sqlite3 *db = bench_open(path);
    struct stat found;

    run_sql(db, sqlite3_mprintf("PRAGMA journal_mode = off; PRAGMA synchronous = off;"
                                "CREATE TABLE t(x REAL, i INT, y REAL)"));
    run_sql(db, sqlite3_mprintf("WITH RECURSIVE n(k) AS (VALUES (1) UNION ALL SELECT k + 1 FROM n"
                                " WHERE k < %lld) INSERT INTO t SELECT k * 7919 %% 1000003 / 7.0,"
                                " k * 31 %% 1000, k / 3.0 FROM n",
                                (long long)rows));
    sqlite3_close(db);
    if (stat(path, &found) != 0)
        bench_die("no file %s", path);
    return (int64_t)found.st_size;
}

static void open_loading(struct loading *loading, const char *path,
                         const struct clr_device_info *info, int devices)
{
    sqlite3 *db = bench_open(path);

    *loading = (struct loading){.devices = devices, .db = db};
    bench_set_device(db, clr_device_type_name(info->type));
    run_sql(db,
            sqlite3_mprintf("SELECT clreduce_set('devices', %d),"
                            " clreduce_set('view_threshold', 0), clreduce_set('start_after', 0),"
                            " clreduce_set('host_threshold', 16)",
                            devices));
    run_sql(db, sqlite3_mprintf("CREATE VIRTUAL TABLE temp.v USING clreduce("
                                "(SELECT gpu_sum(x), gpu_sum(i), gpu_sum(y) FROM t))"));
    loading->evict = bench_prepare(db, "SELECT clreduce_evict()");
    loading->query = bench_prepare(db, "SELECT * FROM v");
    loading->plan =
        bench_prepare(db, "SELECT count(*) FROM clreduce_plan('v') WHERE line LIKE '%decoded by%'"
                          " AND (?1 = 1 OR line LIKE '%(' || ?1 || ' devices)%')");
    sqlite3_bind_int(loading->plan, 1, devices);
}

static void close_loading(struct loading *loading)
{
    sqlite3_finalize(loading->evict);
    sqlite3_finalize(loading->query);
    sqlite3_finalize(loading->plan);
    sqlite3_free(loading->found);
    sqlite3_close(loading->db);
}

/* Whether all devices have decoded pages for the latest query. */
static bool was_decoded(const struct loading *loading)
{
    bool was;

    sqlite3_step(loading->plan);
    was = sqlite3_column_int(loading->plan, 0) > 0;
    sqlite3_reset(loading->plan);
    return was;
}

/* Asks with nothing kept, until the devices decode. */
static int64_t load(void *argument)
{
    const struct loading *loading = argument;
    const struct timespec pause = {0, 1000000};
    int64_t time;
    int tries;

    for (tries = 0; tries < MOST_TRIES; tries++) {
        bench_run(loading->evict);
        time = bench_run(loading->query);
        if (was_decoded(loading))
            return time;
        nanosleep(&pause, NULL);
    }
    bench_die("%d devices do not decode", loading->devices);
}

static void read_result(struct loading *loading)
{
    if (sqlite3_step(loading->query) != SQLITE_ROW)
        bench_die("%s", sqlite3_errmsg(loading->db));
    loading->found = bench_row_text(loading->query);
    sqlite3_reset(loading->query);
}

void bench_devices_load(const struct bench_options *options, const struct clr_device_info *info,
                        const int *counts, int count)
{
    static struct bench_case cases[CLR_DEVICES_LIMIT];
    static struct loading loadings[CLR_DEVICES_LIMIT];
    const char *folder = getenv("TMPDIR");
    char path[300];
    int64_t bytes;
    int i, file;

    snprintf(path, sizeof path, "%s/clreduce-bench-XXXXXX", folder != NULL ? folder : "/tmp");
    file = mkstemp(path);
    if (file < 0 || sqlite3_auto_extension((void (*)(void))sqlite3_clreduce_init) != SQLITE_OK)
        bench_die("no database in %s", path);
    close(file);
    bench_progress("devices: making a table");
    bytes = make_table(path, info->type == CLR_DEVICE_CPU ? CPU_ROWS : GPU_ROWS);
    for (i = 0; i < count; i++) {
        open_loading(&loadings[i], path, info, counts[i]);
        cases[i] = (struct bench_case){.run = load, .argument = &loadings[i]};
    }
    bench_measure(cases, (size_t)count, options->runs, options->seconds / 2);
    for (i = 0; i < count; i++) {
        struct bench_line line = {.part = "devices",
                                  .name = "load",
                                  .device = info->name,
                                  .bytes = bytes,
                                  .times = &cases[i],
                                  .ratio = bench_ratio(&cases[i], &cases[0])};

        read_result(&loadings[i]);
        line.exact =
            strcmp(loadings[i].found, loadings[0].found) == 0 ? BENCH_EQUAL : BENCH_DIFFERENT;
        if (line.exact == BENCH_DIFFERENT)
            bench_wrong("a table loaded by %d devices", counts[i]);
        snprintf(line.notes, sizeof line.notes, "by %d devices; ratio: their speed to that of one",
                 counts[i]);
        bench_print(&line);
    }
    for (i = 0; i < count; i++)
        close_loading(&loadings[i]);
    unlink(path);
}
