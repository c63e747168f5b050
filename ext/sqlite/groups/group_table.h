/* The table from which SQLite makes a view's rows: a row for each group, with its keys and calls.
 */
#ifndef CLR_SQLITE_GROUP_TABLE_H
#define CLR_SQLITE_GROUP_TABLE_H

#include "sqlite/groups/group_values.h"
#include "sqlite/session/connection.h"

/* Registers the table, CLR_GROUP_TABLE, with a connection: eponymous, and empty but for statements
   that clr_group_table_bind() was called for. Returns SQLite's code. */
int clr_group_table_register(struct clr_connection *connection);

/* Binds the values to the table's argument, a parameter of the statement. They must outlive its
   steps. NULL: the table has one row, of which all is 7, for probes. Returns SQLite's code. */
int clr_group_table_bind(sqlite3_stmt *statement, int parameter, struct clr_group_values *values);

#endif
