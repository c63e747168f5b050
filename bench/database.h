/*
 * Connections and statements of a program that measures: whatever fails ends it with SQLite's
 * message.
 */
#ifndef CLR_BENCH_DATABASE_H
#define CLR_BENCH_DATABASE_H

#include <sqlite3.h>
#include <stdint.h>

sqlite3 *bench_open(const char *path);
void bench_load(sqlite3 *db, const char *extension);
sqlite3_stmt *bench_prepare(sqlite3 *db, const char *sql);

/* Sets the extension's device setting of a connection. */
void bench_set_device(sqlite3 *db, const char *device);

/* The sum of the connection's statistics whose names are like the pattern. */
int64_t bench_statistic(sqlite3 *db, const char *pattern);

/* Steps a statement to its end and resets it; returns how many nanoseconds that took. */
int64_t bench_run(sqlite3_stmt *statement);

/*
 * A column's value, or a row's, as text that differs where the values do in type or bits; NULL
 * stands for NULL. To be freed with sqlite3_free().
 */
char *bench_value_text(sqlite3_stmt *statement, int column);
char *bench_row_text(sqlite3_stmt *statement);

#endif
