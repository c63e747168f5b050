/*
 * The limits of a connection on statements (https://sqlite.org/limits.html). They are the
 * application's, for what it writes; statements of our own are made without them.
 */
#ifndef CLR_SQLITE_LIMITS_H
#define CLR_SQLITE_LIMITS_H

#include "sqlite/api.h"

#include <stdbool.h>

struct clr_limits {
    int values[7];
};

struct clr_limits clr_limits_read(sqlite3 *db);

/* Sets them to the highest that SQLite was built for, and returns what they were. */
struct clr_limits clr_limits_lift(sqlite3 *db);

void clr_limits_set(sqlite3 *db, const struct clr_limits *limits);

bool clr_limits_equal(const struct clr_limits *a, const struct clr_limits *b);

#endif
