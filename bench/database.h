/*
 * Connections and statements of a program that measures: whatever fails ends it with SQLite's
 * message.
 */
#ifndef CLR_BENCH_DATABASE_H
#define CLR_BENCH_DATABASE_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

sqlite3 *bench_open(const char *path);

/* Loads the extension, whose views scan whenever they are asked. */
void bench_load(sqlite3 *db, const char *extension);
sqlite3_stmt *bench_prepare(sqlite3 *db, const char *sql);

/* Sets a setting of the extension's, of a connection. */
void bench_set(sqlite3 *db, const char *setting, const char *value);

/* The connections of a program to one database: one for each device, with the extension. */
enum { BENCH_MOST_CONNECTIONS = 4 };
struct bench_connection {
    char device[32];
    sqlite3 *db;
    sqlite3_stmt *evict; /* drops all columns that are kept */
    int64_t device_wait; /* the program's: ns that it still waits for the device, at first 0 */
};
struct bench_connections {
    struct bench_connection of[BENCH_MOST_CONNECTIONS];
    size_t count;
};

/* Returns the connection for that device, which is made if there is none. */
struct bench_connection *bench_connect(struct bench_connections *connections, const char *path,
                                       const char *extension, const char *device);

/* Closes them all; other statements have been finalized. */
void bench_disconnect(struct bench_connections *connections);

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
