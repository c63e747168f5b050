/*
 * The database that the feed benchmarks read. Its values are those of tables.h, and
 *
 *     i = (h(n, 3266489917) >> 8) mod 2000001 - 1000000
 *
 * A tenth of the rows is enough for what does not depend on their number:
 *
 *     t(id INTEGER PRIMARY KEY, x REAL, y REAL, i INTEGER)     all rows
 *     mixed(id, x, i, m, g10, g1000, gmany)                    a tenth; m is an INTEGER or a REAL,
 *                                                              the groups lie in no order
 *     in10(g, n, x), in1000(g, n, x)                           a tenth; stored in order of groups
 *     inmany(g, n, x)                                          all rows in groups of 10, in order
 */
#ifndef CLR_BENCH_FEED_DATA_H
#define CLR_BENCH_FEED_DATA_H

#include "tables.h"

extern const struct bench_tables bench_feed_tables;

#endif
