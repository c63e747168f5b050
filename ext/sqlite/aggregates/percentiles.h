/* gpu_median, gpu_percentile, gpu_percentile_cont and gpu_percentile_disc: SQLite's callbacks. */
#ifndef CLR_SQLITE_PERCENTILES_H
#define CLR_SQLITE_PERCENTILES_H

#include "sqlite/api.h"
#include "sqlite/session/connection.h"

/* What a function makes of its values: clr_aggregate.which. */
enum { CLR_PERCENTILE_OF_100, CLR_PERCENTILE_CONT, CLR_PERCENTILE_DISC };

/* Of one argument, the median, and of two. */
void clr_median_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_percentile_step(sqlite3_context *context, int count, sqlite3_value **values);

void clr_percentile_inverse(sqlite3_context *context, int count, sqlite3_value **values);
void clr_percentile_value(sqlite3_context *context);
void clr_percentile_final(sqlite3_context *context);

#endif
