/*
 * A view's query after pages of its table were changed.
 *
 *     view-bench changes DATABASE EXTENSION DEVICE ROUNDS DEVICE_WAIT SQL
 *         Puts the database into WAL mode. In each of ROUNDS rounds another connection updates x in
 *         rows of the table v that are spread over 1 page, 10, 100 and so on up to all of its
 * pages, and commits; then the view's query and SQLite's SELECT sum(x) run once each. The numbers
 *         of changed pages are those that SQLite wrote to the log, which is emptied between. Every
 *         row of the view is compared with that of its SELECT. A device other than host is waited
 *         for until the view runs there, DEVICE_WAIT seconds at most. Besides, the query is timed
 * where nothing was changed, and where its columns were evicted, so that all is read anew.
 */
#include "base/clock.h"
#include "database.h"
#include "output.h"
#include "view.h"
#include "view_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROUNDS = 99,
    MOST_COUNTS = 12,
    /* Fewer rows than a page of v has, so that an update of each such row changes every page. */
    ROWS_APART = 32
};

/* One number of changed pages. */
struct step {
    bool anew;                                     /* the columns are evicted */
    int64_t updates;                               /* rows that are updated, in a page each */
    int64_t changed, bytes_decoded;                /* in the last round */
    int64_t times[MOST_ROUNDS], sums[MOST_ROUNDS]; /* of the view's query, and of SELECT sum(x) */
    bool same;
};

struct changes {
    sqlite3 *reader, *writer;
    sqlite3_stmt *begin, *update, *commit, *empty; /* the writer's; empty: the log */
    sqlite3_stmt *sum, *expected, *evict;          /* the reader's */
    struct bench_view view;
    int64_t rows, frames; /* frames: that the latest commit left in the log */
    bool waits;           /* for a device, at first */
    int64_t device_wait;  /* in ns */
    struct step steps[MOST_COUNTS];
    size_t count;
};

static int count_frames(void *argument, sqlite3 *db, const char *schema, int frames)
{
    struct changes *changes = argument;

    (void)db;
    (void)schema;
    changes->frames = frames;
    return SQLITE_OK;
}

static int64_t first_integer(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = bench_prepare(db, sql);
    int64_t value;

    sqlite3_step(statement);
    value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void run_once(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = bench_prepare(db, sql);

    bench_run(statement);
    sqlite3_finalize(statement);
}

static void open_connections(struct changes *changes, char **arguments)
{
    const char *sql = arguments[5];

    changes->writer = bench_open(arguments[0]);
    run_once(changes->writer, "PRAGMA journal_mode = WAL");
    run_once(changes->writer, "PRAGMA wal_autocheckpoint = 0");
    run_once(changes->writer, "PRAGMA synchronous = OFF");
    sqlite3_wal_hook(changes->writer, count_frames, changes);
    changes->begin = bench_prepare(changes->writer, "BEGIN IMMEDIATE");
    changes->update = bench_prepare(changes->writer, "UPDATE v SET x = x + 0.125 WHERE id = ?");
    changes->commit = bench_prepare(changes->writer, "COMMIT");
    changes->empty = bench_prepare(changes->writer, "PRAGMA wal_checkpoint(TRUNCATE)");

    changes->reader = bench_open(arguments[0]);
    bench_load(changes->reader, arguments[1]);
    bench_set(changes->reader, "device", arguments[2]);
    changes->waits = strcmp(arguments[2], "host") != 0;
    changes->device_wait = (int64_t)(atof(arguments[4]) * 1e9);
    changes->view = bench_view_make(changes->reader, 0, sql, false);
    changes->sum = bench_prepare(changes->reader, "SELECT sum(x) FROM v");
    changes->expected = bench_prepare(changes->reader, sql);
    changes->evict = bench_prepare(changes->reader, "SELECT clreduce_evict()");
    changes->rows = first_integer(changes->reader, "SELECT max(id) FROM v");
}

/* The rows to update: none, 1, 10, 100 and so on while they are in pages of their own, and then
 * all. */
static void plan_steps(struct changes *changes)
{
    int64_t all = (changes->rows + ROWS_APART - 1) / ROWS_APART, updates;

    changes->steps[changes->count++] = (struct step){.same = true};
    /* About four of those rows are in a page. */
    for (updates = 1; updates < all / 8 && changes->count < MOST_COUNTS - 2; updates *= 10)
        changes->steps[changes->count++] = (struct step){.updates = updates, .same = true};
    changes->steps[changes->count++] = (struct step){.updates = all, .same = true};
    changes->steps[changes->count++] = (struct step){.anew = true, .same = true};
}

static void update_rows(struct changes *changes, int64_t updates)
{
    int64_t i;

    changes->frames = 0;
    if (updates == 0)
        return;
    bench_run(changes->begin);
    for (i = 0; i < updates; i++) {
        sqlite3_bind_int64(changes->update, 1, 1 + i * changes->rows / updates);
        bench_run(changes->update);
    }
    bench_run(changes->commit);
}

/* Empties the log, and has the view see that, where it is to run. */
static void settle(struct changes *changes)
{
    int64_t start = clr_clock_ns();

    bench_run(changes->empty);
    bench_run(changes->view.query);
    while (changes->waits && !bench_view_plan_begins(&changes->view, "accelerated: device")) {
        if (clr_clock_ns() - start > changes->device_wait)
            changes->waits = false;
        sqlite3_sleep(2);
        bench_run(changes->view.query);
    }
}

static void measure_step(struct changes *changes, struct step *step, int round)
{
    int64_t decoded;
    char *found, *expected;

    settle(changes);
    update_rows(changes, step->updates);
    if (step->anew)
        bench_run(changes->evict);
    step->changed = changes->frames;
    decoded = bench_statistic(changes->reader, "bytes_decoded");
    step->times[round] = bench_run(changes->view.query);
    step->bytes_decoded = bench_statistic(changes->reader, "bytes_decoded") - decoded;
    step->sums[round] = bench_run(changes->sum);
    found = bench_row_of(changes->view.query);
    expected = bench_row_of(changes->expected);
    step->same = step->same && strcmp(found, expected) == 0;
    sqlite3_free(found);
    sqlite3_free(expected);
}

static void print_times(const char *key, const int64_t *times, int count)
{
    int i;

    printf(", \"%s\": [", key);
    for (i = 0; i < count; i++)
        printf("%s%lld", i > 0 ? ", " : "", (long long)times[i]);
    putchar(']');
}

static void print_step(struct changes *changes, const struct step *step, const char *device,
                       int rounds)
{
    fputs("{\"device\": ", stdout);
    bench_print_text(device);
    fputs(", \"plan\": ", stdout);
    bench_print_text(changes->view.line);
    printf(", \"anew\": %s, \"pages\": %lld, \"bytes_decoded\": %lld, \"same\": %s",
           step->anew ? "true" : "false", (long long)step->changed, (long long)step->bytes_decoded,
           step->same ? "true" : "false");
    print_times("ns", step->times, rounds);
    print_times("sum_ns", step->sums, rounds);
    puts("}");
}

static void close_connections(struct changes *changes)
{
    sqlite3_finalize(changes->sum);
    sqlite3_finalize(changes->expected);
    sqlite3_finalize(changes->evict);
    bench_view_close(&changes->view);
    sqlite3_close(changes->reader);
    sqlite3_finalize(changes->begin);
    sqlite3_finalize(changes->update);
    sqlite3_finalize(changes->commit);
    sqlite3_finalize(changes->empty);
    sqlite3_close(changes->writer);
}

void bench_view_changes(char **arguments)
{
    static struct changes changes;
    int rounds = atoi(arguments[3]), round;
    size_t i;

    if (rounds < 1 || rounds > MOST_ROUNDS)
        bench_die("1 to %d rounds", MOST_ROUNDS);
    open_connections(&changes, arguments);
    plan_steps(&changes);
    for (round = 0; round < rounds; round++) {
        for (i = 0; i < changes.count; i++)
            measure_step(&changes, &changes.steps[round % 2 == 0 ? i : changes.count - 1 - i],
                         round);
    }
    bench_view_read_plan(&changes.view);
    for (i = 0; i < changes.count; i++)
        print_step(&changes, &changes.steps[i], arguments[2], rounds);
    close_connections(&changes);
}
