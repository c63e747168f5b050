/* clreduce_plan(view): a table-valued function that says, a line each, what a view does. */
#ifndef CLR_SQLITE_PLAN_TABLE_H
#define CLR_SQLITE_PLAN_TABLE_H

#include "sqlite/inspect/table.h"

extern const struct clr_table clr_plan_table;

#endif
