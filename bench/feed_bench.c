/*
 * Queries as a program that uses SQLite runs them, timed with as little around them as possible.
 * bench/measuring/feed.py says which and evaluates the times; every result is a JSON object on a
 * line of the standard output.
 *
 *     feed-bench make TABLES DATABASE ROWS
 *         makes the database of feed_data.h, if TABLES is "feed", or of statistics_data.h, if it is
 *         "statistics", unless it is there already.
 *
 *     feed-bench compare DATABASE EXTENSION RUNS SECONDS
 *         Reads cases, one on a line of the standard input: a name, and then statements, each after
 *         a tab, as DEVICE:SQL. DEVICE is the setting of the connection that runs it. DEVICE!SQL
 *         is a preparation for those behind it, such as a temporary table: it runs once and is not
 *         timed. A case's statements run by turns in this one process: to warm up, then RUNS
 *         rounds, or fewer (but 3) if SECONDS have passed. All times are printed, so that the times
 *         of a round can be compared with each other.
 *
 *     feed-bench once DATABASE EXTENSION DEVICE SQL
 *         One query, the first of this process. With DEVICE "none" the extension is not loaded.
 *
 *     feed-bench query DATABASE EXTENSION SQL
 *         Not timed: its rows.
 *
 * Exit status: 0; 1 if the command line is wrong, 2 with a message if anything else is.
 */
#include "base/clock.h"
#include "database.h"
#include "feed_data.h"
#include "feed_floor.h"
#include "output.h"
#include "statistics_data.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { MOST_STATEMENTS = 8, MOST_RUNS = 99, LINE_SIZE = 8192, LEAST_RUNS = 3 };

/* How long a case may wait in its warm-up until the device has started. */
static const int64_t device_wait = 20000000000;

struct statement {
    struct bench_connection *connection;
    sqlite3_stmt *query;
    int64_t times[MOST_RUNS];
    int64_t to_device, on_host; /* chunks, over all runs */
    char *result;               /* its first value */
};

struct bench {
    const char *path, *extension;
    int runs;
    double seconds;
    struct bench_connections connections;
    struct statement statements[MOST_STATEMENTS];
    size_t count; /* of statements */
};

const char bench_program[] = "feed-bench";

/*
 * How long this thread has run or was ready to, on Linux. What is missing of the time that has
 * passed is what it waited for: a device, a lock, a disk. Elsewhere -1, and no waiting is seen.
 */
static int64_t ready_time(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    long long ran = -1, queued = 0;

    if (file == NULL)
        return -1;
    if (fscanf(file, "%lld %lld", &ran, &queued) != 2)
        ran = -1;
    fclose(file);
    return ran < 0 ? -1 : ran + queued;
}

/* The most memory that was resident at a time, in bytes. */
static int64_t peak_memory(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    struct rusage usage;
    char line[256];
    long long kbytes = 0;

    while (file != NULL && kbytes == 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmHWM: %lld kB", &kbytes);
    if (file != NULL)
        fclose(file);
    if (kbytes == 0 && getrusage(RUSAGE_SELF, &usage) == 0)
        kbytes = usage.ru_maxrss;
    return (int64_t)kbytes * 1024;
}

/* ---- Connections. */

static void register_floor(sqlite3 *db)
{
    if (bench_floor_register(db) != SQLITE_OK)
        bench_die("%s", sqlite3_errmsg(db));
}

static sqlite3 *open_database(const char *path)
{
    sqlite3 *db = bench_open(path);

    register_floor(db);
    return db;
}

static struct bench_connection *find_connection(struct bench *bench, const char *device)
{
    const size_t before = bench->connections.count;
    struct bench_connection *connection =
        bench_connect(&bench->connections, bench->path, bench->extension, device);

    if (bench->connections.count > before)
        register_floor(connection->db);
    return connection;
}

/* ---- compare: statements by turns. */

/* Until a run has found the device ready, or is not for it. The first one tells the result. */
static void warm_up(struct statement *statement)
{
    sqlite3 *db = statement->connection->db;
    int64_t start = clr_clock_ns(), waited = bench_statistic(db, "host_device_starting"), before;

    if (sqlite3_step(statement->query) == SQLITE_ROW)
        statement->result = bench_value_text(statement->query, 0);
    for (;;) {
        bench_run(statement->query);
        before = waited;
        waited = bench_statistic(db, "host_device_starting");
        if (waited == before || clr_clock_ns() - start > device_wait)
            break;
    }
}

/* Statements of one connection share its statistics: each run is counted apart. */
static void measure_run(struct statement *statement, int round)
{
    sqlite3 *db = statement->connection->db;

    statement->to_device -= bench_statistic(db, "chunks_to_device");
    statement->on_host -= bench_statistic(db, "host_%");
    statement->times[round] = bench_run(statement->query);
    statement->to_device += bench_statistic(db, "chunks_to_device");
    statement->on_host += bench_statistic(db, "host_%");
}

/* Returns how many rounds there were. Every other one goes backwards. */
static int measure(struct bench *bench)
{
    int64_t start;
    size_t i;
    int round;

    for (i = 0; i < bench->count; i++)
        warm_up(&bench->statements[i]);
    start = clr_clock_ns();
    for (round = 0; round < bench->runs; round++) {
        if (round >= LEAST_RUNS && (double)(clr_clock_ns() - start) > bench->seconds * 1e9)
            break;
        for (i = 0; i < bench->count; i++)
            measure_run(&bench->statements[round % 2 == 0 ? i : bench->count - 1 - i], round);
    }
    return round;
}

static void print_case(const struct bench *bench, const char *name, int rounds)
{
    size_t i;
    int round;

    fputs("{\"name\": ", stdout);
    bench_print_text(name);
    fputs(", \"statements\": [", stdout);
    for (i = 0; i < bench->count; i++) {
        const struct statement *statement = &bench->statements[i];
        printf("%s{\"device\": ", i > 0 ? ", " : "");
        bench_print_text(statement->connection->device);
        fputs(", \"sql\": ", stdout);
        bench_print_text(sqlite3_sql(statement->query));
        fputs(", \"result\": ", stdout);
        bench_print_text(statement->result);
        printf(", \"chunks_to_device\": %lld, \"chunks_on_host\": %lld, \"ns\": [",
               (long long)statement->to_device, (long long)statement->on_host);
        for (round = 0; round < rounds; round++)
            printf("%s%lld", round > 0 ? ", " : "", (long long)statement->times[round]);
        fputs("]}", stdout);
    }
    puts("]}");
    fflush(stdout);
}

/* Runs a preparation, or adds a statement to the case. */
static void read_statement(struct bench *bench, char *device)
{
    char *sql = strpbrk(device, ":!");
    bool timed = sql != NULL && *sql == ':';
    struct bench_connection *connection;
    sqlite3_stmt *query;

    if (sql == NULL || (timed && bench->count == MOST_STATEMENTS))
        bench_die("not a statement, or too many: %s", device);
    *sql++ = '\0';
    connection = find_connection(bench, device);
    query = bench_prepare(connection->db, sql);
    if (timed) {
        bench->statements[bench->count++] =
            (struct statement){.connection = connection, .query = query};
    } else {
        bench_run(query);
        sqlite3_finalize(query);
    }
}

static void run_case(struct bench *bench, char *line)
{
    char *name = strtok(line, "\t\n"), *device;
    size_t i;

    bench->count = 0;
    while ((device = strtok(NULL, "\t\n")) != NULL)
        read_statement(bench, device);
    print_case(bench, name, measure(bench));
    for (i = 0; i < bench->count; i++) {
        sqlite3_finalize(bench->statements[i].query);
        sqlite3_free(bench->statements[i].result);
    }
}

static void compare(char **arguments)
{
    static struct bench bench;
    static char line[LINE_SIZE];

    bench.path = arguments[0];
    bench.extension = arguments[1];
    bench.runs = atoi(arguments[2]);
    bench.seconds = atof(arguments[3]);
    if (bench.runs < LEAST_RUNS || bench.runs > MOST_RUNS)
        bench_die("%d to %d runs", LEAST_RUNS, MOST_RUNS);
    while (fgets(line, sizeof line, stdin) != NULL)
        run_case(&bench, line);
    bench_disconnect(&bench.connections);
}

/* ---- once, query, and make. */

static void print_statistics(sqlite3 *db)
{
    sqlite3_stmt *statement = bench_prepare(
        db, "SELECT name, value FROM clreduce_stats WHERE unit <> 'text' OR value <> ''");
    const char *separator = "";

    while (sqlite3_step(statement) == SQLITE_ROW) {
        printf("%s", separator);
        bench_print_text((const char *)sqlite3_column_text(statement, 0));
        fputs(": ", stdout);
        if (sqlite3_column_type(statement, 1) == SQLITE_TEXT)
            bench_print_text((const char *)sqlite3_column_text(statement, 1));
        else
            printf("%s", (const char *)sqlite3_column_text(statement, 1));
        separator = ", ";
    }
    sqlite3_finalize(statement);
}

static void once(char **arguments)
{
    int loaded = strcmp(arguments[2], "none") != 0;
    sqlite3 *db = open_database(arguments[0]);
    struct bench_connection connection = {.db = db};
    struct statement statement = {.connection = &connection};
    int64_t load = clr_clock_ns(), before, query, ready;

    if (loaded)
        bench_load(db, arguments[1]);
    load = clr_clock_ns() - load;
    if (loaded)
        bench_set(db, "device", arguments[2]);
    before = peak_memory();
    ready = ready_time();
    query = clr_clock_ns();
    statement.query = bench_prepare(db, arguments[3]);
    bench_run(statement.query);
    query = clr_clock_ns() - query;
    ready = ready < 0 ? query : ready_time() - ready;
    printf("{\"device\": ");
    bench_print_text(arguments[2]);
    printf(", \"load_ns\": %lld, \"query_ns\": %lld, \"waited_ns\": %lld, "
           "\"peak_bytes_before\": %lld, \"peak_bytes\": %lld, \"statistics\": {",
           (long long)load, (long long)query, (long long)(query > ready ? query - ready : 0),
           (long long)before, (long long)peak_memory());
    if (loaded)
        print_statistics(db);
    puts("}}");
    sqlite3_finalize(statement.query);
    sqlite3_close(db);
}

/* Each row as an array of texts. */
static void query(char **arguments)
{
    sqlite3 *db = open_database(arguments[0]);
    sqlite3_stmt *statement;
    int i;

    bench_load(db, arguments[1]);
    statement = bench_prepare(db, arguments[2]);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (i = 0; i < sqlite3_column_count(statement); i++) {
            char *text = bench_value_text(statement, i);
            fputs(i == 0 ? "[" : ", ", stdout);
            bench_print_text(text);
            sqlite3_free(text);
        }
        puts("]");
    }
    if (sqlite3_finalize(statement) != SQLITE_OK)
        bench_die("%s: %s", arguments[2], sqlite3_errmsg(db));
    sqlite3_close(db);
}

static void make(char **arguments)
{
    bool feed = strcmp(arguments[0], "feed") == 0;

    if (!feed && strcmp(arguments[0], "statistics") != 0)
        bench_die("no such tables: %s", arguments[0]);
    bench_tables_make(arguments[1], atoll(arguments[2]),
                      feed ? &bench_feed_tables : &bench_statistics_tables);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int arguments;
        void (*run)(char **arguments);
    } commands[] = {
        {"make", 3, make}, {"compare", 4, compare}, {"once", 4, once}, {"query", 3, query}};
    size_t i;

    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (argc == 2 + commands[i].arguments && strcmp(argv[1], commands[i].name) == 0) {
            commands[i].run(argv + 2);
            return 0;
        }
    }
    fputs("usage: feed-bench make TABLES DATABASE ROWS\n"
          "       feed-bench compare DATABASE EXTENSION RUNS SECONDS\n"
          "       feed-bench once DATABASE EXTENSION DEVICE SQL\n"
          "       feed-bench query DATABASE EXTENSION SQL\n",
          stderr);
    return 1;
}
