/* What clreduce keeps for each database connection: settings, statistics and reusable memory. */
#ifndef CLR_SQLITE_CONNECTION_H
#define CLR_SQLITE_CONNECTION_H

#include "base/memory.h"
#include "base/settings.h"
#include "base/stats.h"
#include "engine/rows/reduction.h"
#include "sqlite/api.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * What a part of this floor keeps with a connection, made when it is first asked for: the part's
 * own structure begins with it. The connection knows of it only how it is freed.
 */
struct clr_attachment {
    const struct clr_attachment_kind *kind;
    struct clr_attachment *next;
};

/* Used under the connection's own mutex, as SQLite calls functions and tables. */
struct clr_connection {
    struct clr_connection *next; /* in the list of all connections */
    int64_t number;              /* no other connection of the process has had it */
    sqlite3 *db;
    int references; /* one for each function and table registered, and the creator's */
    bool complete;  /* all of them are registered: without memory some may be, and are replaced */
    struct clr_settings settings;
    int settings_changes; /* how often one was set */
    struct clr_stats stats;
    int64_t selects_postponed; /* of selects_by_rows: they are accelerated if they come again */
    struct clr_pool pool;
    struct clr_budget values;   /* what aggregates keep: the setting values_memory */
    struct clr_budget extremes; /* what gpu_min and gpu_max keep beside it: a quarter of that */
    struct clr_attachment *attachments;
    /* How often a statement was prepared that may read a view. An application may add functions
       without SQLite telling the statements that were prepared before, which go on with those that
       they have; so may statements of our own, until another one is prepared. */
    unsigned prepared;
    /* A hash of the name that main's file had when it was first asked for; 0: it was not. */
    uint64_t file;
    bool replaced; /* one of our functions was replaced by the application's */
    int overrides; /* how many of sum, total and avg are ours: see inspect/functions.c */
};

/* A part has one, a constant: the size of its structure in bytes, and what is freed with it before
   the structure itself is: NULL for nothing. */
struct clr_attachment_kind {
    size_t size;
    void (*free)(struct clr_connection *connection, void *attachment);
};

/* Return the connection's attachment of a kind, as the structure that begins with it: NULL if there
   is none; or made if need be, zero beyond its beginning, and NULL without memory. */
void *clr_connection_find(const struct clr_connection *connection,
                          const struct clr_attachment_kind *kind);
void *clr_connection_attach(struct clr_connection *connection,
                            const struct clr_attachment_kind *kind);

/* Returns what is kept for SQLite's connection, which stays as long as that is open: NULL, if not
   all is registered with it. */
struct clr_connection *clr_connection_of(sqlite3 *db);

/* Returns whether the connection of that number is still open. Any thread may ask. */
bool clr_connection_is_open(int64_t number);

/* Returns a new connection with one reference, or NULL without memory. */
struct clr_connection *clr_connection_new(sqlite3 *db);

/* A function of SQL, with the connection as its user data. Lists of them, which one without a name
   ends, are registered in inspect/functions.c. */
struct clr_sql_function {
    const char *name;
    int arguments; /* -1: as many as one likes */
    int flags;     /* beside SQLITE_UTF8 */
    void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
    void (*end)(sqlite3_context *context); /* of an aggregate, whose `call` is its step; or NULL */
};

/* Heeds settings that are kept elsewhere as well, after they have changed. */
void clr_connection_heed_settings(struct clr_connection *connection);

/* Takes and drops a reference; with the last one the connection is freed. The argument of the
   second is void so that it can be a destructor of SQLite's. */
struct clr_connection *clr_connection_retain(struct clr_connection *connection);
void clr_connection_release(void *connection);

/* ---- The age of a connection: a number that no other connection has, and that is another one once
   all of its statements are outdated, as by a function that takes another one's place, by an
   authorizer or by its own change of the schema. */

/* Returns the number, or 0 where it is not known: without memory, or where SQLite does not tell
   that a statement is outdated. A pattern that is bound to LIKE outdates its own statement alone.
   *holds, false at first, says that the caller has asked and not released yet: until all have, the
   connection has a statement of ours, with which SQLite does not close it. */
uint64_t clr_age_read(struct clr_connection *connection, bool *holds);

/* Takes back that the caller has asked, if it has. Returns whether nobody else has: the next number
   is another one. */
bool clr_age_release(struct clr_connection *connection, bool *holds);

#endif
