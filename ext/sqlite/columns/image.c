#include "sqlite/columns/image.h"

#include "engine/operations/resident_fetch.h"

#include <string.h>
#include <unistd.h>

static void free_column(struct clr_image_column *column)
{
    clr_resident_free(column->resident);
    clr_column_release(column->column);
    sqlite3_free(column->name);
    sqlite3_free(column);
}

void clr_image_drop(struct clr_image *image)
{
    while (image->columns != NULL) {
        struct clr_image_column *column = image->columns;
        image->columns = column->next;
        free_column(column);
    }
    clr_kept_dictionaries_free(&image->dictionaries);
    clr_layout_free(&image->layout);
    memset(&image->layout, 0, sizeof image->layout);
}

void clr_image_drop_away(struct clr_image *image, bool if_lost)
{
    struct clr_image_column **link = &image->columns;

    while (*link != NULL) {
        struct clr_image_column *column = *link;

        if (column->column->is_away && !(if_lost && clr_image_column_on_device(column))) {
            *link = column->next;
            free_column(column);
        } else {
            link = &column->next;
        }
    }
}

static void free_image(struct clr_image *image)
{
    clr_image_drop(image);
    clr_many_values_free(&image->many_values);
    sqlite3_free(image->schema);
    sqlite3_free(image->table);
    sqlite3_free(image);
}

/* The images of a connection. */
struct images {
    struct clr_attachment attachment;
    struct clr_image *first;
    int64_t scans; /* so far */
};

static void free_all(struct clr_connection *connection, void *images)
{
    (void)images;
    clr_images_free(connection);
}

static const struct clr_attachment_kind images_kind = {sizeof(struct images), free_all};

struct clr_image *clr_images_first(const struct clr_connection *connection)
{
    const struct images *images = clr_connection_find(connection, &images_kind);

    return images == NULL ? NULL : images->first;
}

int64_t clr_images_scan(struct clr_connection *connection)
{
    struct images *images = clr_connection_attach(connection, &images_kind);

    return images == NULL ? 0 : ++images->scans;
}

static struct clr_image *new_image(struct clr_connection *connection, const char *schema,
                                   const char *table, bool is_filled)
{
    struct images *images = clr_connection_attach(connection, &images_kind);
    struct clr_image *image;

    if (images == NULL)
        return NULL;
    image = sqlite3_malloc(sizeof *image);
    if (image == NULL)
        return NULL;
    memset(image, 0, sizeof *image);
    image->schema = sqlite3_mprintf("%s", schema);
    image->table = sqlite3_mprintf("%s", table);
    if (image->schema == NULL || image->table == NULL) {
        free_image(image);
        return NULL;
    }
    image->is_filled = is_filled;
    image->wait = 1;
    image->next = images->first;
    images->first = image;
    return image;
}

struct clr_image *clr_image_look_up(const struct clr_connection *connection, const char *schema,
                                    const char *table, bool is_filled)
{
    struct clr_image *image = clr_images_first(connection);

    while (image != NULL &&
           (image->is_filled != is_filled || sqlite3_stricmp(image->schema, schema) != 0 ||
            sqlite3_stricmp(image->table, table) != 0))
        image = image->next;
    return image;
}

struct clr_image *clr_image_get(struct clr_connection *connection,
                                const struct clr_database *database, const char *table,
                                bool is_filled, uint32_t root, const struct clr_token *token,
                                bool *stale)
{
    struct clr_image *image = clr_image_look_up(connection, database->schema, table, is_filled);

    *stale = false;
    if (image == NULL) {
        image = new_image(connection, database->schema, table, is_filled);
        if (image != NULL)
            clr_image_empty(image, root, token);
        return image;
    }
    *stale = image->root != root || memcmp(&image->token, token, sizeof *token) != 0;
    return image;
}

void clr_image_empty(struct clr_image *image, uint32_t root, const struct clr_token *token)
{
    clr_image_drop(image);
    image->root = root;
    image->token = *token;
    image->attempts = (struct clr_attempts){.filling = {image->wait}};
}

void clr_image_replace(struct clr_image_column *column, struct clr_column *content)
{
    clr_resident_free(column->resident);
    column->resident = NULL;
    column->column = content;
}

/* Finds a column, with bytes or without. */
static struct clr_image_column *find_any(struct clr_image *image, const struct clr_field *field)
{
    struct clr_image_column *column = image->columns;

    while (column != NULL && !clr_field_is_same(&column->field, field))
        column = column->next;
    return column;
}

struct clr_image_column *clr_image_find(struct clr_image *image, const struct clr_field *field)
{
    struct clr_image_column *column = find_any(image, field);

    return column != NULL && (!field->with_bytes || clr_column_has_bytes(column->column)) ? column
                                                                                          : NULL;
}

struct clr_image_column *clr_image_add(struct clr_image *image, const char *name,
                                       const struct clr_field *field, struct clr_column *column)
{
    struct clr_image_column *added = find_any(image, field);

    if (added != NULL) {
        clr_column_release(added->column);
        clr_image_replace(added, column);
        added->field = *field;
        return added;
    }
    added = sqlite3_malloc(sizeof *added);
    if (added == NULL) {
        clr_column_release(column);
        return NULL;
    }
    memset(added, 0, sizeof *added);
    added->column = column;
    added->field = *field;
    added->name = sqlite3_mprintf("%s", name);
    if (added->name == NULL) {
        free_column(added);
        return NULL;
    }
    added->next = image->columns;
    image->columns = added;
    return added;
}

const char *clr_image_column_type(const struct clr_image_column *column, const char *mixed)
{
    static const char *const names[] = {"NULL", "INTEGER", "REAL", "TEXT or BLOB"};

    if (column->column->codes != NULL)
        return "codes";
    return column->column->kind == CLR_TAG_MIXED ? mixed : names[column->column->kind];
}

bool clr_image_column_on_device(const struct clr_image_column *column)
{
    return column->resident != NULL && clr_resident_state(column->resident) == CLR_RESIDENT_READY;
}

enum clr_scan_outcome clr_image_column_fetch(struct clr_connection *connection,
                                             struct clr_image_column *column,
                                             const struct clr_watch *watch)
{
    enum clr_scan_outcome outcome;
    struct clr_column *here;
    struct clr_status status;

    if (!column->column->is_away)
        return CLR_SCAN_DONE;
    if (column->resident == NULL)
        return CLR_SCAN_FAILED;
    clr_status_clear(&status);
    outcome = clr_resident_fetch(column->worker, column->resident,
                                 connection->settings.device_timeout, watch, &here, &status);
    if (outcome == CLR_SCAN_FAILED)
        clr_stats_note_failure(&connection->stats, &status);
    if (outcome != CLR_SCAN_DONE)
        return outcome == CLR_SCAN_STOPPED ? outcome : CLR_SCAN_FAILED;
    clr_column_release(column->column);
    column->column = here;
    return outcome;
}

int64_t clr_images_size(const struct clr_connection *connection, int64_t *on_devices)
{
    const struct clr_image *image;
    const struct clr_image_column *column;
    int64_t size = 0;

    *on_devices = 0;
    for (image = clr_images_first(connection); image != NULL; image = image->next) {
        for (column = image->columns; column != NULL; column = column->next) {
            size += (int64_t)clr_column_size(column->column);
            if (column->resident != NULL)
                *on_devices += (int64_t)clr_resident_size(column->resident);
        }
        size += clr_kept_dictionaries_size(image->dictionaries);
    }
    return size;
}

/* Finds the least recently used column, of those with copies on a device or of those on the host,
   that was not used by the latest scan. */
static struct clr_image_column **find_oldest(struct clr_connection *connection, bool on_device)
{
    const struct images *images = clr_connection_find(connection, &images_kind);
    struct clr_image_column **oldest = NULL, **link;
    struct clr_image *image;

    for (image = clr_images_first(connection); image != NULL; image = image->next) {
        for (link = &image->columns; *link != NULL; link = &(*link)->next) {
            if ((*link)->used == images->scans ||
                (on_device ? (*link)->resident == NULL : (*link)->column->is_away))
                continue;
            if (oldest == NULL || (*link)->used < (*oldest)->used)
                oldest = link;
        }
    }
    return oldest;
}

/* Finds the least recently used dictionary without a column, likewise. */
static struct clr_kept_dictionary **find_oldest_dictionary(struct clr_connection *connection)
{
    const struct images *images = clr_connection_find(connection, &images_kind);
    struct clr_kept_dictionary **oldest = NULL, **link;
    struct clr_image *image;

    for (image = clr_images_first(connection); image != NULL; image = image->next) {
        link = clr_kept_dictionary_oldest(&image->dictionaries, images->scans);
        if (link != NULL && (oldest == NULL || (*link)->used < (*oldest)->used))
            oldest = link;
    }
    return oldest;
}

/* Drops the column or the dictionary whose use is longest ago. Returns false if there is none. */
static bool drop_oldest(struct clr_connection *connection)
{
    struct clr_image_column **link = find_oldest(connection, false), *column;
    struct clr_kept_dictionary **dictionary = find_oldest_dictionary(connection);

    if (dictionary != NULL && (link == NULL || (*dictionary)->used < (*link)->used)) {
        clr_kept_dictionary_drop(dictionary);
        return true;
    }
    if (link == NULL)
        return false;
    column = *link;
    *link = column->next;
    free_column(column);
    return true;
}

/* Returns what columns and layouts take of the host, in bytes. */
static int64_t host_size(const struct clr_connection *connection)
{
    const struct clr_image *image;
    int64_t on_devices, size = clr_images_size(connection, &on_devices);

    for (image = clr_images_first(connection); image != NULL; image = image->next)
        size += (int64_t)clr_layout_size(&image->layout);
    return size;
}

void clr_images_trim(struct clr_connection *connection, int64_t most, int64_t most_on_devices)
{
    struct clr_image_column **oldest, *column;
    struct clr_image *image;
    int64_t on_devices;

    while (host_size(connection) > most && drop_oldest(connection))
        ;
    for (image = clr_images_first(connection); image != NULL && host_size(connection) > most;
         image = image->next) {
        if (image->columns == NULL)
            clr_layout_free(&image->layout);
    }
    for (;;) {
        clr_images_size(connection, &on_devices);
        if (on_devices <= most_on_devices || (oldest = find_oldest(connection, true)) == NULL)
            return;
        column = *oldest;
        clr_resident_free(column->resident);
        column->resident = NULL;
        if (column->column->is_away) {
            *oldest = column->next;
            free_column(column);
        }
    }
}

int64_t clr_column_memory(const struct clr_connection *connection)
{
    if (connection->settings.column_memory > 0)
        return connection->settings.column_memory;
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGE_SIZE) / 4;
}

int64_t clr_column_device_memory(const struct clr_connection *connection,
                                 const struct clr_device_info *info)
{
    if (connection->settings.column_memory > 0)
        return connection->settings.column_memory;
    return (int64_t)(info->memory / 4);
}

void clr_column_memory_trim(struct clr_connection *connection, int64_t most)
{
    const int64_t setting = connection->settings.column_memory;

    /* A quarter of a device's memory is seen to when that is used. */
    clr_images_trim(connection, most, setting > 0 ? setting : INT64_MAX);
}

int64_t clr_images_free(struct clr_connection *connection)
{
    struct images *images = clr_connection_find(connection, &images_kind);
    int64_t on_devices, size = clr_images_size(connection, &on_devices);

    while (images != NULL && images->first != NULL) {
        struct clr_image *image = images->first;
        images->first = image->next;
        free_image(image);
    }
    return size + on_devices;
}
