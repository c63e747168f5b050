/*
 * A table of the cache: its images, the newest one first, and what is remembered of the table from
 * one version to the next. Used under the cache's lock, but for what says otherwise.
 */
#ifndef CLR_SQLITE_CACHED_TABLE_H
#define CLR_SQLITE_CACHED_TABLE_H

#include "base/backoff.h"
#include "sqlite/cache/image.h"
#include "sqlite/cache/kept_dictionaries.h"
#include "sqlite/cache/many_values.h"
#include "sqlite/database/known_file.h"
#include "sqlite/session/connection.h"

#include <pthread.h>
#include <stdatomic.h>

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

/* Returns a table of that place without images and with one reference, or NULL without memory. */
struct clr_cached_table *clr_cached_table_new(const struct clr_cache_place *place);

/* Whether it is the table of that place. */
bool clr_cached_table_is(const struct clr_cached_table *table, const struct clr_cache_place *place);

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

#endif
