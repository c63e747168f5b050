/*
 * SQL to look inside, and to set: clreduce_set() and clreduce_version(), and the tables
 * clreduce_devices, clreduce_stats, clreduce_settings, clreduce_columns and clreduce_plan(). The
 * tables are eponymous virtual tables: they exist without being created, and cannot be written to.
 */
#ifndef CLR_SQLITE_INSPECT_H
#define CLR_SQLITE_INSPECT_H

#include "sqlite/session/connection.h"

/* Register the functions and the tables. Return SQLite's result code. */
int clr_functions_register(struct clr_connection *connection);
int clr_tables_register(struct clr_connection *connection);

#endif
