#include "sqlite/views/acceleration_private.h"

#include "base/memory.h"
#include "storage/refresh/refresh.h"

/* Whether nothing is left to be loaded. */
static bool has_columns(const struct clr_acceleration *acceleration, struct clr_image *image)
{
    int i;

    for (i = 0; i < acceleration->query->column_count; i++) {
        if (clr_acceleration_find(acceleration, image, i) == NULL)
            return false;
    }
    return true;
}

/* The image's columns side by side. */
struct side {
    struct clr_image_column **of;
    struct clr_field *fields;
    struct clr_column **columns;
    int count;
};

/* All columns are needed on the host. */
static int side_init(struct side *side, struct clr_acceleration *acceleration,
                     struct clr_image *image)
{
    struct clr_image_column *column;
    size_t count = 0;
    int rc = SQLITE_OK;

    for (column = image->columns; column != NULL; column = column->next)
        count++;
    *side = (struct side){.of = clr_memory_alloc((count + 1) * sizeof(struct clr_image_column *)),
                          .fields = clr_memory_alloc((count + 1) * sizeof *side->fields),
                          .columns = clr_memory_alloc((count + 1) * sizeof(struct clr_column *))};
    if (side->of == NULL || side->fields == NULL || side->columns == NULL)
        return SQLITE_NOMEM;
    for (column = image->columns; column != NULL && rc == SQLITE_OK; column = column->next) {
        rc = clr_acceleration_fetch(acceleration, column);
        side->of[side->count] = column;
        side->fields[side->count] = column->field;
        side->columns[side->count++] = column->column;
    }
    return rc;
}

static void side_free(struct side *side)
{
    clr_memory_free((void *)side->of);
    clr_memory_free(side->fields);
    clr_memory_free((void *)side->columns);
}

static void count_leaves(struct clr_acceleration *acceleration,
                         const struct clr_refresh_report *report)
{
    struct clr_stats *stats = &acceleration->connection->stats;

    stats->leaves_kept += (int64_t)(report->leaves - report->leaves_read);
    stats->leaves_refreshed += (int64_t)report->leaves_read;
    sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->reading,
                     "%lld bytes: %llu of %llu leaf pages have changed",
                     (long long)report->bytes_read, (unsigned long long)report->leaves_read,
                     (unsigned long long)report->leaves);
}

/* With what has changed, and the columns side by side. */
static int refresh_image(struct clr_acceleration *acceleration, struct clr_snapshot *snapshot,
                         struct clr_image *image, const uint32_t *changes, struct side *side,
                         bool *refreshed)
{
    struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    struct clr_refresh_report report;
    enum clr_load_outcome outcome;
    int i;

    clr_acceleration_make_room(acceleration, image);
    outcome = clr_refresh(&snapshot->source, image->root, changes, side->fields, side->count,
                          &image->layout, side->columns, &watch, &report);
    acceleration->connection->stats.bytes_decoded += report.bytes_read;
    *refreshed = outcome == CLR_LOAD_DONE;
    if (!*refreshed)
        return outcome == CLR_LOAD_STOPPED ? SQLITE_INTERRUPT : SQLITE_OK;
    for (i = 0; i < side->count && report.has_moved; i++)
        clr_image_replace(side->of[i], side->columns[i]);
    image->token = snapshot->token;
    image->rows = image->layout.rows;
    count_leaves(acceleration, &report);
    return SQLITE_OK;
}

/* Refreshes the image if that can be done. */
static int try_refresh(struct clr_acceleration *acceleration, struct clr_snapshot *snapshot,
                       struct clr_image *image, bool *refreshed)
{
    uint32_t *changes;
    struct side side = {0};
    const char *reason;
    int rc = SQLITE_OK;

    /* What is wrong with the snapshot is said when the columns are loaded. */
    if (image->root != acceleration->table.root || image->layout.leaves == NULL ||
        clr_snapshot_open(acceleration->database, snapshot, &reason) != SQLITE_OK)
        return SQLITE_OK;
    changes = clr_snapshot_changes(acceleration->database, snapshot, &image->token);
    if (changes != NULL) {
        rc = side_init(&side, acceleration, image);
        if (rc == SQLITE_OK)
            rc = refresh_image(acceleration, snapshot, image, changes, &side, refreshed);
        /* What is not refreshed is loaded. */
        rc = rc == SQLITE_INTERRUPT ? rc : SQLITE_OK;
    }
    side_free(&side);
    clr_memory_free(changes);
    return rc;
}

int clr_acceleration_refresh(struct clr_acceleration *acceleration, struct clr_snapshot *snapshot,
                             struct clr_image *image, bool stale)
{
    bool has_all = has_columns(acceleration, image), fit = !stale;
    int rc = SQLITE_OK;

    if (stale && has_all) {
        rc = try_refresh(acceleration, snapshot, image, &fit);
        /* What has come may have bytes that a column without had no need to have. */
        has_all = has_columns(acceleration, image);
    }
    if (rc == SQLITE_OK && !(fit && (has_all || clr_layout_is_open(&image->layout))))
        clr_image_empty(image, acceleration->table.root, &snapshot->token);
    return rc;
}
