#include "feed_floor.h"

#include <stddef.h>

/* No smaller than what a sum has to keep. */
enum { CONTEXT_SIZE = 32 };

static void step_noop(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)context;
    (void)count;
    (void)values;
}

static void step_context(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_aggregate_context(context, CONTEXT_SIZE);
}

static void final(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

int bench_floor_register(sqlite3 *db)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code =
        sqlite3_create_function_v2(db, "bench_noop", 1, flags, NULL, NULL, step_noop, final, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(db, "bench_context", 1, flags, NULL, NULL, step_context,
                                          final, NULL);
    return code;
}
