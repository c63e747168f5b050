/*
 * Connections of one process that all ask the same views, beside a writer.
 *
 *     view-bench pool DATABASE EXTENSION DEVICE CONNECTIONS COMMITS SECONDS CHECK
 *         Reads SELECTs, one on a line of the standard input, and puts the database into WAL mode.
 *         Opens the connections, has the first ask all views and ask them again, the best of some
 *         times, and then each other one ask all of them. Then a thread for each asks views in
 *         turn, from another one on, for SECONDS, while a connection without the extension changes
 *         a row in each of COMMITS transactions a second. In the end the first connection's views
 *         are compared with their SELECTs if CHECK is 1. With DEVICE "none" connections run the
 *         SELECTs themselves, only for SECONDS. Prints how long queries took, how many there were,
 *         and what memory the process and the columns have taken: before and after the first
 *         connection's views, after all, and in the end.
 */
#include "base/clock.h"
#include "database.h"
#include "output.h"
#include "view.h"
#include "view_commands.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CLIENTS = 64, MOST_SELECTS = 32, LINE_SIZE = 4096, FIRST_ROOM = 1024, BUSY_MS = 60000 };
enum { AGAIN = 5 }; /* the best of so many */

struct client {
    pthread_t thread;
    sqlite3 *db;
    struct bench_view views[MOST_SELECTS];
    int first; /* the view that it begins with */
    int64_t *times;
    size_t count, room; /* of times */
};

struct writer {
    pthread_t thread;
    sqlite3 *db;
    sqlite3_stmt *update;
    int64_t rows, commits, slowest; /* in ns */
    double per_second;
};

struct memory {
    int64_t process, columns; /* in bytes */
};

static struct {
    char lines[MOST_SELECTS][LINE_SIZE];
    int selects, clients;
    bool plain; /* the SELECTs themselves run */
    struct client client[MOST_CLIENTS];
    struct writer writer;
    atomic_bool finished;
} pool;

static void read_selects(void)
{
    while (pool.selects < MOST_SELECTS && fgets(pool.lines[pool.selects], LINE_SIZE, stdin)) {
        pool.lines[pool.selects][strcspn(pool.lines[pool.selects], "\n")] = '\0';
        pool.selects++;
    }
    if (pool.selects == 0)
        bench_die("no SELECT to ask");
}

static void open_client(struct client *client, char **arguments)
{
    int i;

    client->db = bench_open(arguments[0]);
    sqlite3_busy_timeout(client->db, BUSY_MS);
    if (!pool.plain) {
        bench_load(client->db, arguments[1]);
        bench_set(client->db, "device", arguments[2]);
    }
    for (i = 0; i < pool.selects; i++) {
        if (pool.plain)
            client->views[i].query = bench_prepare(client->db, pool.lines[i]);
        else
            client->views[i] = bench_view_make(client->db, (size_t)i, pool.lines[i], false);
    }
    client->first = (int)(client - pool.client) % pool.selects;
}

/* Asks all of a client's views once. Returns how long that took, in ns. */
static int64_t ask_all(struct client *client)
{
    int64_t sum = 0;
    int i;

    for (i = 0; i < pool.selects; i++)
        sum += bench_run(client->views[i].query);
    return sum;
}

static void keep_time(struct client *client, int64_t time)
{
    if (client->count == client->room) {
        client->room = client->room == 0 ? FIRST_ROOM : 2 * client->room;
        client->times = realloc(client->times, client->room * sizeof client->times[0]);
        if (client->times == NULL)
            bench_die("no memory");
    }
    client->times[client->count++] = time;
}

static void *ask_on(void *argument)
{
    struct client *client = argument;
    int i;

    for (i = client->first; !atomic_load(&pool.finished); i = (i + 1) % pool.selects)
        keep_time(client, bench_run(client->views[i].query));
    return NULL;
}

/* Commits at even times; what is late is not made up for. */
static void *write_on(void *argument)
{
    struct writer *writer = argument;
    const int64_t period = (int64_t)(1e9 / writer->per_second);
    int64_t next = clr_clock_ns(), time;

    while (!atomic_load(&pool.finished)) {
        sqlite3_bind_int64(writer->update, 1, 1 + writer->commits * 7919 % writer->rows);
        time = bench_run(writer->update);
        writer->commits++;
        if (time > writer->slowest)
            writer->slowest = time;
        next += period;
        time = clr_clock_ns();
        if (next < time)
            next = time;
        usleep((useconds_t)((next - time) / 1000));
    }
    return NULL;
}

static void open_writer(const char *path, double per_second)
{
    sqlite3_stmt *statement;

    pool.writer.per_second = per_second;
    pool.writer.db = bench_open(path);
    sqlite3_busy_timeout(pool.writer.db, BUSY_MS);
    if (sqlite3_exec(pool.writer.db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL,
                     NULL, NULL) != SQLITE_OK)
        bench_die("%s: %s", path, sqlite3_errmsg(pool.writer.db));
    statement = bench_prepare(pool.writer.db, "SELECT max(id) FROM v");
    if (sqlite3_step(statement) == SQLITE_ROW)
        pool.writer.rows = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    pool.writer.update =
        bench_prepare(pool.writer.db, "UPDATE v SET j = (j + 7) % 1000001 WHERE id = ?");
}

static int64_t process_memory(void)
{
    long long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%lld %lld", &size, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

/* The bytes of columns, which each connection lists all. */
static int64_t column_memory(sqlite3 *db)
{
    sqlite3_stmt *query =
        bench_prepare(db, "SELECT total(bytes) + total(device_bytes) FROM clreduce_columns");
    const int64_t bytes = sqlite3_step(query) == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;

    sqlite3_finalize(query);
    return bytes;
}

/* What all clients up to that number take. */
static struct memory take_memory(int clients)
{
    struct memory memory = {process_memory(), 0};

    if (clients > 0 && !pool.plain)
        memory.columns = column_memory(pool.client[0].db);
    return memory;
}

/* All rows of a statement as text. */
static char *rows_of(sqlite3_stmt *query)
{
    sqlite3_str *rows = sqlite3_str_new(NULL);
    int code;

    while ((code = sqlite3_step(query)) == SQLITE_ROW) {
        char *row = bench_row_text(query);
        sqlite3_str_appendf(rows, "%s\n", row);
        sqlite3_free(row);
    }
    if (code != SQLITE_DONE)
        bench_die("%s: %s", sqlite3_sql(query), sqlite3_errmsg(sqlite3_db_handle(query)));
    sqlite3_reset(query);
    return sqlite3_str_finish(rows);
}

/* Whether the views of the first client give what their SELECTs give. */
static bool compare(struct client *client)
{
    bool same = true;
    int i;

    for (i = 0; i < pool.selects; i++) {
        sqlite3_stmt *select = bench_prepare(client->db, pool.lines[i]);
        char *got = rows_of(client->views[i].query), *want = rows_of(select);
        same = same && strcmp(got, want) == 0;
        sqlite3_free(got);
        sqlite3_free(want);
        sqlite3_finalize(select);
    }
    return same;
}

static void run_for(double seconds)
{
    struct writer *writer = &pool.writer;
    int i;

    if (writer->per_second > 0 && pthread_create(&writer->thread, NULL, write_on, writer) != 0)
        bench_die("no thread");
    for (i = 0; i < pool.clients; i++) {
        if (pthread_create(&pool.client[i].thread, NULL, ask_on, &pool.client[i]) != 0)
            bench_die("no thread");
    }
    usleep((useconds_t)(seconds * 1e6));
    atomic_store(&pool.finished, true);
    for (i = 0; i < pool.clients; i++)
        pthread_join(pool.client[i].thread, NULL);
    if (writer->per_second > 0)
        pthread_join(writer->thread, NULL);
}

static int by_time(const void *one, const void *other)
{
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;

    return a < b ? -1 : a > b;
}

/* All clients' times in order, at least one, for the caller to free. */
static int64_t *sorted_times(size_t *count)
{
    int64_t *all;
    int i;

    *count = 0;
    for (i = 0; i < pool.clients; i++)
        *count += pool.client[i].count;
    all = malloc((*count + 1) * sizeof all[0]);
    if (all == NULL || *count == 0)
        bench_die("no query has ended");
    *count = 0;
    for (i = 0; i < pool.clients; i++) {
        memcpy(all + *count, pool.client[i].times, pool.client[i].count * sizeof all[0]);
        *count += pool.client[i].count;
    }
    qsort(all, *count, sizeof all[0], by_time);
    return all;
}

static void print_memory(const char *when, int clients)
{
    const struct memory memory = take_memory(clients);

    printf(", \"%s_bytes\": {\"process\": %lld, \"columns\": %lld}", when,
           (long long)memory.process, (long long)memory.columns);
}

/* The first answers of the clients, one after the other. */
static void print_first_answers(void)
{
    int64_t time, again = INT64_MAX;
    int i;

    print_memory("before", 1);
    printf(", \"first_ns\": %lld", (long long)ask_all(&pool.client[0]));
    for (i = 0; i < AGAIN; i++) {
        time = ask_all(&pool.client[0]);
        again = time < again ? time : again;
    }
    print_memory("one", 1);
    printf(", \"again_ns\": %lld, \"others_ns\": [", (long long)again);
    for (i = 1; i < pool.clients; i++)
        printf("%s%lld", i > 1 ? ", " : "", (long long)ask_all(&pool.client[i]));
    putchar(']');
    print_memory("all", pool.clients);
}

/* What all clients' queries took in so many seconds. */
static void print_times(double seconds)
{
    size_t count;
    int64_t *times = sorted_times(&count);

    printf(", \"seconds\": %.3f, \"answers\": %zu, \"per_second\": %.4g, \"p50_ns\": %lld, "
           "\"p99_ns\": %lld, \"longest_ns\": %lld",
           seconds, count, (double)count / seconds, (long long)times[count / 2],
           (long long)times[count * 99 / 100], (long long)times[count - 1]);
    printf(", \"committed\": %lld, \"slowest_commit_ns\": %lld", (long long)pool.writer.commits,
           (long long)pool.writer.slowest);
    free(times);
}

static void close_all(void)
{
    int i, view;

    for (i = 0; i < pool.clients; i++) {
        for (view = 0; view < pool.selects; view++)
            bench_view_close(&pool.client[i].views[view]);
        sqlite3_close(pool.client[i].db);
        free(pool.client[i].times);
    }
    sqlite3_finalize(pool.writer.update);
    sqlite3_close(pool.writer.db);
}

void bench_view_pool(char **arguments)
{
    int64_t start;
    int i;

    pool.plain = strcmp(arguments[2], "none") == 0;
    pool.clients = atoi(arguments[3]);
    if (pool.clients < 1 || pool.clients > MOST_CLIENTS)
        bench_die("1 to %d connections", MOST_CLIENTS);
    read_selects();
    open_writer(arguments[0], atof(arguments[4]));
    for (i = 0; i < pool.clients; i++)
        open_client(&pool.client[i], arguments);
    printf("{\"connections\": %d, \"commits\": %g, \"device\": ", pool.clients,
           pool.writer.per_second);
    bench_print_text(arguments[2]);
    if (!pool.plain)
        print_first_answers();
    start = clr_clock_ns();
    run_for(atof(arguments[5]));
    print_times((double)(clr_clock_ns() - start) * 1e-9);
    print_memory("end", pool.clients);
    if (strcmp(arguments[6], "1") == 0)
        printf(", \"same\": %s", compare(&pool.client[0]) ? "true" : "false");
    puts("}");
    close_all();
}
