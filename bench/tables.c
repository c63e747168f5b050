#include "tables.h"

#include "database.h"
#include "output.h"

#include <stdio.h>

int64_t bench_hash(int64_t n, int64_t multiplier)
{
    return (n * multiplier) & 0xffffffff;
}

double bench_x(int64_t n)
{
    return (double)(bench_hash(n, 2654435761) - 2147483648) / 3000000.0;
}

double bench_y(int64_t n)
{
    return (double)(bench_hash(n, 2246822519) - 2147483648) / 5000000.0;
}

int bench_tables_insert(sqlite3 *db, const char *sql, int64_t rows,
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

/* How many rows a database was made with, or 0 if it is empty, of another format or unfinished. */
static int64_t made_rows(sqlite3 *db, int format)
{
    sqlite3_stmt *statement = NULL;
    int64_t rows = 0;

    if (sqlite3_prepare_v2(db, "SELECT n FROM made WHERE format = ?", -1, &statement, NULL) ==
        SQLITE_OK) {
        sqlite3_bind_int(statement, 1, format);
        if (sqlite3_step(statement) == SQLITE_ROW)
            rows = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return rows;
}

static int execute(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* Marks a database as finished: it comes last. */
static int mark(sqlite3 *db, int format, int64_t rows)
{
    char *sql = sqlite3_mprintf("INSERT INTO made VALUES (%d, %lld)", format, (long long)rows);
    int code = sql == NULL ? SQLITE_NOMEM : execute(db, sql);

    sqlite3_free(sql);
    return code;
}

void bench_tables_make(const char *path, int64_t rows, const struct bench_tables *tables)
{
    sqlite3 *db = bench_open(path);
    int code;

    if (rows < 10)
        bench_die("no fewer than 10 rows");
    if (made_rows(db, tables->format) != rows) {
        sqlite3_close(db);
        remove(path);
        db = bench_open(path);
        code = execute(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
        if (code == SQLITE_OK)
            code = execute(db, tables->schema);
        if (code == SQLITE_OK)
            code = execute(db, "CREATE TABLE made(format INTEGER, n INTEGER); BEGIN");
        if (code == SQLITE_OK)
            code = tables->fill(db, rows);
        if (code == SQLITE_OK)
            code = mark(db, tables->format, rows);
        if (code == SQLITE_OK)
            code = execute(db, "COMMIT");
        if (code != SQLITE_OK)
            bench_die("%s: %s", path, sqlite3_errmsg(db));
    }
    sqlite3_close(db);
}
