/*
 * The columns of an image that a query needs: pinned until it has its answer, so that they are not
 * evicted, and their copies on devices. All functions take the cache's lock.
 */
#ifndef CLR_SQLITE_PINNED_COLUMNS_H
#define CLR_SQLITE_PINNED_COLUMNS_H

#include "engine/worker/team.h"
#include "sqlite/cache/image.h"
#include "sqlite/session/connection.h"

/* Finds the columns that count fields describe, and pins them until clr_cache_unpin(). Returns
   false if the image lacks one, or its layout is not known; then none is pinned. */
bool clr_cache_pin(struct clr_image *image, const struct clr_field *fields, int count,
                   struct clr_image_column **found);
void clr_cache_unpin(struct clr_image_column *const *found, int count);

/* Returns a new number of a scan, later than all others. */
int64_t clr_cache_scan(void);

/* Counts a scan of a connection that uses these columns, which are pinned, and stores what they
   have, with references. The scan's number goes to what it uses: that is what was used last. */
void clr_cache_use(const struct clr_connection *connection, struct clr_image_column *const *found,
                   int count, struct clr_column **columns);

/* Takes note of what pinned columns take on the host now. */
void clr_cache_measure(struct clr_image *image, struct clr_image_column *const *found, int count);

/*
 * Returns whether pinned columns of so many rows all have copies on the devices that are ready, and
 * of one division, and stores it, and these, with references; starts those that are missing, if
 * there is room for all, see clr_column_device_make_room(). The copy of a
 * column that another connection uses on other devices stays there, unless one of these has failed.
 */
bool clr_cache_copies(struct clr_image_column *const *found, int count, size_t rows,
                      const struct clr_devices *devices, struct clr_division *division,
                      struct clr_sharded **copies);

#endif
