/*
 * Databases that are made once, and the values in their columns. These are a function of the row's
 * number that bench/measuring/peers.py computes too, so that every peer has the same ones without a
 * transfer:
 *
 *     h(n, m) = (n * m) mod 2^32                                        integers
 *     x = (h(n, 2654435761) - 2^31) / 3000000.0                         rounded to a double
 *     y = (h(n, 2246822519) - 2^31) / 5000000.0
 */
#ifndef CLR_BENCH_TABLES_H
#define CLR_BENCH_TABLES_H

#include <sqlite3.h>
#include <stdint.h>

int64_t bench_hash(int64_t n, int64_t multiplier);
double bench_x(int64_t n);
double bench_y(int64_t n);

/* Tables and what fills them. */
struct bench_tables {
    int format;         /* changes with the data: a database of another format is made anew */
    const char *schema; /* statements that create them, or set what creating them needs */
    int (*fill)(sqlite3 *db, int64_t rows); /* returns SQLite's result code */
};

/* Makes the database, unless it is there already, in this format and with so many rows. */
void bench_tables_make(const char *path, int64_t rows, const struct bench_tables *tables);

/* Runs an INSERT once for each row from 1 to rows. Returns SQLite's result code. */
int bench_tables_insert(sqlite3 *db, const char *sql, int64_t rows,
                        void (*bind)(sqlite3_stmt *, int64_t n, int64_t rows));

#endif
