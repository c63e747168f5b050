/*
 * The database that the benchmarks of accelerated views read. Its values are those of tables.h, and
 *
 *     i = (h(n, 3266489917) >> 8) mod 1000                    from 0 to 999
 *     j = (h(n, 668265263) >> 8) mod 2000001 - 1000000
 *
 *     v(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER, j INTEGER)    all rows
 *     small(id, x, y, i, j)                                             its first 200
 *     keyed(id INTEGER PRIMARY KEY, k INTEGER, u INTEGER UNIQUE, x REAL) half of the rows, with an
 *         index on k = h(n, 3266489917) >> 12, and u = h(n, 2654435761)
 */
#ifndef CLR_BENCH_VIEW_DATA_H
#define CLR_BENCH_VIEW_DATA_H

#include "tables.h"

extern const struct bench_tables bench_view_tables;

#endif
