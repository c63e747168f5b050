/*
 * The database that the benchmark of groups reads: the data of the h2oai groupby benchmark. Its
 * values are a function of the row's number n, from 1 on, that bench/measuring/groups.py has DuckDB
 * compute too:
 *
 *     mix(n, s) = n + s * 2654435769 mod 2^32, mixed by the steps of lowbias32 (C. Wellons, 2018)
 *
 *     h2o(id1 TEXT, id2 TEXT, id3 TEXT, id4 INTEGER, id5 INTEGER, id6 INTEGER, v1 INTEGER,
 *         v2 INTEGER, v3 REAL)        all rows
 *     tenth(...)                      its first tenth
 *
 * id1 and id2 are of 100 texts, id3 of rows / 100, id4 and id5 from 1 to 100, id6 from 1 to rows /
 * 100, v1 from 1 to 5, v2 from 1 to 15, v3 from 0 to 100 with 6 digits.
 */
#ifndef CLR_BENCH_GROUPS_DATA_H
#define CLR_BENCH_GROUPS_DATA_H

#include "tables.h"

extern const struct bench_tables bench_group_tables;

#endif
