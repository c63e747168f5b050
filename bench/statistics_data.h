/*
 * The database that the benchmarks of statistics read. Its values are functions of the row's number
 * that bench/measuring/stats.py computes too. A branch must not be able to foresee them, so h(n, m)
 * of tables.h is scrambled, one to one:
 *
 *     r(n, m) = g xor (g >> 16), where g = (h xor (h >> 16)) * 73244475 mod 2^32 and h = h(n, m)
 *
 *     x = (r(n, 2654435761) - 2^31) / 3000000.0           rounded to a double; no two rows have one
 *     y = (r(n, 2246822519) - 2^31) / 5000000.0 + x / 2
 *     k = floor((r(n, 3266489917) mod 1000) * (r(n, 668265263) mod 1000) / 1000)
 *
 * The least of the values of k, 0, is the most frequent; the greatest is 998.
 *
 *     t(id INTEGER PRIMARY KEY, x REAL, y REAL, k INTEGER)    all rows
 *     grouped(g, n, x)                                        all rows in groups of 10, in order
 *
 * bench/measuring/stats.py adds states(state) and sums(part), the groups' gpu_sum_state(x) and
 * sum(x), and words(word), the values of x as TEXT.
 */
#ifndef CLR_BENCH_STATISTICS_DATA_H
#define CLR_BENCH_STATISTICS_DATA_H

#include "tables.h"

extern const struct bench_tables bench_statistics_tables;

#endif
