/* Whether rows may leave an aggregate's frame. */
#ifndef CLR_SQLITE_WINDOW_USE_H
#define CLR_SQLITE_WINDOW_USE_H

#include "sqlite/api.h"

#include <stdbool.h>

/*
 * Returns whether any statement that is running on the connection calls an aggregate's xInverse,
 * as their own EXPLAIN tells. Returns true wherever that cannot be found out.
 *
 * Source: sqlite.org/opcode.html, AggInverse. Only the opcode's name is relied on; if it ever
 * changed, tests/sqlite/windows-t.py would fail.
 */
bool clr_window_use(sqlite3 *db);

#endif
