/*
 * Accelerated views beside the SELECTs that they hold, by turns in one process.
 *
 *     view-bench compare DATABASE EXTENSION ROUNDS SECONDS DEVICE_WAIT
 *         Reads candidates, one on a line of the standard input: DEVICE, KIND and SQL, with a tab
 *         between them. DEVICE is the setting of the connection that runs it; SQL is a SELECT that
 *         returns a row. The kinds:
 *             select    the SELECT as it stands
 *             first     a view of it, after all columns of the connection were evicted
 *             again     a view of it, whose columns are resident
 *             changing  as again, with a number for its only parameter that every run changes
 *         Candidates take turns in ROUNDS rounds, or fewer (but 3) if SECONDS have passed; every
 *         other round goes backwards. What is quick runs many times in a round, whose time is then
 *         the median of them. Before the first round, each view's row is compared with that of its
 *         SELECT. A view of a device other than host is waited for until it runs there, DEVICE_WAIT
 *         seconds at most, or 2 where another one was waited for.
 */
#include "base/clock.h"
#include "database.h"
#include "output.h"
#include "view.h"
#include "view_commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_CANDIDATES = 128,
    MOST_ROUNDS = 99,
    LEAST_ROUNDS = 3,
    LINE_SIZE = 4096,
    MOST_REPEATS = 2000
};

/* What is quicker runs again and again in a round, for so long; and how long a view is waited for
   when the device has answered another one, both in ns. */
static const int64_t repeat_time = 50000000, later_device_wait = 2000000000;

enum kind { SELECT, FIRST, AGAIN, CHANGING };

static const char *const kind_names[] = {"select", "first", "again", "changing"};

struct candidate {
    struct bench_connection *connection;
    enum kind kind;
    char *sql;
    struct bench_view view;     /* its query is the SELECT itself, without a plan, for select */
    int64_t runs;               /* so far: what the parameter is made of */
    bool stays;                 /* on the host, as it seems: is not waited for */
    char *expected, *result;    /* rows as text: the SELECT's, and the view's */
    int64_t select_time;        /* of the SELECT that gave what is expected, once, in ns */
    int64_t bytes_decoded;      /* by a run, in the last round */
    int64_t times[MOST_ROUNDS]; /* medians of the rounds */
    int64_t timed, timed_sum;   /* runs of all rounds, and their times' sum */
};

struct bench {
    const char *path, *extension;
    int rounds;
    double seconds, device_wait;
    struct bench_connections connections;
    struct candidate candidates[MOST_CANDIDATES];
    size_t count; /* of candidates */
};

/* ---- Candidates. */

static struct bench_connection *find_connection(struct bench *bench, const char *device)
{
    const size_t before = bench->connections.count;
    struct bench_connection *connection =
        bench_connect(&bench->connections, bench->path, bench->extension, device);

    if (bench->connections.count > before && strcmp(device, "host") != 0)
        connection->device_wait = (int64_t)(bench->device_wait * 1e9);
    return connection;
}

static enum kind find_kind(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof kind_names / sizeof kind_names[0]; i++) {
        if (strcmp(kind_names[i], name) == 0)
            return (enum kind)i;
    }
    bench_die("no such kind: %s", name);
}

static void read_candidate(struct bench *bench, char *line)
{
    char *device = strtok(line, "\t\n"), *kind = strtok(NULL, "\t\n"), *sql = strtok(NULL, "\t\n");
    struct candidate *candidate = &bench->candidates[bench->count];

    if (sql == NULL || bench->count == MOST_CANDIDATES)
        bench_die("not a candidate, or too many");
    candidate->connection = find_connection(bench, device);
    candidate->kind = find_kind(kind);
    candidate->sql = sqlite3_mprintf("%s", sql);
    if (candidate->kind == SELECT)
        candidate->view.query = bench_prepare(candidate->connection->db, sql);
    else
        candidate->view = bench_view_make(candidate->connection->db, bench->count, candidate->sql,
                                          candidate->kind == CHANGING);
    bench->count++;
}

/* ---- Runs. */

/* A number between -500 and 500 that comes again after 1000 runs. */
static void bind_parameter(sqlite3_stmt *query, int64_t run)
{
    sqlite3_bind_double(query, 1, (double)(run * 37 % 1000 - 500));
}

/* One run, with a parameter that the last one did not have. */
static int64_t run(struct candidate *candidate)
{
    if (candidate->kind == CHANGING)
        bind_parameter(candidate->view.query, candidate->runs++);
    return bench_run(candidate->view.query);
}

/* Brings a view's columns to where they stay: into memory, or onto the device. Where that was
   waited for before, it has started, or does not start: a view that stays on the host is not waited
   for as long again. */
static void warm_up(struct candidate *candidate)
{
    int64_t start = clr_clock_ns(), *device_wait = &candidate->connection->device_wait;

    run(candidate);
    while (*device_wait > 0 && !candidate->stays &&
           !bench_view_plan_begins(&candidate->view, "row by row")) {
        const bool answered = bench_view_plan_begins(&candidate->view, "accelerated: device");

        candidate->stays = !answered && clr_clock_ns() - start > *device_wait;
        if (answered || candidate->stays) {
            if (*device_wait > later_device_wait)
                *device_wait = later_device_wait;
            break;
        }
        sqlite3_sleep(2);
        run(candidate);
    }
}

/* The SELECT's row; one that an earlier candidate has found out is taken over, and so is that the
   host is what the same view stays on. */
static void expect(struct bench *bench, struct candidate *candidate)
{
    sqlite3_stmt *query;
    int64_t start;
    size_t i;

    for (i = 0; &bench->candidates[i] != candidate; i++) {
        const struct candidate *earlier = &bench->candidates[i];
        if (earlier->expected != NULL && strcmp(earlier->sql, candidate->sql) == 0) {
            if (earlier->connection == candidate->connection)
                candidate->stays = earlier->stays;
            candidate->expected = sqlite3_mprintf("%s", earlier->expected);
            candidate->select_time = earlier->select_time;
            return;
        }
    }
    query = bench_prepare(candidate->connection->db, candidate->sql);
    if (candidate->kind == CHANGING)
        bind_parameter(query, 0);
    start = clr_clock_ns();
    candidate->expected = bench_row_of(query);
    candidate->select_time = clr_clock_ns() - start;
    sqlite3_finalize(query);
}

/* Before the rounds: starts the device, and finds both rows of each view. */
static void check(struct bench *bench, struct candidate *candidate)
{
    if (candidate->kind == SELECT) {
        run(candidate);
        return;
    }
    expect(bench, candidate);
    warm_up(candidate);
    if (candidate->kind == FIRST)
        bench_run(candidate->connection->evict);
    if (candidate->kind == CHANGING)
        bind_parameter(candidate->view.query, 0);
    candidate->result = bench_row_of(candidate->view.query);
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure_round(struct candidate *candidate, int round)
{
    static int64_t times[MOST_REPEATS];
    sqlite3 *db = candidate->connection->db;
    int64_t sum = 0, decoded;
    int count = 0;

    if (candidate->kind == FIRST)
        bench_run(candidate->connection->evict);
    else if (candidate->kind != SELECT)
        warm_up(candidate);
    decoded = bench_statistic(db, "bytes_decoded");
    do {
        times[count] = run(candidate);
        sum += times[count++];
    } while (candidate->kind != FIRST && sum < repeat_time && count < MOST_REPEATS);
    candidate->bytes_decoded = (bench_statistic(db, "bytes_decoded") - decoded) / count;
    if (candidate->kind != SELECT)
        bench_view_read_plan(&candidate->view);
    qsort(times, (size_t)count, sizeof *times, compare_times);
    candidate->times[round] = times[count / 2];
    candidate->timed += count;
    candidate->timed_sum += sum;
}

/* Returns how many rounds there were. */
static int measure(struct bench *bench)
{
    int64_t start;
    size_t i;
    int round;

    for (i = 0; i < bench->count; i++)
        check(bench, &bench->candidates[i]);
    start = clr_clock_ns();
    for (round = 0; round < bench->rounds; round++) {
        if (round >= LEAST_ROUNDS && (double)(clr_clock_ns() - start) > bench->seconds * 1e9)
            break;
        for (i = 0; i < bench->count; i++)
            measure_round(&bench->candidates[round % 2 == 0 ? i : bench->count - 1 - i], round);
    }
    return round;
}

/* ---- The command. */

static void print_columns(sqlite3 *db)
{
    sqlite3_stmt *columns = bench_prepare(
        db, "SELECT \"table\" || '.' || \"column\", max(bytes, coalesce(device_bytes, 0))"
            " FROM clreduce_columns");
    const char *separator = "";

    while (sqlite3_step(columns) == SQLITE_ROW) {
        fputs(separator, stdout);
        bench_print_text((const char *)sqlite3_column_text(columns, 0));
        printf(": %lld", (long long)sqlite3_column_int64(columns, 1));
        separator = ", ";
    }
    sqlite3_finalize(columns);
}

static void print_member(const char *key, const char *text)
{
    printf("\"%s\": ", key);
    bench_print_text(text);
    fputs(", ", stdout);
}

static void print_candidate(const struct candidate *candidate, int rounds)
{
    int round;

    putchar('{');
    print_member("device", candidate->connection->device);
    print_member("kind", kind_names[candidate->kind]);
    print_member("sql", candidate->sql);
    if (candidate->kind != SELECT) {
        print_member("plan", candidate->view.line);
        print_member("result", candidate->result);
        print_member("expected", candidate->expected);
        printf("\"select_ns\": %lld, \"bytes_decoded\": %lld, ", (long long)candidate->select_time,
               (long long)candidate->bytes_decoded);
    }
    printf("\"runs\": %lld, \"mean_ns\": %lld, \"ns\": [", (long long)candidate->timed,
           (long long)(candidate->timed_sum / candidate->timed));
    for (round = 0; round < rounds; round++)
        printf("%s%lld", round > 0 ? ", " : "", (long long)candidate->times[round]);
    fputs("], \"columns\": {", stdout);
    print_columns(candidate->connection->db);
    puts("}}");
}

void bench_view_compare(char **arguments)
{
    static struct bench bench;
    static char line[LINE_SIZE];
    size_t i;
    int rounds;

    bench.path = arguments[0];
    bench.extension = arguments[1];
    bench.rounds = atoi(arguments[2]);
    bench.seconds = atof(arguments[3]);
    bench.device_wait = atof(arguments[4]);
    if (bench.rounds < LEAST_ROUNDS || bench.rounds > MOST_ROUNDS)
        bench_die("%d to %d rounds", LEAST_ROUNDS, MOST_ROUNDS);
    while (fgets(line, sizeof line, stdin) != NULL)
        read_candidate(&bench, line);
    rounds = measure(&bench);
    for (i = 0; i < bench.count; i++)
        print_candidate(&bench.candidates[i], rounds);
    for (i = 0; i < bench.count; i++) {
        struct candidate *candidate = &bench.candidates[i];
        bench_view_close(&candidate->view);
        sqlite3_free(candidate->sql);
        sqlite3_free(candidate->expected);
        sqlite3_free(candidate->result);
    }
    bench_disconnect(&bench.connections);
}
