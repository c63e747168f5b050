/* gpu_min and gpu_max: SQLite's callbacks. */
#ifndef CLR_SQLITE_EXTREMES_H
#define CLR_SQLITE_EXTREMES_H

#include "sqlite/api.h"
#include "sqlite/session/connection.h"

void clr_extreme_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_extreme_inverse(sqlite3_context *context, int count, sqlite3_value **values);

/* Of the functions that merge states; the others serve them as well. */
void clr_extreme_merge_step(sqlite3_context *context, int count, sqlite3_value **values);
void clr_extreme_merge_inverse(sqlite3_context *context, int count, sqlite3_value **values);

void clr_extreme_value(sqlite3_context *context);
void clr_extreme_final(sqlite3_context *context);

#endif
