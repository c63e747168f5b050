/*
 * Entries that are alike to a statement of lookups: it joins each with a row of a dimension, and
 * asks for no more than some of that row's columns. Where two rows have the same values there, two
 * entries have the same results, of which SQLite evaluates one.
 */
#ifndef CLR_SQLITE_ALIKE_H
#define CLR_SQLITE_ALIKE_H

#include "numeric/dictionary/dictionary.h"
#include "query/query.h"
#include "sqlite/database/snapshot.h"
#include "storage/load/load.h"

/* What decides on the results of an entry. */
struct clr_alike {
    uint32_t root; /* of the dimension's rows, whose rowids entries are compared with */
    int count;     /* 0: entries are not known to be alike */
    struct clr_field fields[1 + CLR_MOST_DECIDING]; /* the rowid, and the columns by their codes */
};

/* Where the dimension is read. */
struct clr_alike_input {
    struct clr_database *database;
    struct clr_snapshot *snapshot;
    const struct clr_watch *watch;
    int64_t bytes_read; /* increased by what was read */
};

/*
 * Returns the number of an entry for each of a dictionary's first `count` entries, from `first` on:
 * of the first one that is alike, which may be itself; to be freed with clr_memory_free(). Of those
 * before nothing is stored. NULL: the dimension is not read, or has too many rows or values for it
 * to be worth while, or most entries are alike to none, or there is no memory.
 */
uint32_t *clr_alike_find(const struct clr_alike *alike, struct clr_alike_input *input,
                         const struct clr_dictionary *dictionary, uint32_t first, uint32_t count);

#endif
