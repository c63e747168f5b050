/*
 * The database that the feed benchmarks read. Its values are a function of the row's number that
 * bench/peers.py computes too, so that every peer has the same ones without a transfer:
 *
 *     h(n, m) = (n * m) mod 2^32                                        integers
 *     x = (h(n, 2654435761) - 2^31) / 3000000.0                         rounded to a double
 *     y = (h(n, 2246822519) - 2^31) / 5000000.0
 *     i = (h(n, 3266489917) >> 8) mod 2000001 - 1000000
 *
 * A tenth of the rows is enough for what does not depend on their number.
 */
#ifndef CLR_BENCH_FEED_DATA_H
#define CLR_BENCH_FEED_DATA_H

#include <sqlite3.h>
#include <stdint.h>

/*
 * Makes these tables in an empty database:
 *
 *     t(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER)     `rows` rows
 *     mixed(id, x, i, m, g10, g1000, gmany)                    a tenth; m is an INTEGER or a REAL,
 *                                                              the groups lie in no order
 *     in10(g, n, x), in1000(g, n, x)                           a tenth; stored in order of groups
 *     inmany(g, n, x)                                          `rows` rows in groups of 10, in
 * order
 *
 * Returns SQLite's result code.
 */
int bench_feed_fill(sqlite3 *db, int64_t rows);

/* Returns how many rows t was made with, or 0 if this is no such database. */
int64_t bench_feed_rows(sqlite3 *db);

#endif
