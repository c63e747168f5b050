/* Memory for the values that aggregates keep: what is said when there is none. */
#ifndef CLR_SQLITE_VALUE_MEMORY_H
#define CLR_SQLITE_VALUE_MEMORY_H

#include "base/status.h"
#include "sqlite/api.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether the code is CLR_OK. Else sets the function's error: SQLITE_NOMEM for CLR_NOMEM;
 * for CLR_LIMIT a text that names the function and the setting. That is no SQLITE_NOMEM, for which
 * SQLite rolls back the transaction of a SELECT, and which some languages' interfaces show without
 * its text. SQLITE_INTERRUPT for CLR_STOPPED.
 */
bool clr_memory_granted(sqlite3_context *context, enum clr_code code);

/* The same, for what is not all the function's values, or has a limit of its own: kept says what it
   is, as in "f() keeps its values", and limit in bytes is what the setting allows for it. */
bool clr_memory_granted_for(sqlite3_context *context, enum clr_code code, const char *kept,
                            uint64_t limit);

#endif
