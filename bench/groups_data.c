#include "groups_data.h"

#include <stdio.h>

#define COLUMNS                                                                                    \
    "(id1 TEXT, id2 TEXT, id3 TEXT, id4 INTEGER, id5 INTEGER, id6 INTEGER, v1 INTEGER,"            \
    " v2 INTEGER, v3 REAL);"

static const char schema[] =
    "PRAGMA page_size = 4096; CREATE TABLE h2o" COLUMNS "CREATE TABLE tenth" COLUMNS;

/* Of how many values id3 and id6 are. */
static uint32_t value_count;

static uint32_t mix(int64_t n, uint32_t column)
{
    uint32_t x = (uint32_t)n + column * 2654435769u;

    x = (x ^ x >> 16) * 2146121005u;
    x = (x ^ x >> 15) * 2221713035u;
    return x ^ x >> 16;
}

static void bind_id(sqlite3_stmt *statement, int column, const char *format, uint32_t number)
{
    char text[32];
    const int length = snprintf(text, sizeof text, format, (unsigned)number);

    sqlite3_bind_text(statement, column, text, length, SQLITE_TRANSIENT);
}

static void bind_row(sqlite3_stmt *statement, int64_t n, int64_t rows)
{
    (void)rows;
    bind_id(statement, 1, "id%03u", mix(n, 1) % 100 + 1);
    bind_id(statement, 2, "id%03u", mix(n, 2) % 100 + 1);
    bind_id(statement, 3, "id%010u", mix(n, 3) % value_count + 1);
    sqlite3_bind_int64(statement, 4, mix(n, 4) % 100 + 1);
    sqlite3_bind_int64(statement, 5, mix(n, 5) % 100 + 1);
    sqlite3_bind_int64(statement, 6, mix(n, 6) % value_count + 1);
    sqlite3_bind_int64(statement, 7, mix(n, 7) % 5 + 1);
    sqlite3_bind_int64(statement, 8, mix(n, 8) % 15 + 1);
    sqlite3_bind_double(statement, 9, mix(n, 9) % 100000001 / 1e6);
}

static int fill(sqlite3 *db, int64_t rows)
{
    int code;

    value_count = rows < 100 ? 1 : (uint32_t)(rows / 100);
    code = bench_tables_insert(db, "INSERT INTO h2o VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows,
                               bind_row);
    if (code == SQLITE_OK)
        code = bench_tables_insert(db, "INSERT INTO tenth VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                   rows / 10, bind_row);
    return code;
}

const struct bench_tables bench_group_tables = {1, schema, fill};
