/*
 * Lookups that a table keeps from one query to the next, as it does columns: they count towards
 * column_memory, and the least recently used go first. What SQLite alone evaluates serves all views
 * of all connections to the file; what functions of the application have a part in serves the view
 * for which it was made.
 *
 * The caller of all functions has the cache's lock (cache.h).
 */
#ifndef CLR_SQLITE_KEPT_LOOKUPS_H
#define CLR_SQLITE_KEPT_LOOKUPS_H

#include "numeric/scan/lookup.h"
#include "sqlite/database/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lookups of one statement, in a list of those of a table. */
struct clr_kept_lookups {
    struct clr_kept_lookups *next;
    uint64_t id; /* no others have it */
    void *key;
    size_t key_size;
    bool is_shared;
    struct clr_database_version token; /* then: of the version that they are of */
    struct clr_lookup *lookups;        /* count, all of as many entries */
    int count;
    size_t size;  /* of them all, in bytes */
    int64_t used; /* as that of a column */
};

/* What a view looks for among them. */
struct clr_wanted_lookups {
    const void *key; /* all that the results follow from, but for what the statement reads */
    size_t key_size;
    uint64_t id; /* of those that the view knows to hold for what it reads; 0: none */
    /* Others' do, too, if they are of that version of the database; NULL: they do not. Zeros: they
       read nothing of the database. */
    const struct clr_database_version *token;
    int64_t used; /* the number of the scan */
};

/* Stores copies of the lookups that are wanted, count of them, to be freed each with
   clr_lookup_free(). Returns their id, or 0 if there are none. They may be of fewer entries than
   the dictionary has. */
uint64_t clr_kept_lookups_find(struct clr_kept_lookups *list,
                               const struct clr_wanted_lookups *wanted, struct clr_lookup *lookups,
                               int count);

/* Keeps copies of lookups, in the place of those of that id, or, where they are others' as well, of
   those with that key. Returns their id, or 0 without memory. */
uint64_t clr_kept_lookups_add(struct clr_kept_lookups **list,
                              const struct clr_wanted_lookups *wanted,
                              const struct clr_lookup *lookups, int count);

/* Drops those that the link leads to. */
void clr_kept_lookups_remove(struct clr_kept_lookups **link);

/* Returns what those of a list take, in bytes. */
int64_t clr_kept_lookups_size(const struct clr_kept_lookups *list);

#endif
