/*
 * Sorted copies of columns on the host. A column whose order has been asked for often enough, since
 * it has its content, gets one in the background (cache_thread.h), by threads that leave the
 * processors to others, if there is free memory for it. It goes with the content, and before any
 * column where memory is short. Nobody waits for one.
 */
#ifndef CLR_SQLITE_SORTED_COPIES_H
#define CLR_SQLITE_SORTED_COPIES_H

#include "numeric/scan/scan.h"
#include "sqlite/cache/image.h"

/*
 * Takes note of a scan, and of what it asks about the order of its columns, which are pinned.
 * Stores their sorted copies, with references, or NULL. Returns whether there is one.
 */
bool clr_sorted_copies_take(struct clr_image_column *const *found, const struct clr_scan *scan,
                            struct clr_sorted_copy *copies[CLR_MOST_COLUMNS]);

#endif
