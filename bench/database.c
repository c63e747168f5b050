#include "database.h"

#include "base/clock.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

sqlite3 *bench_open(const char *path)
{
    sqlite3 *db;

    if (sqlite3_open(path, &db) != SQLITE_OK)
        bench_die("%s: %s", path, sqlite3_errmsg(db));
    return db;
}

sqlite3_stmt *bench_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        bench_die("%s: %s", sql, sqlite3_errmsg(db));
    return statement;
}

void bench_set(sqlite3 *db, const char *setting, const char *value)
{
    sqlite3_stmt *statement = bench_prepare(db, "SELECT clreduce_set(?, ?)");

    sqlite3_bind_text(statement, 1, setting, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 2, value, -1, SQLITE_TRANSIENT);
    bench_run(statement);
    sqlite3_finalize(statement);
}

void bench_load(sqlite3 *db, const char *extension)
{
    char *error = NULL;

    sqlite3_enable_load_extension(db, 1);
    if (sqlite3_load_extension(db, extension, NULL, &error) != SQLITE_OK)
        bench_die("%s: %s", extension, error);
    bench_set(db, "keep_answers", "off");
}

struct bench_connection *bench_connect(struct bench_connections *connections, const char *path,
                                       const char *extension, const char *device)
{
    struct bench_connection *connection;
    size_t i;

    for (i = 0; i < connections->count; i++) {
        if (strcmp(connections->of[i].device, device) == 0)
            return &connections->of[i];
    }
    if (i == BENCH_MOST_CONNECTIONS || strlen(device) >= sizeof connection->device)
        bench_die("too many devices, or too long a name: %s", device);
    connection = &connections->of[connections->count++];
    strcpy(connection->device, device);
    connection->db = bench_open(path);
    bench_load(connection->db, extension);
    bench_set(connection->db, "device", device);
    connection->evict = bench_prepare(connection->db, "SELECT clreduce_evict()");
    return connection;
}

void bench_disconnect(struct bench_connections *connections)
{
    size_t i;

    for (i = 0; i < connections->count; i++) {
        sqlite3_finalize(connections->of[i].evict);
        sqlite3_close(connections->of[i].db);
    }
}

int64_t bench_statistic(sqlite3 *db, const char *pattern)
{
    sqlite3_stmt *statement =
        bench_prepare(db, "SELECT total(value) FROM clreduce_stats WHERE name LIKE ?");
    int64_t value;

    sqlite3_bind_text(statement, 1, pattern, -1, SQLITE_TRANSIENT);
    sqlite3_step(statement);
    value = sqlite3_column_int64(statement, 0);
    if (sqlite3_finalize(statement) != SQLITE_OK)
        bench_die("%s", sqlite3_errmsg(db));
    return value;
}

int64_t bench_run(sqlite3_stmt *statement)
{
    int64_t start = clr_clock_ns(), time;
    int code;

    do
        code = sqlite3_step(statement);
    while (code == SQLITE_ROW);
    code = sqlite3_reset(statement);
    time = clr_clock_ns() - start;
    if (code != SQLITE_OK)
        bench_die("%s: %s", sqlite3_sql(statement), sqlite3_errmsg(sqlite3_db_handle(statement)));
    return time;
}

/* A BLOB as SQL writes it. */
static char *blob_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    int i, count = sqlite3_column_bytes(statement, column);
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendall(text, "x'");
    for (i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%02x", bytes[i]);
    sqlite3_str_appendall(text, "'");
    return sqlite3_str_finish(text);
}

char *bench_value_text(sqlite3_stmt *statement, int column)
{
    char digits[64];

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return NULL;
    case SQLITE_FLOAT:
        /* 17 digits tell all doubles apart, and a point tells a whole one from an INTEGER. */
        snprintf(digits, sizeof digits, "%.17g", sqlite3_column_double(statement, column));
        return sqlite3_mprintf("%s%s", digits,
                               strspn(digits, "-0123456789") == strlen(digits) ? ".0" : "");
    case SQLITE_BLOB:
        return blob_text(statement, column);
    default:
        return sqlite3_mprintf("%s", (const char *)sqlite3_column_text(statement, column));
    }
}

char *bench_row_text(sqlite3_stmt *statement)
{
    sqlite3_str *row = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < sqlite3_data_count(statement); i++) {
        char *text = bench_value_text(statement, i);
        sqlite3_str_appendf(row, "%s%s", i > 0 ? ", " : "", text == NULL ? "NULL" : text);
        sqlite3_free(text);
    }
    return sqlite3_str_finish(row);
}
