/*
 * Images: what has been decoded of one version of a table. They belong to the cache, and all of
 * this is used under its lock, but for what says otherwise.
 */
#ifndef CLR_SQLITE_IMAGE_H
#define CLR_SQLITE_IMAGE_H

#include "engine/columns/copies.h"
#include "numeric/values/field.h"
#include "sqlite/database/snapshot.h"
#include "storage/load/load.h"

#include <stdbool.h>
#include <stdint.h>

struct clr_cached_table;

struct clr_image_column {
    struct clr_image_column *next; /* in the image's list */
    char *name;                    /* of a derived column the expression */
    struct clr_field field;
    struct clr_column *column;
    /* Of one that SQLite evaluates: the pages of the leaves whose rows it has yet to evaluate
       again, or NULL. Until then the column serves nobody. */
    struct clr_page_set *unvalued;
    struct clr_sharded *copy; /* on devices, or NULL */
    size_t size;              /* of the column on the host, in bytes: clr_image_measure() */
    int pins;                 /* queries that need it now: it is not evicted */
    int64_t hits;             /* scans that found it here */
    int64_t used;             /* the cache's clock of scans: least recently used goes first */
    /* While it has no copy: how many more scans have to ask for one, and the number of the first
       scan that found no room for it, or 0. See make_room() in cache_memory.c. */
    struct clr_copy_wait {
        int left;
        int64_t since;
    } wait;
    int64_t maker; /* of the copy: the number of the connection */
};

struct clr_image {
    struct clr_image *next;         /* of an older version of the table */
    struct clr_cached_table *table; /* with a reference, which is the cache's to drop */
    int references;                 /* of queries, and the table's one to its newest image */
    /* Whoever has made the table busy changes the image, or has changed it halfway: nobody else
       may look at what follows. */
    bool is_changing;
    uint32_t root;
    struct clr_database_version token; /* of a snapshot, or, if filled, of a row version */
    struct clr_layout layout;          /* changed by whoever has made the table busy, alone */
    struct clr_image_column *columns;
    bool is_known; /* the layout is: clr_image_measure() */
    size_t size;   /* of all that on the host, in bytes: likewise */
};

/* Returns a new image of a table without columns, with one reference, or NULL without memory. It
   takes no reference to the table. */
struct clr_image *clr_image_new(struct clr_cached_table *table, uint32_t root,
                                const struct clr_database_version *token);

/* Returns another image of the same version with the same columns, as clr_image_new() does. What
   changes its columns leaves those of the first one alone: they have references of both. */
struct clr_image *clr_image_clone(const struct clr_image *image);

/* Frees an image that has no reference, whose table stays. */
void clr_image_free(struct clr_image *image);

/* Drops the image's columns, or those that nobody has pinned, and if age is not 0 none but those of
   that age: see struct clr_field. Returns their bytes, on the host and on devices. */
int64_t clr_image_drop(struct clr_image *image, bool if_unpinned, uint64_t age);

/*
 * Gives a column new content, with its reference; what was made of the old one goes. fresh: the
 * rows without which the content is as it was, so that the device's copy may be changed as well; or
 * NULL.
 */
void clr_image_replace(struct clr_image_column *column, struct clr_column *content,
                       const struct clr_row_ranges *fresh);

/* Returns the image's column that a field describes, or NULL. One with bytes will do for a field
   without, and one in which there are none for a field with bytes; but one with codes only for a
   field with codes, and no other for such a one. */
struct clr_image_column *clr_image_find(const struct clr_image *image,
                                        const struct clr_field *field);

/* Returns a column's bit in sets of columns that SQLite fills; with bytes, or codes, it is as
   another column. In tables of more than 20 columns some share one. */
static inline uint64_t clr_image_bit(const struct clr_field *field)
{
    const int form = field->times != 0   ? 3
                     : field->with_codes ? 2 + 2 * (int)field->unit
                     : field->with_bytes ? 1
                                         : 0;

    return UINT64_C(1) << ((field->index + 21 * form) & 63);
}

/* The same, of a column with rows that are to be evaluated again; else NULL. */
struct clr_image_column *clr_image_find_unvalued(const struct clr_image *image,
                                                 const struct clr_field *field);

/* Adds a column, whose reference becomes the image's, or has it take the place of one that lacks
   the bytes, or values. Codes stand beside values. NULL, with the reference dropped, without
   memory. */
struct clr_image_column *clr_image_add(struct clr_image *image, const char *name,
                                       const struct clr_field *field, struct clr_column *column);

/* Takes the column with that link out of its image and frees it. */
void clr_image_remove(struct clr_image_column **link);

/* Takes note of what a column takes on the host. */
void clr_image_measure_column(struct clr_image *image, struct clr_image_column *column);

/* Takes note of what columns and layout take on the host. Whoever changes the layout calls this
   when that is done. */
void clr_image_measure(struct clr_image *image);

/* Returns the name of the column's type, "codes", maybe of times, "times", or `mixed` if it has
   values of several. */
const char *clr_image_column_type(const struct clr_image_column *column, const char *mixed);

#endif
