/* Loads that a device decodes: its threads read pages and check what they need to place them. */
#ifndef CLR_STORAGE_DEVICE_LOAD_H
#define CLR_STORAGE_DEVICE_LOAD_H

#include "storage/format/outcome.h"
#include "storage/leaves/layout.h"
#include "storage/leaves/units.h"
#include "storage/load/device_decoding.h"

/*
 * Loads the columns of units that have been found, whose fields have no bytes, as clr_load() does:
 * stores columns that are away, and the decoding's residents. CLR_LOAD_NO_DEVICE: no device
 * decodes, or it has given up, or is not for such pages; the units may have been run then, and
 * nothing was stored.
 */
enum clr_load_outcome clr_load_on_device(struct clr_units *units, struct clr_layout *layout,
                                         struct clr_device_decoding *decoding,
                                         struct clr_column **columns,
                                         const struct clr_watch *watch);

#endif
