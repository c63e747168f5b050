/*
 * The database that the benchmarks of accelerated views read. Its values are those of tables.h, and
 *
 *     i = (h(n, 3266489917) >> 8) mod 1000                    from 0 to 999
 *     j = (h(n, 668265263) >> 8) mod 2000001 - 1000000
 *
 *     v(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER, j INTEGER)    all rows
 *     small(id, x, y, i, j)                                             its first 200
 */
#ifndef CLR_BENCH_VIEW_DATA_H
#define CLR_BENCH_VIEW_DATA_H

#include "tables.h"

extern const struct bench_tables bench_view_tables;

#endif
