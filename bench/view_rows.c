/*
 * Views and SELECTs of many rows, each run as it is asked for, so that another program's candidates
 * take turns with them.
 *
 *     view-bench rows DATABASE EXTENSION DEVICE
 *         Reads requests, one on a line of the standard input: KIND and SQL, with a tab between
 *         them. Runs the SELECT, or its view, to its end, with all values of all rows, and prints
 *         how long that took. DEVICE is the setting of the connection. The kinds:
 *             select    the SELECT as it stands; with what its rows hash to
 *             check     a view of it; likewise
 *             first     a view of it, after all columns of the connection were evicted
 *             again     a view of it, whose columns are resident if it ran before
 */
#include "base/clock.h"
#include "database.h"
#include "output.h"
#include "view.h"
#include "view_commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VIEWS = 128, LINE_SIZE = 4096 };

struct known_view {
    char *sql;
    struct bench_view view;
};

struct server {
    struct bench_connections connections;
    struct bench_connection *connection;
    struct known_view views[MOST_VIEWS];
    size_t count; /* of views */
};

struct answer {
    int64_t rows, time; /* in ns */
    uint64_t hash;      /* of all values and their types, in their order; 0 if it was not wanted */
};

/* FNV-1a, of 64 bits. */
static uint64_t add_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    while (count-- > 0)
        hash = (hash ^ *at++) * 1099511628211u;
    return hash;
}

/* Takes a value as a client does, and adds it to the hash if that is wanted. */
static void take_value(sqlite3_stmt *statement, int column, uint64_t *hash)
{
    const int type = sqlite3_column_type(statement, column);
    int64_t integer = 0;
    double real = 0;
    const void *bytes = NULL;
    size_t count = 0;

    switch (type) {
    case SQLITE_NULL:
        break;
    case SQLITE_INTEGER:
        integer = sqlite3_column_int64(statement, column);
        bytes = &integer;
        count = sizeof integer;
        break;
    case SQLITE_FLOAT:
        real = sqlite3_column_double(statement, column);
        bytes = &real;
        count = sizeof real;
        break;
    default:
        bytes = type == SQLITE_TEXT ? (const void *)sqlite3_column_text(statement, column)
                                    : sqlite3_column_blob(statement, column);
        count = (size_t)sqlite3_column_bytes(statement, column);
    }
    if (*hash != 0) {
        *hash = add_bytes(*hash, &type, sizeof type);
        *hash = add_bytes(*hash, &count, sizeof count);
        *hash = add_bytes(*hash, bytes, count);
    }
}

static struct answer run(sqlite3_stmt *statement, bool hashes)
{
    struct answer answer = {.hash = hashes ? 14695981039346656037u : 0};
    const int64_t start = clr_clock_ns();
    int code, i;

    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (i = 0; i < sqlite3_data_count(statement); i++)
            take_value(statement, i, &answer.hash);
        answer.rows++;
    }
    code = sqlite3_reset(statement);
    answer.time = clr_clock_ns() - start;
    if (code != SQLITE_OK)
        bench_die("%s: %s", sqlite3_sql(statement), sqlite3_errmsg(sqlite3_db_handle(statement)));
    return answer;
}

/* Returns the view of a SELECT, which is made if there is none. */
static struct bench_view *find_view(struct server *server, const char *sql)
{
    struct known_view *known = server->views;

    for (; known < server->views + server->count; known++) {
        if (strcmp(known->sql, sql) == 0)
            return &known->view;
    }
    if (server->count == MOST_VIEWS)
        bench_die("too many views");
    known->sql = sqlite3_mprintf("%s", sql);
    known->view = bench_view_make(server->connection->db, server->count++, sql, false);
    return &known->view;
}

static void print_answer(struct answer answer, const char *plan)
{
    printf("{\"ns\": %lld, \"rows\": %lld, \"hash\": \"%016llx\", \"plan\": ",
           (long long)answer.time, (long long)answer.rows, (unsigned long long)answer.hash);
    bench_print_text(plan);
    puts("}");
    fflush(stdout);
}

static void run_select(const struct server *server, const char *sql)
{
    sqlite3_stmt *statement = bench_prepare(server->connection->db, sql);

    print_answer(run(statement, true), NULL);
    sqlite3_finalize(statement);
}

static void run_view(struct server *server, const char *kind, const char *sql)
{
    struct bench_view *view = find_view(server, sql);
    struct answer answer;

    if (strcmp(kind, "first") == 0)
        bench_run(server->connection->evict);
    answer = run(view->query, strcmp(kind, "check") == 0);
    bench_view_read_plan(view);
    print_answer(answer, view->line);
}

void bench_view_rows(char **arguments)
{
    static struct server server;
    static char line[LINE_SIZE];
    size_t i;

    server.connection =
        bench_connect(&server.connections, arguments[0], arguments[1], arguments[2]);
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *kind = strtok(line, "\t\n"), *sql = strtok(NULL, "\t\n");

        if (sql == NULL)
            bench_die("not a request");
        if (strcmp(kind, "select") == 0)
            run_select(&server, sql);
        else
            run_view(&server, kind, sql);
    }
    for (i = 0; i < server.count; i++) {
        bench_view_close(&server.views[i].view);
        sqlite3_free(server.views[i].sql);
    }
    bench_disconnect(&server.connections);
}
