/* The cache of columns: for each table what has been decoded of it, as long as it is fresh. */
#ifndef CLR_SQLITE_IMAGE_H
#define CLR_SQLITE_IMAGE_H

#include "engine/columns/resident.h"
#include "sqlite/columns/kept_dictionaries.h"
#include "sqlite/columns/many_values.h"
#include "sqlite/database/snapshot.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/skips.h"
#include "storage/load/load.h"

struct clr_image_column {
    struct clr_image_column *next; /* in the image's list */
    char *name;
    struct clr_field field;
    struct clr_column *column;     /* away if the copy is all there is */
    struct clr_resident *resident; /* the copy on a device, or NULL */
    struct clr_worker *worker;     /* of that device */
    int64_t hits;                  /* scans that found it here */
    int64_t used; /* the connection's clock of scans: least recently used goes first */
};

/* Of columns that SQLite itself fills, what was tried for one version of the database. Columns have
   a bit each, see clr_image_bit(). */
struct clr_attempts {
    uint64_t asked;               /* those that queries needed */
    uint64_t filled;              /* those that were filled */
    struct clr_skips filling;     /* queries that SQLite runs before it fills columns */
    bool served;                  /* a later query had all of its columns here */
    enum clr_reason_code refusal; /* why columns could not be filled */
    uint64_t refused;             /* what the query lacked then */
    int settings;                 /* settings_changes of the connection then */
};

struct clr_image {
    struct clr_image *next; /* in the connection's list */
    char *schema, *table;
    bool is_filled; /* filled by SQLite: the rows are in the order in which it reads them */
    uint32_t root;
    struct clr_token token;              /* of a snapshot, or, if filled, of a row version */
    struct clr_attempts attempts;        /* to fill it */
    int wait;                            /* queries before columns are filled in the next version */
    bool host_decodes;                   /* the table's pages are not for devices */
    struct clr_many_values *many_values; /* columns that are not to have codes */
    struct clr_kept_dictionary *dictionaries; /* of columns that are streamed */
    size_t rows; /* of the table when it was last read, of whatever version; 0: never */
    struct clr_layout layout;
    struct clr_image_column *columns;
};

/* Returns the first of the connection's images, or NULL. */
struct clr_image *clr_images_first(const struct clr_connection *connection);

/* Counts a scan. Returns its number, which goes to what it uses: that is what was used last. */
int64_t clr_images_scan(struct clr_connection *connection);

/* Returns the image of a table from its pages or filled by SQLite, whatever version of the database
   it is of, or NULL. */
struct clr_image *clr_image_look_up(const struct clr_connection *connection, const char *schema,
                                    const char *table, bool is_filled);

/*
 * Returns the image of a table, empty if there was none; *stale tells that it is not of this very
 * version of the database: it has to be refreshed or emptied before it is used. NULL without
 * memory.
 */
struct clr_image *clr_image_get(struct clr_connection *connection,
                                const struct clr_database *database, const char *table,
                                bool is_filled, uint32_t root, const struct clr_token *token,
                                bool *stale);

/* Drops columns that are on a device alone: those which that has lost, as it has failed, or all. */
void clr_image_drop_away(struct clr_image *image, bool if_lost);

/* Drops the image's columns, dictionaries and layout. */
void clr_image_drop(struct clr_image *image);

/* Does that, and from now on the image is of that version of the database, for which nothing was
   tried. */
void clr_image_empty(struct clr_image *image, uint32_t root, const struct clr_token *token);

/* Gives a column new content, with its reference; what was made of the old one goes. */
void clr_image_replace(struct clr_image_column *column, struct clr_column *content);

/* Returns the image's column that a field describes, or NULL. One with bytes will do for a field
   without, and one in which there are none for a field with bytes; but one with codes only for a
   field with codes, and no other for such a one. */
struct clr_image_column *clr_image_find(struct clr_image *image, const struct clr_field *field);

/* Returns a column's bit in sets of columns that SQLite fills; with bytes, or codes, it is as
   another column. In tables of more than 20 columns some share one. */
static inline uint64_t clr_image_bit(const struct clr_field *field)
{
    const int form = field->with_codes ? 2 : field->with_bytes ? 1 : 0;

    return UINT64_C(1) << ((field->index + 21 * form) & 63);
}

/* Adds a column, whose reference becomes the image's, or has it take the place of one that lacks
   the bytes. Codes stand beside values. NULL, with the reference dropped, without memory. */
struct clr_image_column *clr_image_add(struct clr_image *image, const char *name,
                                       const struct clr_field *field, struct clr_column *column);

/* Returns the name of the column's type, "codes", or `mixed` if it has values of several. */
const char *clr_image_column_type(const struct clr_image_column *column, const char *mixed);

/* Returns whether a device has a complete copy. */
bool clr_image_column_on_device(const struct clr_image_column *column);

/*
 * Sees that a column's rows are on the host, too. Returns CLR_SCAN_DONE; CLR_SCAN_STOPPED; or
 * CLR_SCAN_FAILED if they can't be had from the device: then they are to be loaded again.
 */
enum clr_scan_outcome clr_image_column_fetch(struct clr_connection *connection,
                                             struct clr_image_column *column,
                                             const struct clr_watch *watch);

/* Returns what the images' columns and dictionaries take, in bytes: of the host, and of devices. */
int64_t clr_images_size(const struct clr_connection *connection, int64_t *on_devices);

/*
 * Drops the least recently used columns and dictionaries, and then layouts without columns, until
 * the images with their layouts take at most so many bytes of the host, and copies until they take
 * at most so many of devices; what was used last stays.
 */
void clr_images_trim(struct clr_connection *connection, int64_t most, int64_t most_on_devices);

/* A row of a column takes a value and, maybe, a tag. */
enum { CLR_ROW_BYTES = 9 };

/* Returns how many bytes of the host columns may take: a quarter of the memory, or as the setting
   says. */
int64_t clr_column_memory(const struct clr_connection *connection);

/* Returns how many bytes of a device's memory they may take, likewise. */
int64_t clr_column_device_memory(const struct clr_connection *connection,
                                 const struct clr_device_info *info);

/* Drops what is too much for the settings, as clr_images_trim() does: leaves so many bytes to the
   host, and to devices what the user allows. */
void clr_column_memory_trim(struct clr_connection *connection, int64_t most);

/* Drops all images. Returns how many bytes they took, on the host and on devices. */
int64_t clr_images_free(struct clr_connection *connection);

#endif
