/* What clreduce keeps for each database connection: settings, statistics and reusable memory. */
#ifndef CLR_SQLITE_CONNECTION_H
#define CLR_SQLITE_CONNECTION_H

#include "base/budget.h"
#include "base/settings.h"
#include "base/stats.h"
#include "engine/reduction.h"
#include "sqlite/api.h"
#include "sqlite/spares.h"

#include <stdbool.h>

struct clr_extreme;
struct clr_view;
struct clr_database;
struct clr_image;
struct clr_locked_work;

/* Used under the connection's own mutex, as SQLite calls functions and tables. */
struct clr_connection {
    struct clr_connection *next; /* in the list of all connections */
    sqlite3 *db;
    int references; /* one for each function and table registered, and the creator's */
    bool complete;  /* all of them are registered: without memory some may be, and are replaced */
    struct clr_settings settings;
    int settings_changes; /* how often one was set */
    struct clr_stats stats;
    struct clr_pool pool;
    struct clr_extreme *free_extremes; /* see extremes.c */
    int free_extreme_count;
    struct clr_budget values;   /* what aggregates keep: the setting values_memory */
    struct clr_budget extremes; /* what gpu_min and gpu_max keep beside it: a quarter of that */
    struct clr_spares free_percentiles, free_collections, free_histograms; /* see their files */
    struct clr_view *views;                                                /* see view.h */
    struct clr_view *past_views;         /* that may come back; see view.c */
    struct clr_database *databases;      /* see connection_database.h */
    struct clr_image *images;            /* see image.h */
    struct clr_locked_work *locked_work; /* see schema_lock.c */
    int lock_tables;                     /* made for it, beside the first */
    int generations;                     /* of databases, given out so far */
    int64_t scans;                       /* of views, so far */
    bool replaced;  /* one of our functions was replaced by the application's */
    int view_depth; /* how many views' rows are being fetched at the moment */
};

/* Returns whether all is registered with the connection: loading twice must change nothing. */
bool clr_connection_exists(sqlite3 *db);

/* Returns a new connection with one reference, or NULL without memory. */
struct clr_connection *clr_connection_new(sqlite3 *db);

/* Heeds settings that are kept elsewhere as well, after they have changed. */
void clr_connection_heed_settings(struct clr_connection *connection);

/* Takes and drops a reference; with the last one the connection is freed. The argument of the
   second is void so that it can be a destructor of SQLite's. */
struct clr_connection *clr_connection_retain(struct clr_connection *connection);
void clr_connection_release(void *connection);

/* As clr_connection_release(), for a function that goes: the application may have replaced it. */
void clr_connection_replace(void *connection);

#endif
