#include "view_data.h"

#include <stddef.h>

static const char schema[] =
    "PRAGMA page_size = 4096;"
    "CREATE TABLE v(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER, j INTEGER);"
    "CREATE TABLE small(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER, j INTEGER);"
    "CREATE TABLE keyed(id INTEGER PRIMARY KEY, k INTEGER, u INTEGER, x REAL);";

static const char indexes[] = "CREATE INDEX keyed_k ON keyed(k);"
                              "CREATE UNIQUE INDEX keyed_u ON keyed(u);";

static void bind_row(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)rows;
    sqlite3_bind_int64(statement, 1, n);
    sqlite3_bind_double(statement, 2, bench_x(n));
    sqlite3_bind_double(statement, 3, bench_y(n));
    sqlite3_bind_int64(statement, 4, (bench_hash(n, 3266489917) >> 8) % 1000);
    sqlite3_bind_int64(statement, 5, (bench_hash(n, 668265263) >> 8) % 2000001 - 1000000);
}

static void bind_keyed(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)rows;
    sqlite3_bind_int64(statement, 1, n);
    sqlite3_bind_int64(statement, 2, bench_hash(n, 3266489917) >> 12);
    sqlite3_bind_int64(statement, 3, bench_hash(n, 2654435761));
    sqlite3_bind_double(statement, 4, bench_x(n));
}

static int fill(sqlite3 *db, int64_t rows)
{
    int code = bench_tables_insert(db, "INSERT INTO v VALUES (?, ?, ?, ?, ?)", rows, bind_row);

    if (code == SQLITE_OK)
        code = bench_tables_insert(db, "INSERT INTO small VALUES (?, ?, ?, ?, ?)", 200, bind_row);
    if (code == SQLITE_OK)
        code =
            bench_tables_insert(db, "INSERT INTO keyed VALUES (?, ?, ?, ?)", rows / 2, bind_keyed);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, indexes, NULL, NULL, NULL);
    return code;
}

const struct bench_tables bench_view_tables = {2, schema, fill};
