/* A guess of how long SQLite takes for a SELECT, before anything was run. */
#ifndef CLR_SQLITE_LONG_SCAN_H
#define CLR_SQLITE_LONG_SCAN_H

#include <sqlite3.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a SELECT, by its text, goes over all of a large table of main, from one end to the other,
 * which takes SQLite milliseconds. Stores about how many rows the table has; 0: that is not known,
 * or they are few. What is asked of SQLite for it is remembered for a minute, by table: a text that
 * may find its rows by a key is not looked at more closely, and false. The caller has the
 * connection's mutex.
 */
bool clr_long_scan_is_sure(sqlite3 *db, const char *sql, int64_t *rows);

#endif
