/* gpu_mode and gpu_count_distinct: SQLite's callbacks. */
#ifndef CLR_SQLITE_DISTINCT_VALUES_H
#define CLR_SQLITE_DISTINCT_VALUES_H

#include "sqlite/api.h"
#include "sqlite/session/connection.h"

/* What a function makes of its values: clr_aggregate.which. */
enum { CLR_DISTINCT_COUNT, CLR_DISTINCT_MODE };

void clr_distinct_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_distinct_inverse(sqlite3_context *context, int count, sqlite3_value **values);
void clr_distinct_value(sqlite3_context *context);
void clr_distinct_final(sqlite3_context *context);

#endif
