/*
 * A table of the cache: its images, the newest one first, and what is remembered of the table from
 * one version to the next. Used under the cache's lock, but for what says otherwise.
 */
#ifndef CLR_SQLITE_CACHED_TABLE_H
#define CLR_SQLITE_CACHED_TABLE_H

#include "base/backoff.h"
#include "numeric/dictionary/dictionary.h"
#include "numeric/values/field.h"
#include "sqlite/cache/image.h"
#include "sqlite/database/known_file.h"
#include "sqlite/database/snapshot.h"
#include "sqlite/session/connection.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* ---- Dictionaries. */

/*
 * Dictionaries of columns that are streamed, and not kept themselves: they serve the next streams
 * of the same version of the database, and the lookups over them with them.
 */

/* One of them, in a list of those of an image. */
struct clr_kept_dictionary {
    struct clr_kept_dictionary *next;
    struct clr_field field;
    struct clr_database_version token; /* of the version that it is of */
    struct clr_dictionary *dictionary;
    int64_t used; /* as that of a column */
};

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

/* Returns the link to the one whose use is longest ago, unless that was in this scan, or NULL. */
struct clr_kept_dictionary **clr_kept_dictionary_oldest(struct clr_kept_dictionary **list,
                                                        int64_t scan);

/* Drops the one that the link leads to. */
void clr_kept_dictionary_drop(struct clr_kept_dictionary **link);

/* Returns what they take, in bytes. */
int64_t clr_kept_dictionaries_size(const struct clr_kept_dictionary *list);

void clr_kept_dictionaries_free(struct clr_kept_dictionary **list);

/* ---- Columns with too many values. */

/*
 * Columns that have too many different values for a dictionary: what was found once for a version
 * of the database is not found again for the same, and for later ones only once in a while.
 */

/* One column, in a list of those of an image. */
struct clr_many_values {
    struct clr_many_values *next;
    int index;                         /* of the image's field */
    struct clr_database_version token; /* of the version for which it was found */
    struct clr_backoff skips;          /* queries of other versions that do without */
};

/* Takes note of a query that needs the column in that version. Returns whether the column is to be
   taken for one with too many values. */
bool clr_many_values_expected(struct clr_many_values *list, int index,
                              const struct clr_database_version *token);

/* Takes note that it has. Without memory it is found again. */
void clr_many_values_found(struct clr_many_values **list, int index,
                           const struct clr_database_version *token);

/* Takes note that it has not. */
void clr_many_values_forget(struct clr_many_values **list, int index);

/* ---- A table. */

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

/* A query on its way to an image: it begins a snapshot, or waits. */
struct clr_arrival {
    struct clr_arrival *next;       /* in the table's list */
    struct clr_cached_table *table; /* with a reference; NULL: it is in no list */
    bool has_version;               /* the snapshot is proved: it is of that version */
    struct clr_database_version token;
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

    struct clr_arrival *arrivals;
    int stale; /* queries that want to refresh the newest image, or do: others arrive after that */
    bool is_refreshed; /* who has made it busy is one of them */

    struct clr_attempts attempts;             /* the owner's: to fill it */
    struct clr_many_values *many_values;      /* columns that are not to have codes */
    struct clr_kept_dictionary *dictionaries; /* of columns that are streamed */
    /* Of the table when it was last read, of whatever version; 0: never. Without the lock. */
    atomic_size_t rows;
};

struct clr_cached_table *clr_cached_table_retain(struct clr_cached_table *table);
void clr_cached_table_release(struct clr_cached_table *table);

/* Returns an image that was made for a table, which it gets a reference to; NULL is fine. */
struct clr_image *clr_cached_image_take(struct clr_image *image);

/* Whether one query alone is in the image. */
bool clr_cached_image_is_alone(const struct clr_image *image);

/* Drops references to an image. Returns it if it is to be freed, and in no list then; else NULL. */
struct clr_image *clr_cached_image_release(struct clr_image *image, int references);

/* Frees what that has returned. */
void clr_cached_image_free(struct clr_image *image);

/* The same, its columns without the lock: that may take its time. NULL is fine. */
void clr_cached_image_dispose(struct clr_image *image);

/* ---- The list of tables. */

/*
 * The list of the tables that the cache has, and what a connection and a fork have to do with it.
 * But for the first two functions the caller has the cache's lock.
 */

/* Without the lock: has the cache forget the connection when that is closed, and heed forks.
   Returns false without memory. */
bool clr_cache_prepare(struct clr_connection *connection);

/* Takes the lock when no image that a connection may see is being changed, but by the calling
   thread; or after a second, as who changes one may wait for a lock of the caller's. */
void clr_cache_lock_unchanging(const struct clr_connection *connection);

/* Returns the first table. */
struct clr_cached_table *clr_cache_first(void);

/* A place among the columns of all images that are not being changed. Zeros: before the first. */
struct clr_column_place {
    struct clr_cached_table *table;
    struct clr_image *image;        /* of that table */
    struct clr_image_column **link; /* to the column, in that image */
};

/* Goes on to the next column, which is returned, or NULL. */
struct clr_image_column *clr_cache_next_column(struct clr_column_place *place);

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
