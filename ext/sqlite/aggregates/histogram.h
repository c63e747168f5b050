/* gpu_histogram(x, low, high, bins): SQLite's callbacks. */
#ifndef CLR_SQLITE_HISTOGRAM_H
#define CLR_SQLITE_HISTOGRAM_H

#include "sqlite/api.h"
#include "sqlite/session/connection.h"

void clr_histogram_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_histogram_inverse(sqlite3_context *context, int count, sqlite3_value **values);

/* Of the functions that merge states; the others serve them as well. */
void clr_histogram_merge_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_histogram_merge_inverse(sqlite3_context *context, int count, sqlite3_value **values);

void clr_histogram_value(sqlite3_context *context);
void clr_histogram_final(sqlite3_context *context);

#endif
