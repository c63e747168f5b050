#include "statistics_data.h"

static const char schema[] =
    "PRAGMA page_size = 4096;"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, y REAL, k INTEGER);"
    "CREATE TABLE grouped(g INTEGER, n INTEGER, x REAL, PRIMARY KEY(g, n)) WITHOUT ROWID;";

static int64_t scrambled(int64_t n, int64_t multiplier)
{
    int64_t h = bench_hash(n, multiplier), g = bench_hash(h ^ (h >> 16), 73244475);

    return g ^ (g >> 16);
}

static double value_x(int64_t n)
{
    return (double)(scrambled(n, 2654435761) - 2147483648) / 3000000.0;
}

static double value_y(int64_t n)
{
    return (double)(scrambled(n, 2246822519) - 2147483648) / 5000000.0 + value_x(n) / 2;
}

static int64_t value_k(int64_t n)
{
    return scrambled(n, 3266489917) % 1000 * (scrambled(n, 668265263) % 1000) / 1000;
}

static void bind_row(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)rows;
    sqlite3_bind_int64(statement, 1, n);
    sqlite3_bind_double(statement, 2, value_x(n));
    sqlite3_bind_double(statement, 3, value_y(n));
    sqlite3_bind_int64(statement, 4, value_k(n));
}

static void bind_grouped(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)rows;
    sqlite3_bind_int64(statement, 1, (n - 1) / 10);
    sqlite3_bind_int64(statement, 2, n);
    sqlite3_bind_double(statement, 3, value_x(n));
}

static int fill(sqlite3 *db, int64_t rows)
{
    int code = bench_tables_insert(db, "INSERT INTO t VALUES (?, ?, ?, ?)", rows, bind_row);

    if (code == SQLITE_OK)
        code = bench_tables_insert(db, "INSERT INTO grouped VALUES (?, ?, ?)", rows, bind_grouped);
    return code;
}

const struct bench_tables bench_statistics_tables = {1, schema, fill};
