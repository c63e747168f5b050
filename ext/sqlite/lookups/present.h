/* Values that stand for the present time, or for the time zone, to SQLite's functions of times; and
   functions that look at values, for what SQLite is asked once for many times. */
#ifndef CLR_SQLITE_PRESENT_H
#define CLR_SQLITE_PRESENT_H

#include "sqlite/session/connection.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether TEXT, or some made of it, may stand for the present time, or for the time zone, to a
   function of times. That reads no further than a zero. */
bool clr_present_text(const char *text, size_t size);

/* Whether a value may do so. */
bool clr_present_value(sqlite3_value *value);

/* Registers the functions CLR_FIXED_TIME and CLR_DAY_PATTERN. Returns SQLite's result code. */
int clr_present_register(struct clr_connection *connection);

#endif
