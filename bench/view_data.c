#include "view_data.h"

static const char schema[] =
    "PRAGMA page_size = 4096;"
    "CREATE TABLE v(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER, j INTEGER);"
    "CREATE TABLE small(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER, j INTEGER);";

static void bind_row(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)rows;
    sqlite3_bind_int64(statement, 1, n);
    sqlite3_bind_double(statement, 2, bench_x(n));
    sqlite3_bind_double(statement, 3, bench_y(n));
    sqlite3_bind_int64(statement, 4, (bench_hash(n, 3266489917) >> 8) % 1000);
    sqlite3_bind_int64(statement, 5, (bench_hash(n, 668265263) >> 8) % 2000001 - 1000000);
}

static int fill(sqlite3 *db, int64_t rows)
{
    int code = bench_tables_insert(db, "INSERT INTO v VALUES (?, ?, ?, ?, ?)", rows, bind_row);

    if (code == SQLITE_OK)
        code = bench_tables_insert(db, "INSERT INTO small VALUES (?, ?, ?, ?, ?)", 200, bind_row);
    return code;
}

const struct bench_tables bench_view_tables = {1, schema, fill};
