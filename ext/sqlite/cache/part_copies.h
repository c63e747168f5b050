/*
 * Copies of columns' first rows, on devices that have no room for all of them: there the devices go
 * over these, while the host's threads go over the others. All functions take the cache's lock.
 */
#ifndef CLR_SQLITE_PART_COPIES_H
#define CLR_SQLITE_PART_COPIES_H

#include "sqlite/cache/image.h"

/* One row in so many is the least that a part is made for. */
enum { CLR_LEAST_PART = 8 };

/*
 * To be asked after clr_cache_copies() has found no copies. Returns whether devices have the first
 * rows, `rows` of them, of pinned columns of an image with so many rows: of each a part or, on a
 * single device, a whole copy. Stores the division of the rows, and what is there, with references;
 * a copy may have more rows than the division then. Starts what is missing where there is room: no
 * whole copies, nor parts, go for it, but those that nobody has used since a scan of these columns
 * found none and seven more have asked. A column whose whole copy is coming or fails has no part.
 */
bool clr_cache_parts(struct clr_image_column *const *found, int count, size_t image_rows,
                     const struct clr_devices *devices, struct clr_division *division,
                     struct clr_sharded **copies, size_t *rows);

#endif
