/* clreduce_columns: the decoded columns that are resident. */
#ifndef CLR_SQLITE_COLUMN_TABLE_H
#define CLR_SQLITE_COLUMN_TABLE_H

#include "sqlite/inspect/table.h"

extern const struct clr_table clr_column_table;

#endif
