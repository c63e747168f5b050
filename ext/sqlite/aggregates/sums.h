/*
 * The aggregates whose states are exact sums: gpu_sum, gpu_total, gpu_avg, gpu_dot and the moments.
 * The callbacks serve all of them, and ask their function which one it is.
 */
#ifndef CLR_SQLITE_SUMS_H
#define CLR_SQLITE_SUMS_H

#include "sqlite/api.h"

/* Of one argument, and of two. */
void clr_single_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_pair_step(sqlite3_context *context, int count, sqlite3_value **values);

/* Of those that merge states. */
void clr_sums_merge_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_sums_merge_inverse(sqlite3_context *context, int count, sqlite3_value **values);

void clr_sums_inverse(sqlite3_context *context, int count, sqlite3_value **values);
void clr_sums_value(sqlite3_context *context);
void clr_sums_final(sqlite3_context *context);

#endif
