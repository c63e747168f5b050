/* gpu_sum, gpu_total, gpu_avg and gpu_dot: SQLite's callbacks. */
#ifndef CLR_SQLITE_SUMS_H
#define CLR_SQLITE_SUMS_H

#include "sqlite/api.h"

void clr_sum_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_sum_inverse(sqlite3_context *context, int count, sqlite3_value **values);
void clr_dot_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_dot_inverse(sqlite3_context *context, int count, sqlite3_value **values);

void clr_sum_value(sqlite3_context *context);
void clr_sum_final(sqlite3_context *context);
void clr_total_value(sqlite3_context *context);
void clr_total_final(sqlite3_context *context);
void clr_avg_value(sqlite3_context *context);
void clr_avg_final(sqlite3_context *context);

#endif
