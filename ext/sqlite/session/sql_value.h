/* Values on their way from and to SQLite, and errors. */
#ifndef CLR_SQLITE_SQL_VALUE_H
#define CLR_SQLITE_SQL_VALUE_H

#include "numeric/values/value.h"
#include "sqlite/api.h"

#include <stdbool.h>

/* Stores an argument that is not NULL; bytes stay SQLite's. Returns false without memory: SQLite
   may have to convert TEXT to UTF-8. */
bool clr_value_read(sqlite3_value *argument, struct clr_value *value);

/* Sets a function's result; NULL for CLR_KIND_NONE. Bytes are copied. */
void clr_value_set_result(sqlite3_context *context, const struct clr_value *value);

/* Sets a function's error in the format of sqlite3_mprintf(). */
void clr_set_error(sqlite3_context *context, const char *format, ...);

#endif
