/*
 * SQLite with the extension linked in, for the tests of the upper floor: queries whose whole result
 * is one text to compare, with the type and every bit of each value in it.
 */
#ifndef CLR_TESTS_DATABASE_H
#define CLR_TESTS_DATABASE_H

#include "clreduce.h"
#include "opencl/devices.h"
#include "random.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Before the first connection: every connection then has the extension. */
static inline void database_register(void)
{
    TAP_NEED(sqlite3_auto_extension((void (*)(void))sqlite3_clreduce_init) == SQLITE_OK,
             "the extension could not be registered");
}

/* Opens a database. more: SQLITE_OPEN_ flags, or 0; vfs: NULL for the usual one. */
static inline sqlite3 *database_open_at(const char *path, int more, const char *vfs)
{
    sqlite3 *db = NULL;

    more |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    TAP_NEED(sqlite3_open_v2(path, &db, more, vfs) == SQLITE_OK, "%s: %s", path,
             db != NULL ? sqlite3_errmsg(db) : "no memory");
    return db;
}

/* Opens an empty one in memory. */
static inline sqlite3 *database_open(void)
{
    return database_open_at(":memory:", 0, NULL);
}

/* For what must not fail. The text is in the format of sqlite3_mprintf(). */
static inline void database_run(sqlite3 *db, const char *format, ...)
{
    char *sql;

    TAP_WITH_ARGUMENTS(format, sql = sqlite3_vmprintf(format, arguments));
    TAP_NEED(sql != NULL && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s",
             sql != NULL ? sql : "no memory", sqlite3_errmsg(db));
    sqlite3_free(sql);
}

/* Returns a statement, which the caller finalizes, of what must not fail. */
static inline sqlite3_stmt *database_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    TAP_NEED(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
             sqlite3_errmsg(db));
    return statement;
}

/* A text that grows. Its memory is the C library's, and so outlives SQLite's failing ones. */
struct database_text {
    char *text;
    size_t length, size;
};

static inline void database_append(struct database_text *to, const void *bytes, size_t length)
{
    if (to->length + length + 1 > to->size) {
        to->size = 2 * (to->length + length) + 64;
        to->text = realloc(to->text, to->size);
        TAP_NEED(to->text != NULL, "no memory");
    }
    if (length != 0)
        memcpy(to->text + to->length, bytes, length);
    to->length += length;
    to->text[to->length] = '\0';
}

static inline void database_append_value(struct database_text *to, sqlite3_stmt *query, int column)
{
    static const char digits[] = "0123456789abcdef";
    char text[64] = "";
    const unsigned char *bytes;
    int length;

    switch (sqlite3_column_type(query, column)) {
    case SQLITE_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)sqlite3_column_int64(query, column));
        break;
    case SQLITE_FLOAT:
        snprintf(text, sizeof text, "%a", sqlite3_column_double(query, column));
        break;
    case SQLITE_NULL:
        snprintf(text, sizeof text, "NULL");
        break;
    default:
        bytes = sqlite3_column_blob(query, column);
        length = sqlite3_column_bytes(query, column);
        database_append(to, sqlite3_column_type(query, column) == SQLITE_TEXT ? "'" : "x'", 1);
        for (int i = 0; i < length; i++) {
            char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
            database_append(to, pair, 2);
        }
        snprintf(text, sizeof text, "'");
        break;
    }
    database_append(to, text, strlen(text));
}

/*
 * Runs a query and returns its rows, one a line, as text that the caller frees with free(). Sets
 * *rc to SQLite's result code; what an error says comes last in the text.
 */
static inline char *database_query_rc(sqlite3 *db, const char *sql, int *rc)
{
    struct database_text result = {NULL, 0, 0};
    sqlite3_stmt *query = NULL;
    int final_rc;

    database_append(&result, "", 0);
    *rc = sqlite3_prepare_v2(db, sql, -1, &query, NULL);
    while (*rc == SQLITE_OK || *rc == SQLITE_ROW) {
        *rc = sqlite3_step(query);
        for (int i = 0; *rc == SQLITE_ROW && i < sqlite3_column_count(query); i++) {
            database_append(&result, i == 0 ? "" : " ", i == 0 ? 0 : 1);
            database_append_value(&result, query, i);
        }
        if (*rc == SQLITE_ROW)
            database_append(&result, "\n", 1);
    }
    final_rc = sqlite3_finalize(query);
    if (*rc == SQLITE_DONE)
        *rc = final_rc;
    if (*rc != SQLITE_OK) {
        database_append(&result, "error: ", 7);
        database_append(&result, sqlite3_errmsg(db), strlen(sqlite3_errmsg(db)));
    }
    return result.text;
}

static inline char *database_query(sqlite3 *db, const char *sql)
{
    int rc;
    return database_query_rc(db, sql, &rc);
}

/* Returns the number that a query gives. */
static inline int64_t database_number(sqlite3 *db, const char *sql)
{
    char *found = database_query(db, sql);
    const int64_t number = strtoll(found, NULL, 10);

    free(found);
    return number;
}

/* Returns whether what a query gives is this text, and frees it; if not, says what it gives. */
static inline bool database_found(const char *sql, char *found, const char *want)
{
    const bool same = strcmp(found, want) == 0;

    if (!same)
        tap_diag("%s\n got: %.200s\nwant: %.200s", sql, found, want);
    free(found);
    return same;
}

static inline bool database_gives(sqlite3 *db, const char *sql, const char *want)
{
    return database_found(sql, database_query(db, sql), want);
}

/* Returns whether a query gives what another one gives after it. */
static inline bool database_agrees(sqlite3 *db, const char *sql, const char *other)
{
    char *found = database_query(db, sql), *want = database_query(db, other);
    const bool same = database_found(sql, found, want);

    free(want);
    return same;
}

/* Changes a setting of the connection. */
static inline void database_set(sqlite3 *db, const char *name, const char *value)
{
    database_run(db, "SELECT clreduce_set(%Q, %Q)", name, value);
}

/* The same of several: names and values by turns. */
#define DATABASE_SET(db, ...) database_set_all(db, (const char *const[]){__VA_ARGS__, NULL})
static inline void database_set_all(sqlite3 *db, const char *const *settings)
{
    for (; *settings != NULL; settings += 2)
        database_set(db, settings[0], settings[1]);
}

/* Opens a file for the host. Nothing of its columns is left when it is closed. */
static inline sqlite3 *database_open_file(const char *path)
{
    sqlite3 *db = database_open_at(path, 0, NULL);

    DATABASE_SET(db, "device", "host", "column_retention", "0");
    return db;
}

/* Reads a figure of clreduce_stats, into a static buffer; "" for NULL. */
static inline const char *database_stat_text(sqlite3 *db, const char *name)
{
    static char text[4096];
    sqlite3_stmt *query = database_prepare(db, "SELECT value FROM clreduce_stats WHERE name = ?");
    const char *found;

    sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
    TAP_NEED(sqlite3_step(query) == SQLITE_ROW, "there is no figure %s", name);
    found = (const char *)sqlite3_column_text(query, 0);
    snprintf(text, sizeof text, "%s", found != NULL ? found : "");
    sqlite3_finalize(query);
    return text;
}

static inline int64_t database_stat(sqlite3 *db, const char *name)
{
    return strtoll(database_stat_text(db, name), NULL, 10);
}

/*
 * Makes the table t(g, i, r, y, m, s): groups, integers, reals, values of both and of all types,
 * and texts, some of each NULL. Sums of i fit into 64 bits.
 */
static inline void database_fill(sqlite3 *db, int rows)
{
    sqlite3_stmt *insert;

    database_run(db, "CREATE TABLE t(g, i, r, y, m, s); BEGIN");
    insert = database_prepare(db, "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)");
    for (int row = 0; row < rows; row++) {
        char text[32];
        snprintf(text, sizeof text, "text %d", random_between(0, 999));
        sqlite3_reset(insert);
        sqlite3_clear_bindings(insert);
        sqlite3_bind_int(insert, 1, row * 7 / rows);
        for (int column = 2; column <= 6; column++) {
            int kind = column == 5 ? random_between(2, 6) : column;
            if (random_below(16) == 0)
                continue; /* NULL */
            if (kind == 2)
                sqlite3_bind_int64(insert, column, random_integer() >> 16);
            else if (kind == 3)
                sqlite3_bind_double(insert, column, random_finite());
            else if (kind == 4)
                sqlite3_bind_double(insert, column, random_hard(1000, 1050));
            else if (kind == 5)
                sqlite3_bind_blob(insert, column, text, random_between(0, 6), SQLITE_TRANSIENT);
            else
                sqlite3_bind_text(insert, column, text, random_between(0, 8), SQLITE_TRANSIENT);
        }
        TAP_NEED(sqlite3_step(insert) == SQLITE_DONE, "%s", sqlite3_errmsg(db));
    }
    sqlite3_finalize(insert);
    database_run(db, "COMMIT");
}

/* Queries over that table, with every aggregate in every use. */
static const char *const database_queries[] = {
    "SELECT gpu_sum(r), gpu_sum(i), gpu_total(m), gpu_avg(y) FROM t",
    "SELECT gpu_dot(r, y), gpu_dot(i, 3), gpu_dot(i, y), gpu_dot(m, i) FROM t",
    "SELECT gpu_min(i), gpu_max(r), gpu_min(y), gpu_max(m), gpu_min(s), gpu_max(s) FROM t",
    "SELECT g, gpu_sum(r), gpu_avg(i), gpu_max(s), gpu_min(m), gpu_dot(y, y) FROM t GROUP BY g",
    "SELECT i % 50 AS k, gpu_sum(y), gpu_max(r), gpu_dot(i, r) FROM t GROUP BY k",
    "SELECT gpu_sum(r) OVER w, gpu_min(s) OVER w, gpu_max(m) OVER w, gpu_dot(r, i) OVER w FROM t"
    " WINDOW w AS (ORDER BY rowid ROWS BETWEEN 20 PRECEDING AND 3 FOLLOWING)",
    "SELECT gpu_avg(y) OVER w, gpu_max(s) OVER w, gpu_min(i) OVER w FROM t"
    " WINDOW w AS (PARTITION BY g)",
    "SELECT gpu_sum(DISTINCT i), gpu_sum(r) FILTER (WHERE g < 3), gpu_max(s) FILTER (WHERE g = 2)"
    " FROM t",
    "SELECT gpu_var_samp(r), gpu_norm(i), gpu_corr(y, r), gpu_regr_slope(i, m),"
    " gpu_corr_state(r, i), gpu_max_state(s) FROM t",
    "SELECT gpu_corr_merge(c), gpu_min_merge(l), gpu_avg_state_merge(a)"
    " FROM (SELECT gpu_corr_state(r, i) AS c, gpu_min_state(s) AS l, gpu_sum_state(m) AS a"
    " FROM t GROUP BY g)",
    "SELECT gpu_stddev_pop(r) OVER w, gpu_covar_pop(y, i) OVER w FROM t"
    " WINDOW w AS (ORDER BY rowid ROWS BETWEEN 20 PRECEDING AND 3 FOLLOWING)",
};

enum { DATABASE_QUERIES = sizeof database_queries / sizeof database_queries[0] };

/* All results of those queries as the host has them. */
static inline void database_expect(sqlite3 *db, char *expected[DATABASE_QUERIES])
{
    int rc;

    database_set(db, "device", "host");
    TAP_EACH (i, database_queries) {
        expected[i] = database_query_rc(db, database_queries[i], &rc);
        TAP_NEED(rc == SQLITE_OK, "%s: %s", database_queries[i], expected[i]);
    }
}

static inline void database_free_expected(char *expected[DATABASE_QUERIES])
{
    TAP_EACH (i, database_queries)
        free(expected[i]);
}

/* Runs all of them; returns how many gave something else, and says which. */
static inline int database_compare(sqlite3 *db, char *const expected[DATABASE_QUERIES])
{
    int differing = 0;

    TAP_EACH (i, database_queries)
        differing += !database_gives(db, database_queries[i], expected[i]);
    return differing;
}

/* Uses the device to test on. */
static inline void database_use_device(sqlite3 *db)
{
    database_set(db, "device", devices_setting());
}

/* How many chunks were reduced on the host because no device will ever do it. */
static inline int64_t database_without_device(sqlite3 *db)
{
    return database_stat(db, "host_no_device") + database_stat(db, "host_device_setting") +
           database_stat(db, "host_device_failed");
}

/* Runs queries until a device serves; returns whether there is one, as there may have to be. */
static inline bool database_wait_for_device(sqlite3 *db)
{
    int64_t served = database_stat(db, "chunks_to_device");
    int64_t refused = database_without_device(db);
    time_t start = time(NULL);

    while (database_stat(db, "chunks_to_device") == served &&
           database_without_device(db) == refused && time(NULL) - start < 60) {
        free(database_query(db, database_queries[0]));
        /* A device that is slow to begin has its chunks taken back. */
        sqlite3_sleep(1);
    }
    if (database_stat(db, "chunks_to_device") == served)
        tap_no_device("no device serves");
    return database_stat(db, "chunks_to_device") > served;
}

#endif
