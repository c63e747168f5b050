/* The values of a column in cells that were found many at a time. */
#ifndef CLR_STORAGE_CELL_VALUES_H
#define CLR_STORAGE_CELL_VALUES_H

#include "storage/format/cells.h"
#include "storage/leaves/target.h"

/* Stores the values of the field that is number k of the shapes', as rows from row on. Its bytes go
   to bytes, if it is with bytes. */
void clr_cells_take(const struct clr_cells *cells, const struct clr_shapes *shapes, int k,
                    struct clr_target *target, struct clr_bytes *bytes, size_t row);

#endif
