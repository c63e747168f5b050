/* clreduce_devices: the devices found here. */
#ifndef CLR_SQLITE_DEVICE_TABLE_H
#define CLR_SQLITE_DEVICE_TABLE_H

#include "sqlite/inspect/table.h"

extern const struct clr_table clr_device_table;

#endif
