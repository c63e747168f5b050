/*
 * The aggregates whose states are exact sums: gpu_sum, gpu_total, gpu_avg and gpu_dot. The
 * callbacks serve all of them, and ask their function which one it is.
 */
#ifndef CLR_SQLITE_SUMS_H
#define CLR_SQLITE_SUMS_H

#include "sqlite/api.h"

/* What a function makes of its sums: clr_aggregate.which. */
enum { CLR_S_SUM, CLR_S_TOTAL, CLR_S_AVG };

/* Of one argument, and of two. */
void clr_single_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_pair_step(sqlite3_context *context, int count, sqlite3_value **values);

void clr_sums_inverse(sqlite3_context *context, int count, sqlite3_value **values);
void clr_sums_value(sqlite3_context *context);
void clr_sums_final(sqlite3_context *context);

#endif
