/* clreduce_stats: what this connection did. */
#ifndef CLR_SQLITE_STATS_TABLE_H
#define CLR_SQLITE_STATS_TABLE_H

#include "sqlite/inspect/table.h"

extern const struct clr_table clr_stats_table;

#endif
