/*
 * The cache of columns, which all connections of the process share: for each table its images, each
 * of one version of the database. What is of a known file (sqlite/database/known_file.h) serves
 * every connection that has that file open, and finds out by a snapshot of its own which version it
 * sees; all else is one connection's own.
 *
 * A query enters the image of its version, and none of that changes until it leaves, but for
 * columns that are added, and those dropped that it has not pinned. Whoever loads, refreshes or
 * fills columns makes the table busy; others that need the same wait. A newer version takes the
 * place of the older one: in place where no query is in that, else in a copy of its columns. An
 * older one stays for those that are in it. Who comes late, with a snapshot that was proved before
 * the newer version came, enters an image of its own, without columns.
 *
 * All functions take the cache's lock, unless they say that the caller has it. Under it nothing
 * waits, and SQLite is called for memory alone.
 */
#ifndef CLR_SQLITE_CACHE_H
#define CLR_SQLITE_CACHE_H

#include "engine/worker/team.h"
#include "numeric/scan/scan.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cached_table.h"
#include "sqlite/cache/image.h"
#include "sqlite/session/connection.h"

/* What came of waiting for a table that is busy, or of entering it. */
enum clr_entry {
    CLR_ENTRY_FRESH,  /* the image is of this version */
    CLR_ENTRY_STALE,  /* it is of another one; the table is busy now: the caller's */
    CLR_ENTRY_NESTED, /* a query that waits for this one has made it busy */
    CLR_ENTRY_STOPPED,
    CLR_ENTRY_NO_MEMORY
};

/*
 * To be called before a snapshot is begun of a file that is known already: whoever refreshes the
 * table waits, for a short while, until it is known which version that snapshot has, and lets older
 * versions go first. If somebody wants to refresh it now, the call waits likewise. It ends with
 * clr_cache_enter(), or with clr_cache_turn_back().
 */
void clr_cache_arrive(const struct clr_cache_place *place, struct clr_arrival *arrival);
void clr_cache_turn_back(struct clr_arrival *arrival);

/*
 * Enters the image of a version of a table, empty if there was none, and stores it: it is to be
 * left. While another thread brings the version the call waits, as long as the watch does not want
 * a stop. Only with FRESH and STALE an image is stored.
 */
enum clr_entry clr_cache_enter(const struct clr_cache_place *place, uint32_t root,
                               const struct clr_database_version *token,
                               const struct clr_watch *watch, struct clr_arrival *arrival,
                               struct clr_image **image);

/* Leaves it: the image goes with the last one, if it is not the newest. NULL is fine. */
void clr_cache_leave(struct clr_image *image);

/*
 * Makes the table of an image that was entered busy, after a wait as above. Returns FRESH, and then
 * clr_cache_end_load() is due; NESTED or STOPPED.
 */
enum clr_entry clr_cache_begin_load(struct clr_image *image, const struct clr_watch *watch);
void clr_cache_end_load(struct clr_image *image);

/*
 * Makes *image, which was entered, and whose table is busy by the caller, one that the caller may
 * change: it is the same one if no other query is in it, which is waited for for a short while, or
 * a copy, as the newest image, which the caller has entered instead: with_columns, or an empty one.
 * Returns false without memory: *image is as it was. Until clr_cache_end_change() nobody else looks
 * at it, and the table stays busy.
 */
bool clr_cache_begin_change(struct clr_image **image, const struct clr_watch *watch,
                            bool with_columns);
void clr_cache_end_change(struct clr_image *image);

/* ---- The columns of an image that a query needs. */

/*
 * The columns of an image that a query needs: pinned until it has its answer, so that they are not
 * evicted, and their copies on devices. All functions take the cache's lock.
 */

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

/*
 * Sorted copies of columns on the host. A column whose order has been asked for often enough, since
 * it has its content, gets one in the background (cache_lock.h), by threads that leave the
 * processors to others, if there is free memory for it. It goes with the content, and before any
 * column where memory is short. Nobody waits for one.
 */

/*
 * Takes note of a scan, and of what it asks about the order of its columns, which are pinned.
 * Stores their sorted copies, with references, or NULL. Returns whether there is one.
 */
bool clr_sorted_copies_take(struct clr_image_column *const *found, const struct clr_scan *scan,
                            struct clr_sorted_copy *copies[CLR_MOST_COLUMNS]);

#endif
