#include "feed_data.h"

#include <stddef.h>

static const char schema[] =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER);"
    "CREATE TABLE mixed(id INTEGER PRIMARY KEY, x REAL, i INTEGER, m,"
    "                   g10 INTEGER, g1000 INTEGER, gmany INTEGER);"
    "CREATE TABLE in10(g INTEGER, n INTEGER, x REAL, PRIMARY KEY(g, n)) WITHOUT ROWID;"
    "CREATE TABLE in1000(g INTEGER, n INTEGER, x REAL, PRIMARY KEY(g, n)) WITHOUT ROWID;"
    "CREATE TABLE inmany(g INTEGER, n INTEGER, x REAL, PRIMARY KEY(g, n)) WITHOUT ROWID;";

static int64_t integer_i(int64_t n)
{
    return (bench_hash(n, 3266489917) >> 8) % 2000001 - 1000000;
}

/* Without the regularity of bench_hash(), for what a branch must not be able to foresee. */
static int64_t scramble(int64_t n)
{
    uint64_t bits = (uint64_t)n * 0x9e3779b97f4a7c15u;

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return (int64_t)((bits ^ (bits >> 31)) >> 1);
}

static void bind_t(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)rows;
    sqlite3_bind_int64(statement, 1, n);
    sqlite3_bind_double(statement, 2, bench_x(n));
    sqlite3_bind_double(statement, 3, bench_y(n));
    sqlite3_bind_int64(statement, 4, integer_i(n));
}

static void bind_mixed(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    int64_t groups = rows / 10 > 0 ? rows / 10 : 1;

    sqlite3_bind_int64(statement, 1, n);
    sqlite3_bind_double(statement, 2, bench_x(n));
    sqlite3_bind_int64(statement, 3, integer_i(n));
    if (scramble(n) % 2 == 0)
        sqlite3_bind_int64(statement, 4, integer_i(n));
    else
        sqlite3_bind_double(statement, 4, bench_x(n));
    sqlite3_bind_int64(statement, 5, scramble(n + rows) % 10);
    sqlite3_bind_int64(statement, 6, scramble(n + rows) % 1000);
    sqlite3_bind_int64(statement, 7, scramble(n + rows) % groups);
}

static void bind_group(sqlite3_stmt *statement, int64_t n, int64_t rows, int64_t groups)
{
    int64_t size = rows / groups > 0 ? rows / groups : 1;

    sqlite3_bind_int64(statement, 1, (n - 1) / size);
    sqlite3_bind_int64(statement, 2, n);
    sqlite3_bind_double(statement, 3, bench_x(n));
}

static void bind_in10(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    bind_group(statement, n, rows, 10);
}

static void bind_in1000(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    bind_group(statement, n, rows, 1000);
}

static void bind_inmany(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    bind_group(statement, n, rows, rows / 10 > 0 ? rows / 10 : 1);
}

static int fill(sqlite3 *db, int64_t rows)
{
    const struct {
        const char *sql;
        int64_t rows;
        void (*bind)(sqlite3_stmt *, int64_t n, int64_t rows);
    } inserts[] = {
        {"INSERT INTO t VALUES (?, ?, ?, ?)", rows, bind_t},
        {"INSERT INTO mixed VALUES (?, ?, ?, ?, ?, ?, ?)", rows / 10, bind_mixed},
        {"INSERT INTO in10 VALUES (?, ?, ?)", rows / 10, bind_in10},
        {"INSERT INTO in1000 VALUES (?, ?, ?)", rows / 10, bind_in1000},
        {"INSERT INTO inmany VALUES (?, ?, ?)", rows, bind_inmany},
    };
    int code = SQLITE_OK;
    size_t i;

    for (i = 0; i < sizeof inserts / sizeof inserts[0] && code == SQLITE_OK; i++)
        code = bench_tables_insert(db, inserts[i].sql, inserts[i].rows, inserts[i].bind);
    return code;
}

const struct bench_tables bench_feed_tables = {1, schema, fill};
