/*
 * What a process pays from its start on, query after query.
 *
 *     view-bench session DATABASE EXTENSION DEVICE RUNS SECONDS SQL
 *         Opens the database, loads the extension, creates a view of the SELECT and queries it RUNS
 *         times, or fewer (but 3) if SECONDS have passed; with DEVICE "none" loads nothing and runs
 *         the SELECT itself. The times are those since before opening, in ns, after each query.
 */
#include "base/clock.h"
#include "database.h"
#include "output.h"
#include "view.h"
#include "view_commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 100000, LEAST_RUNS = 3 };

void bench_view_session(char **arguments)
{
    static int64_t times[MOST_RUNS];
    const char *device = arguments[2], *sql = arguments[5];
    int64_t start = clr_clock_ns(), limit = (int64_t)(atof(arguments[4]) * 1e9);
    int runs = atoi(arguments[3]), count = 0, i;
    struct bench_view view = {.line = ""};
    char *result;
    sqlite3 *db;

    if (runs < LEAST_RUNS || runs > MOST_RUNS)
        bench_die("%d to %d runs", LEAST_RUNS, MOST_RUNS);
    db = bench_open(arguments[0]);
    if (strcmp(device, "none") == 0) {
        view.query = bench_prepare(db, sql);
    } else {
        bench_load(db, arguments[1]);
        bench_set(db, "device", device);
        view = bench_view_make(db, 0, sql, false);
    }
    do {
        bench_run(view.query);
        times[count++] = clr_clock_ns() - start;
    } while (count < runs && (count < LEAST_RUNS || times[count - 1] < limit));
    if (view.plan != NULL)
        bench_view_read_plan(&view);
    result = bench_row_of(view.query);

    fputs("{\"device\": ", stdout);
    bench_print_text(device);
    fputs(", \"sql\": ", stdout);
    bench_print_text(sql);
    fputs(", \"plan\": ", stdout);
    bench_print_text(view.line);
    fputs(", \"result\": ", stdout);
    bench_print_text(result);
    fputs(", \"ns\": [", stdout);
    for (i = 0; i < count; i++)
        printf("%s%lld", i > 0 ? ", " : "", (long long)times[i]);
    puts("]}");
    sqlite3_free(result);
    bench_view_close(&view);
    sqlite3_close(db);
}
