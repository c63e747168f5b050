/* A guess of how long SQLite takes for a SELECT, by how quickly it has gone over some rows. */
#ifndef CLR_SQLITE_LONG_SCAN_H
#define CLR_SQLITE_LONG_SCAN_H

#include "sqlite/session/connection.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a SELECT, by its text and by SQLite's code for it, goes over all of a table of main from
 * one end to the other, and will take SQLite twenty milliseconds for the rows that are left, if it
 * has walked over some, at least one, in so many nanoseconds; and whether nobody could tell that it
 * was begun twice. Stores about how many rows the table has, if that is so. The caller has the
 * connection's mutex, and may be amid a step of the SELECT.
 */
bool clr_long_scan_is_sure(struct clr_connection *connection, const char *sql, int64_t walked,
                           int64_t nanoseconds, int64_t *rows);

#endif
