#include "sqlite/session/limits.h"

#include <limits.h>
#include <string.h>

enum { COUNT = sizeof(struct clr_limits) / sizeof(int) };

static const int numbers[COUNT] = {SQLITE_LIMIT_SQL_LENGTH,     SQLITE_LIMIT_COLUMN,
                                   SQLITE_LIMIT_EXPR_DEPTH,     SQLITE_LIMIT_COMPOUND_SELECT,
                                   SQLITE_LIMIT_VDBE_OP,        SQLITE_LIMIT_FUNCTION_ARG,
                                   SQLITE_LIMIT_VARIABLE_NUMBER};

/* Asks for a new value of each, less than 0 to leave them, and returns the old ones. */
static struct clr_limits exchange(sqlite3 *db, int value)
{
    struct clr_limits limits;
    int i;

    for (i = 0; i < COUNT; i++)
        limits.values[i] = sqlite3_limit(db, numbers[i], value);
    return limits;
}

struct clr_limits clr_limits_read(sqlite3 *db)
{
    return exchange(db, -1);
}

struct clr_limits clr_limits_lift(sqlite3 *db)
{
    return exchange(db, INT_MAX);
}

void clr_limits_set(sqlite3 *db, const struct clr_limits *limits)
{
    int i;

    for (i = 0; i < COUNT; i++)
        sqlite3_limit(db, numbers[i], limits->values[i]);
}

bool clr_limits_equal(const struct clr_limits *a, const struct clr_limits *b)
{
    return memcmp(a->values, b->values, sizeof a->values) == 0;
}
