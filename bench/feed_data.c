#include "feed_data.h"

#include <stddef.h>

/* Changes with the data: a database of another format is made anew. */
enum { FORMAT = 1 };

static const char schema[] =
    "PRAGMA journal_mode = OFF;"
    "PRAGMA synchronous = OFF;"
    "CREATE TABLE made(format INTEGER, n INTEGER);"
    "CREATE TABLE t(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER);"
    "CREATE TABLE mixed(id INTEGER PRIMARY KEY, x REAL, i INTEGER, m,"
    "                   g10 INTEGER, g1000 INTEGER, gmany INTEGER);"
    "CREATE TABLE in10(g INTEGER, n INTEGER, x REAL, PRIMARY KEY(g, n)) WITHOUT ROWID;"
    "CREATE TABLE in1000(g INTEGER, n INTEGER, x REAL, PRIMARY KEY(g, n)) WITHOUT ROWID;"
    "CREATE TABLE inmany(g INTEGER, n INTEGER, x REAL, PRIMARY KEY(g, n)) WITHOUT ROWID;";

static int64_t hash(int64_t n, int64_t multiplier)
{
    return (n * multiplier) & 0xffffffff;
}

static double real_x(int64_t n)
{
    return (double)(hash(n, 2654435761) - 2147483648) / 3000000.0;
}

static double real_y(int64_t n)
{
    return (double)(hash(n, 2246822519) - 2147483648) / 5000000.0;
}

static int64_t integer_i(int64_t n)
{
    return (hash(n, 3266489917) >> 8) % 2000001 - 1000000;
}

/* Without the regularity of hash(), for what a branch must not be able to foresee. */
static int64_t scramble(int64_t n)
{
    uint64_t bits = (uint64_t)n * 0x9e3779b97f4a7c15u;

    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return (int64_t)((bits ^ (bits >> 31)) >> 1);
}

static int insert(sqlite3 *db, const char *sql, int64_t rows,
                  void (*bind)(sqlite3_stmt *, int64_t n, int64_t rows))
{
    sqlite3_stmt *statement;
    int64_t n;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    for (n = 1; code == SQLITE_OK && n <= rows; n++) {
        bind(statement, n, rows);
        sqlite3_step(statement);
        code = sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return code;
}

static void bind_t(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)rows;
    sqlite3_bind_int64(statement, 1, n);
    sqlite3_bind_double(statement, 2, real_x(n));
    sqlite3_bind_double(statement, 3, real_y(n));
    sqlite3_bind_int64(statement, 4, integer_i(n));
}

static void bind_mixed(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    int64_t groups = rows / 10 > 0 ? rows / 10 : 1;

    sqlite3_bind_int64(statement, 1, n);
    sqlite3_bind_double(statement, 2, real_x(n));
    sqlite3_bind_int64(statement, 3, integer_i(n));
    if (scramble(n) % 2 == 0)
        sqlite3_bind_int64(statement, 4, integer_i(n));
    else
        sqlite3_bind_double(statement, 4, real_x(n));
    sqlite3_bind_int64(statement, 5, scramble(n + rows) % 10);
    sqlite3_bind_int64(statement, 6, scramble(n + rows) % 1000);
    sqlite3_bind_int64(statement, 7, scramble(n + rows) % groups);
}

static void bind_group(sqlite3_stmt *statement, int64_t n, int64_t rows, int64_t groups)
{
    int64_t size = rows / groups > 0 ? rows / groups : 1;

    sqlite3_bind_int64(statement, 1, (n - 1) / size);
    sqlite3_bind_int64(statement, 2, n);
    sqlite3_bind_double(statement, 3, real_x(n));
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

static void bind_made(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)n;
    (void)rows;
    sqlite3_bind_int64(statement, 1, FORMAT);
}

int bench_feed_fill(sqlite3 *db, int64_t rows)
{
    int64_t tenth = rows / 10;
    int code = sqlite3_exec(db, schema, NULL, NULL, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = insert(db, "INSERT INTO t VALUES (?, ?, ?, ?)", rows, bind_t);
    if (code == SQLITE_OK)
        code = insert(db, "INSERT INTO mixed VALUES (?, ?, ?, ?, ?, ?, ?)", tenth, bind_mixed);
    if (code == SQLITE_OK)
        code = insert(db, "INSERT INTO in10 VALUES (?, ?, ?)", tenth, bind_in10);
    if (code == SQLITE_OK)
        code = insert(db, "INSERT INTO in1000 VALUES (?, ?, ?)", tenth, bind_in1000);
    if (code == SQLITE_OK)
        code = insert(db, "INSERT INTO inmany VALUES (?, ?, ?)", rows, bind_inmany);
    /* Last: a database that was not finished is none. */
    if (code == SQLITE_OK)
        code = insert(db, "INSERT INTO made SELECT ?, max(id) FROM t", 1, bind_made);
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    return code;
}

int64_t bench_feed_rows(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    int64_t rows = 0;

    if (sqlite3_prepare_v2(db, "SELECT n FROM made WHERE format = ?", -1, &statement, NULL) ==
        SQLITE_OK) {
        sqlite3_bind_int64(statement, 1, FORMAT);
        if (sqlite3_step(statement) == SQLITE_ROW)
            rows = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return rows;
}
