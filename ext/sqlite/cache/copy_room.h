/*
 * What the columns' copies take of devices' memory, and what of them goes when it is too much. All
 * of this is used under the cache's lock. Whole copies come before parts, which are copies of first
 * rows: these have what the others leave.
 */
#ifndef CLR_SQLITE_COPY_ROOM_H
#define CLR_SQLITE_COPY_ROOM_H

#include "engine/worker/worker.h"
#include "sqlite/cache/image.h"

enum clr_copy_form { CLR_COPY_WHOLE, CLR_COPY_PART };

/* Returns how many bytes of a device's memory columns may take: a quarter of it, or as settings of
   the process say. */
int64_t clr_column_device_memory(const struct clr_device_info *info);

/*
 * How many scans have to ask for a copy before it takes the room of others, which nobody has used
 * since the first of these scans; and before a column whose copy was dropped gets another one. A
 * copy takes about as long as a few scans by the host: so copying is a fraction of what the host
 * does meanwhile, in whatever order columns are asked for that do not all fit. Where they are asked
 * for in turn, none is asked for twice without the others: some stay and serve, and nothing is
 * copied.
 */
enum { CLR_COPY_ASKINGS = 8 };

/* Whether an image's columns, and what devices have of them, may go. */
bool clr_copy_may_go(const struct clr_image *image);

/* Returns what a column's copy of that form takes of a worker's device, in bytes. */
int64_t clr_copy_size(const struct clr_image_column *column, enum clr_copy_form form,
                      const struct clr_worker *worker);

/*
 * Adds up what copies of that form take of a worker's device, in bytes. What is being changed
 * counts as it was. since: NULL; or only that counts which may go, as no query has it pinned, and
 * no scan has used it since the one of that number.
 */
int64_t clr_copy_measure(enum clr_copy_form form, const struct clr_worker *worker,
                         const int64_t *since);

/*
 * Drops the copy of that form on the worker's device whose use is longest ago, of those that no
 * query needs, also what it has on others. Returns the bytes that it took there, or 0 if there is
 * none.
 */
int64_t clr_copy_drop_oldest(enum clr_copy_form form, const struct clr_worker *worker);

/* Returns whether copies take more of one of the devices than they may: the setting has changed. */
bool clr_copy_is_over(const struct clr_devices *devices);

/* Drops parts, those whose use is longest ago first, until all copies together take at most so many
   bytes of a worker's device, or there are none left that may go. */
void clr_copy_trim_parts(const struct clr_worker *worker, int64_t most);

/*
 * Returns how many rows of all of these columns together devices have room for, a multiple of
 * CLR_BLOCK for each device: beside all that is there or, if since is no NULL pointer, in the place
 * of the parts that these columns have and of what has not been used since that scan (0: of no
 * scan). 0 if a
 * device has the host's columns themselves.
 */
size_t clr_copy_room(struct clr_image_column *const *columns, int count,
                     const struct clr_devices *devices, const int64_t *since);

#endif
