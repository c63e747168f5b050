/* clreduce_plan(view): a table-valued function that says, a line each, what a view does. */
#ifndef CLR_SQLITE_PLAN_TABLE_H
#define CLR_SQLITE_PLAN_TABLE_H

#include "sqlite/session/connection.h"

/* Registers it. Returns SQLite's result code. */
int clr_plan_table_register(struct clr_connection *connection);

#endif
