/*
 * Statements of which parts are accelerated: each SELECT in one that names nothing around it is a
 * unit, and may be read from a view of its own. The rest of the text stays to the letter, and
 * SQLite runs it.
 */
#ifndef CLR_SQLITE_UNITS_H
#define CLR_SQLITE_UNITS_H

#include "sqlite/session/connection.h"

/*
 * Writes a statement with views in the place of the units that are accelerated, the outermost ones
 * first. sql: its text, which SQLite has prepared, and which reads main alone. Returns SQLITE_OK
 * with *text, to be freed with sqlite3_free(), which has the same parameters, columns and rows, in
 * their order, but perhaps other names of columns; SQLITE_NOTFOUND if there is no such unit; or
 * SQLITE_NOMEM. The connection's error is lost.
 */
int clr_units_write(struct clr_connection *connection, const char *sql, char **text);

#endif
