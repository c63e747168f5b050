/* How much the cache may hold, and what goes when it is too much. */
#ifndef CLR_SQLITE_CACHE_MEMORY_H
#define CLR_SQLITE_CACHE_MEMORY_H

#include "opencl/core/catalog.h"
#include "sqlite/session/connection.h"

/* A row of a column takes a value and, maybe, a tag. */
enum { CLR_ROW_BYTES = 9 };

/* Returns how many bytes of the host columns may take: a quarter of the memory, or as the process's
   setting says. */
int64_t clr_column_memory(void);

/* Returns how many bytes of a device's memory they may take, likewise. */
int64_t clr_column_device_memory(const struct clr_device_info *info);

/*
 * Drops the least recently used columns and dictionaries, of whatever connection, and then layouts
 * without columns, until all take at most so many bytes of the host, and copies until they take at
 * most so many of devices. What queries have pinned stays, and so do dictionaries of the scan of
 * that number (0: none).
 */
void clr_cache_trim(int64_t most, int64_t most_on_devices, int64_t scan);

/* Drops what is too much for the settings, likewise: leaves so many bytes to the host, and to
   devices what the user allows. */
void clr_column_memory_trim(int64_t most, int64_t scan);

/* Frees what no query needs now, but what is another connection's own. Returns how many bytes that
   took, on the host and on devices. */
int64_t clr_cache_evict(const struct clr_connection *connection);

#endif
