/* How much the cache may hold, and what goes when it is too much. And what
   becomes of a file's columns when its last connection of the process has closed. */
#ifndef CLR_SQLITE_CACHE_MEMORY_H
#define CLR_SQLITE_CACHE_MEMORY_H

#include "engine/worker/worker.h"
#include "sqlite/cache/image.h"
#include "sqlite/session/connection.h"

#include <stdatomic.h>

/* A row of a column takes a value and, maybe, a tag. */
enum { CLR_ROW_BYTES = 9 };

/* Returns how many bytes of the host columns may take: a quarter of the memory, or as the process's
   setting says. */
int64_t clr_column_memory(void);

/*
 * With the cache's lock: reserves so many bytes of it, until clr_column_memory_unreserve(), if they
 * are free. One thread at a time has some. *stop becomes true when others need them: then they do
 * not count any more, and are to be given back soon.
 */
bool clr_column_memory_reserve(int64_t bytes, atomic_bool *stop);
void clr_column_memory_unreserve(void);

/* Returns how many bytes copies take of the worker's device. */
int64_t clr_column_device_bytes(const struct clr_worker *worker);

/*
 * With the cache's lock: a scan asks for copies of its columns, which are pinned, by that division;
 * they have no copies of another one. Returns whether those that are missing may be made or, where
 * they have failed, be tried again: all of them together must not take more of any device than
 * the settings of the process let them. Where they would, or have failed for want of memory there,
 * and have been asked for often enough, the least recently used copies on that device go, as many
 * as are in the way, but none that a query has pinned. What the host has of their columns stays.
 */
bool clr_column_device_make_room(struct clr_image_column *const *found, int count,
                                 const struct clr_division *division);

/*
 * Drops what is reserved, sorted copies, the least recently used columns and dictionaries, of
 * whatever connection, and then layouts without columns, until all take at most so many bytes of
 * the host, and copies until they take no more of any device than they may. What queries have
 * pinned stays, and so do dictionaries of the scan of that number (0: none).
 */
void clr_column_memory_trim(int64_t most, int64_t scan);

/* Frees what no query needs now, but what is another connection's own. Returns how many bytes that
   took, on the host and on devices. */
int64_t clr_cache_evict(const struct clr_connection *connection);

/*
 * From now on the columns of a file that no connection has open any more go after the time that the
 * process's setting column_retention says, or soon after the file was deleted: a thread sees to
 * that, which ends when there is nothing left to wait for. Each such file takes a descriptor: of 16
 * at most, and of a small part of those that the process may have, columns stay. To be called
 * before anything is cached; any number of times.
 */
void clr_retention_begin(void);

/* Heeds the setting after it has changed. */
void clr_retention_heed_setting(void);

#endif
