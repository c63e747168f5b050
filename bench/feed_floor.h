/*
 * Aggregates that do nothing: what SQLite itself spends on feeding an aggregate, the limit of any.
 *
 *     bench_noop(x)      its step returns at once
 *     bench_context(x)   its step asks for its context, as one that keeps anything has to
 */
#ifndef CLR_BENCH_FEED_FLOOR_H
#define CLR_BENCH_FEED_FLOOR_H

#include <sqlite3.h>

/* Returns SQLite's result code. */
int bench_floor_register(sqlite3 *db);

#endif
