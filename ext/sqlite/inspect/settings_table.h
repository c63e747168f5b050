/* clreduce_settings: the settings of this connection. */
#ifndef CLR_SQLITE_SETTINGS_TABLE_H
#define CLR_SQLITE_SETTINGS_TABLE_H

#include "sqlite/inspect/table.h"

extern const struct clr_table clr_settings_table;

#endif
