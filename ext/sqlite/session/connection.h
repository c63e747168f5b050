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
    struct clr_pool pool;
    struct clr_budget values;   /* what aggregates keep: the setting values_memory */
    struct clr_budget extremes; /* what gpu_min and gpu_max keep beside it: a quarter of that */
    struct clr_attachment *attachments;
    bool replaced; /* one of our functions was replaced by the application's */
    int overrides; /* how many of sum, total and avg are ours: see access/override.h */
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

/* Heeds settings that are kept elsewhere as well, after they have changed. */
void clr_connection_heed_settings(struct clr_connection *connection);

/* Takes and drops a reference; with the last one the connection is freed. The argument of the
   second is void so that it can be a destructor of SQLite's. */
struct clr_connection *clr_connection_retain(struct clr_connection *connection);
void clr_connection_release(void *connection);

/* ---- Spares. */

/*
 * Structures that a connection keeps for reuse: what an aggregate needs beyond its small context is
 * taken from here, so that a million small groups allocate nothing.
 */
enum { CLR_SPARES_KEPT = 8 };

/* The first member of such a structure. */
struct clr_spare {
    struct clr_spare *next;
};

/* Those of one kind, an attachment of the connection. */
struct clr_spares {
    struct clr_attachment attachment;
    struct clr_spare *first;
    int count;
};

/* A kind, a constant: the structures' own end, beside how the connection frees all of them. */
struct clr_spares_kind {
    struct clr_attachment_kind attachment;
    void (*free)(struct clr_spare *);
};

/* Frees what an attachment of such a kind keeps. */
static inline void clr_spares_free(struct clr_connection *connection, void *attachment)
{
    struct clr_spares *spares = attachment;
    const struct clr_spares_kind *kind = (const void *)spares->attachment.kind;
    struct clr_spare *spare;

    (void)connection;
    while ((spare = spares->first) != NULL) {
        spares->first = spare->next;
        kind->free(spare);
    }
}

#define CLR_SPARES_KIND(free)                                                                      \
    {                                                                                              \
        {sizeof(struct clr_spares), clr_spares_free}, free                                         \
    }

/* Returns one that was given, or NULL. */
static inline void *clr_spares_take(const struct clr_connection *connection,
                                    const struct clr_spares_kind *kind)
{
    struct clr_spares *spares = clr_connection_find(connection, &kind->attachment);
    struct clr_spare *spare = spares == NULL ? NULL : spares->first;

    if (spare != NULL) {
        spares->first = spare->next;
        spares->count--;
    }
    return spare;
}

/* Takes one for reuse; frees it if there are enough, or no memory to keep it by. */
static inline void clr_spares_give(struct clr_connection *connection,
                                   const struct clr_spares_kind *kind, struct clr_spare *spare)
{
    struct clr_spares *spares = clr_connection_attach(connection, &kind->attachment);

    if (spares == NULL || spares->count == CLR_SPARES_KEPT) {
        kind->free(spare);
        return;
    }
    spare->next = spares->first;
    spares->first = spare;
    spares->count++;
}

#endif
