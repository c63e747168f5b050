/* What some of a table's leaves tell of the others, before a device decodes them all. */
#ifndef CLR_STORAGE_DEVICE_SAMPLE_H
#define CLR_STORAGE_DEVICE_SAMPLE_H

#include "engine/feed/leaf_feed.h"
#include "storage/format/outcome.h"
#include "storage/leaves/units.h"

/*
 * Decodes some leaves, spread over units that have been found, and sets in the setup about how many
 * rows there are, and in kinds, one for each of its fields, what the columns may be on a device, as
 * of clr_column_device_kind(). A failure is the units'.
 */
enum clr_load_outcome clr_device_sample(struct clr_units *units, struct clr_feed_setup *setup,
                                        uint8_t *kinds);

#endif
