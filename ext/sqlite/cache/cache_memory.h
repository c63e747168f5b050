/* How much the cache may hold, what goes when it is too much, and what queries need of it. */
#ifndef CLR_SQLITE_CACHE_MEMORY_H
#define CLR_SQLITE_CACHE_MEMORY_H

#include "engine/worker/worker.h"
#include "numeric/scan/scan.h"
#include "sqlite/cache/cache.h"
#include "sqlite/session/connection.h"

/* A row of a column takes a value and, maybe, a tag. */
enum { CLR_ROW_BYTES = 9 };

/* Returns how many bytes of the host columns may take: a quarter of the memory, or as the process's
   setting says. */
int64_t clr_column_memory(void);

/* Returns how many bytes copies take of the worker's device. */
int64_t clr_column_device_bytes(const struct clr_worker *worker);

/*
 * Drops the least recently used columns, dictionaries and lookups, of whatever connection, and then
 * layouts without columns, until all take at most so many bytes of the host, and copies until they
 * take no more of any device than they may. What queries have pinned stays, and so do dictionaries
 * of the scan of that number (0: none).
 */
void clr_column_memory_trim(int64_t most, int64_t scan);

/* Frees what no query needs now, but what is another connection's own. Returns how many bytes that
   took, on the host and on devices. */
int64_t clr_cache_evict(const struct clr_connection *connection);

/* Frees the columns that call functions of the connection that had that age, but for those that a
   query has pinned, or whose table is being read: these are evicted in their turn. */
void clr_cache_drop_age(uint64_t age);

/* Returns how many bytes the kept lookups of all tables take. */
int64_t clr_cache_lookup_bytes(void);

/* Drops the kept lookups of that id (0: none), if they are there and serve one view alone. */
void clr_cache_drop_lookups(uint64_t id);

/* ---- Dictionaries of columns that are streamed: with the lock. */

/* Returns the dictionary of a field in that version, which is used by that scan, or NULL. */
struct clr_dictionary *clr_kept_dictionary_find(struct clr_kept_dictionary *list,
                                                const struct clr_field *field,
                                                const struct clr_database_version *token,
                                                int64_t used);

/* Keeps a dictionary, to which it takes a reference, in the place of an older one of the field.
   Without memory it is not kept. */
void clr_kept_dictionary_add(struct clr_kept_dictionary **list, const struct clr_field *field,
                             const struct clr_database_version *token,
                             struct clr_dictionary *dictionary, int64_t used);

/* ---- Copies of the columns of an image that a query has pinned. Both functions take the cache's
   lock. */

/*
 * Returns whether pinned columns of so many rows all have copies on the devices that are ready, and
 * of one division, and stores it, and these, with references; starts those that are missing, if
 * there is room for all. The copy of a column that another connection, which is open, had made on
 * other devices stays there, unless one of these has failed.
 */
bool clr_cache_copies(const struct clr_connection *connection,
                      struct clr_image_column *const *found, int count, size_t rows,
                      const struct clr_devices *devices, struct clr_division *division,
                      struct clr_sharded **copies);

#endif
