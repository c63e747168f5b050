/* The making of a column's zones. */
#ifndef CLR_NUMERIC_COLUMN_ZONES_H
#define CLR_NUMERIC_COLUMN_ZONES_H

#include "numeric/values/column.h"

#include <stdbool.h>
#include <stddef.h>

/* Finds the zones of count blocks of a column that is on the host, from block `first` on. Returns
   false without memory. Threads may do different blocks of one column at the same time. */
bool clr_column_find_zones(struct clr_column *column, size_t first, size_t count,
                           struct clr_zones *zones);

/* Stores which types all zones have together, and the coarse zones, once each zone is there. */
void clr_zones_complete(struct clr_zones *zones);

#endif
