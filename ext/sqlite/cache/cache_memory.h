/* How much the cache may hold, and what goes when it is too much. */
#ifndef CLR_SQLITE_CACHE_MEMORY_H
#define CLR_SQLITE_CACHE_MEMORY_H

#include "engine/worker/worker.h"
#include "sqlite/session/connection.h"

/* A row of a column takes a value and, maybe, a tag. */
enum { CLR_ROW_BYTES = 9 };

/* Returns how many bytes of the host columns may take: a quarter of the memory, or as the process's
   setting says. */
int64_t clr_column_memory(void);

/* Returns how many bytes of a device's memory they may take, likewise. */
int64_t clr_column_device_memory(const struct clr_device_info *info);

/* Returns how many bytes of it copies take. The device's worker is that. */
int64_t clr_column_device_bytes(const struct clr_worker *worker);

/*
 * Drops the least recently used columns and dictionaries, of whatever connection, and then layouts
 * without columns, until all take at most so many bytes of the host, and copies until they take no
 * more of any device than they may. What queries have pinned stays, and so do dictionaries of the
 * scan of that number (0: none).
 */
void clr_column_memory_trim(int64_t most, int64_t scan);

/* Frees what no query needs now, but what is another connection's own. Returns how many bytes that
   took, on the host and on devices. */
int64_t clr_cache_evict(const struct clr_connection *connection);

#endif
