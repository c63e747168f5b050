/* An accelerated view of a SELECT, its query, and what it plans. */
#ifndef CLR_BENCH_VIEW_H
#define CLR_BENCH_VIEW_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

enum { BENCH_PLAN_SIZE = 512 };

struct bench_view {
    sqlite3_stmt *query, *plan; /* plan: the first line of its plan */
    char line[BENCH_PLAN_SIZE]; /* of the plan, when bench_view_read_plan() was called last */
};

/*
 * Creates the view temp.bench_NUMBER of a SELECT in a connection that has the extension, and
 * prepares its query; with a parameter it takes one, ?1. Ends the program if that fails.
 */
struct bench_view bench_view_make(sqlite3 *db, size_t number, const char *sql, bool parameter);
void bench_view_close(struct bench_view *view);

/* Reads the first line of the plan of the latest query; "" if it has none. */
void bench_view_read_plan(struct bench_view *view);

/* Reads it, and returns whether it begins with these words. */
bool bench_view_plan_begins(struct bench_view *view, const char *words);

/* The row of a statement that returns one, as text that sqlite3_free() frees; reset thereafter. */
char *bench_row_of(sqlite3_stmt *query);

#endif
