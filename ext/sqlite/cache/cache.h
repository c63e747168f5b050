/*
 * The cache of columns, which all connections of the process share: for each table its images, each
 * of one version of the database. What is of a known file (sqlite/database/connection_database.h)
 * serves every connection that has that file open, and finds out by a snapshot of its own which
 * version it sees; all else is one connection's own.
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

#include "base/backoff.h"
#include "engine/worker/team.h"
#include "numeric/dictionary/dictionary.h"
#include "sqlite/cache/image.h"
#include "sqlite/database/connection_database.h"
#include "sqlite/session/connection.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- The lock. */

/* Whoever has the lock is not cancelled. */
void clr_cache_lock(void);
void clr_cache_unlock(void);

/* With the lock: has all that wait look again. */
void clr_cache_wake(void);

/* ---- A table. */

struct clr_kept_lookups; /* kept_lookups.h */

/*
 * A dictionary of a column that is streamed, and not kept itself, in a list of those of a table: it
 * serves the next streams of the same version of the database, and the lookups over it with it.
 */
struct clr_kept_dictionary {
    struct clr_kept_dictionary *next;
    struct clr_field field;
    struct clr_database_version token; /* of the version that it is of */
    struct clr_dictionary *dictionary;
    int64_t used; /* as that of a column */
};

/*
 * A column that has too many different values for a dictionary, or others than times, in a list of
 * those of a table: what was found once for a version of the database is not found again for the
 * same, and for later ones only once in a while.
 */
struct clr_many_values {
    struct clr_many_values *next;
    struct clr_field field;            /* of the image: clr_field_is_like() */
    struct clr_database_version token; /* of the version for which it was found */
    struct clr_backoff skips;          /* queries of other versions that do without */
};

/* Of columns that SQLite itself fills, what was tried for one version of the database. Columns have
   a bit each, see clr_image_bit(). */
struct clr_attempts {
    uint64_t asked;               /* those that queries needed */
    uint64_t filled;              /* those that were filled */
    struct clr_backoff filling;   /* queries that SQLite runs before it fills columns */
    bool served;                  /* a later query had all of its columns here */
    enum clr_reason_code refusal; /* why columns could not be filled */
    uint64_t refused;             /* what the query lacked then */
    int settings;                 /* settings_changes of the connection then */
};

/* Whose table it is, and which. */
struct clr_cache_place {
    struct clr_connection *connection;
    struct clr_known_file *file; /* shared by all connections to it; NULL: the connection's own */
    uint32_t longest;            /* the limit of TEXT's and BLOBs' length that it was read under */
    const char *schema, *table;
    bool is_filled; /* filled by SQLite: the rows are in the order in which it reads them */
};

/* A query that enters an image, and may wait. */
struct clr_entering {
    struct clr_entering *next; /* in the table's list */
    const struct clr_database_version *token;
};

struct clr_cached_table {
    struct clr_cached_table *next;      /* in the cache's list */
    int references;                     /* the list's and its images' */
    const struct clr_connection *owner; /* whose own it is; NULL: it is of a file */
    struct clr_known_file *file;        /* with a reference, or NULL */
    uint32_t longest;
    char *schema, *name; /* the schema is that by which who made it knows the file */
    bool is_filled;
    bool is_dropped;          /* it is in the list no more, and its newest image has no reference */
    struct clr_image *images; /* the newest one, and older ones that queries still need */

    /* Somebody loads, refreshes or fills the newest image. */
    bool is_busy;
    pthread_t busy;

    struct clr_entering *entering;

    struct clr_attempts attempts;             /* the owner's: to fill it */
    struct clr_many_values *many_values;      /* columns that are to have no codes or times */
    struct clr_kept_dictionary *dictionaries; /* of columns that are streamed */
    struct clr_kept_lookups *lookups;         /* over dictionaries of this table's columns */
    /* Of the table when it was last read, of whatever version; 0: never. Without the lock. */
    atomic_size_t rows;
};

/* ---- The list of tables. */

/*
 * The list of the tables that the cache has, and what a connection and a fork have to do with it.
 * But for the first function the caller has the cache's lock.
 */

/* Takes the lock when no image that a connection may see is being changed, but by the calling
   thread; or after a second, as who changes one may wait for a lock of the caller's. */
void clr_cache_lock_unchanging(const struct clr_connection *connection);

/* Returns the first table. */
struct clr_cached_table *clr_cache_first(void);

/* Returns the name of the schema by which a connection has a table's file open, or that of a table
   of its own, or NULL: it is none of this connection's business. */
const char *clr_cache_schema(const struct clr_connection *connection,
                             const struct clr_cached_table *table);

/* Takes a table out of the list that no query enters, with all that nobody is in. */
void clr_cache_drop_table(struct clr_cached_table *table);

/* ---- Entering and leaving. */

/* What came of waiting for a table that is busy, or of entering it. */
enum clr_entry {
    CLR_ENTRY_FRESH,  /* the image is of this version */
    CLR_ENTRY_STALE,  /* it is of another one; the table is busy now: the caller's */
    CLR_ENTRY_NESTED, /* a query that waits for this one has made it busy */
    CLR_ENTRY_STOPPED,
    CLR_ENTRY_NO_MEMORY
};

/*
 * Enters the image of a version of a table, empty if there was none, and stores it: it is to be
 * left. While another thread brings a version the call waits, as long as the watch does not want a
 * stop; of several that wait those of older versions go first. Only with FRESH and STALE an image
 * is stored.
 */
enum clr_entry clr_cache_enter(const struct clr_cache_place *place, uint32_t root,
                               const struct clr_database_version *token,
                               const struct clr_watch *watch, struct clr_image **image);

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
 * Returns false without memory: *image is as it was. Until clr_cache_end_load() nobody else looks
 * at it, and the table stays busy.
 */
bool clr_cache_begin_change(struct clr_image **image, const struct clr_watch *watch,
                            bool with_columns);

#endif
