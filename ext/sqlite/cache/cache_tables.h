/*
 * The list of the tables that the cache has, and what a connection and a fork have to do with it.
 * But for the first two functions the caller has the cache's lock.
 */
#ifndef CLR_SQLITE_CACHE_TABLES_H
#define CLR_SQLITE_CACHE_TABLES_H

#include "sqlite/cache/cached_table.h"

/* Without the lock: has the cache forget the connection when that is closed, and heed forks.
   Returns false without memory. */
bool clr_cache_prepare(struct clr_connection *connection);

/* Takes the lock when no image that a connection may see is being changed, but by the calling
   thread; or after a second, as who changes one may wait for a lock of the caller's. */
void clr_cache_lock_unchanging(const struct clr_connection *connection);

/* Returns the first table. */
struct clr_cached_table *clr_cache_first(void);

/* Returns the newest image of a table that a connection may see, or NULL; one that the calling
   thread is changing is none. */
struct clr_image *clr_cache_look_up(const struct clr_connection *connection, const char *schema,
                                    const char *table, bool is_filled);

/* Returns the name of the schema by which a connection has a table's file open, or that of a table
   of its own, or NULL: it is none of this connection's business. */
const char *clr_cache_schema(const struct clr_connection *connection,
                             const struct clr_cached_table *table);

/* Returns the table of a place, or NULL. */
struct clr_cached_table *clr_cache_find_table(const struct clr_cache_place *place);

/* The same, a new one if there is none, and NULL without memory. */
struct clr_cached_table *clr_cache_table(const struct clr_cache_place *place);

/* Takes a table out of the list that no query is on its way to, with all that nobody is in. */
void clr_cache_drop_table(struct clr_cached_table *table);

#endif
