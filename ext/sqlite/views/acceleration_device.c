#include "engine/columns/resident_fetch.h"
#include "engine/feed/leaf_feed.h"
#include "engine/rows/choice.h"
#include "sqlite/views/acceleration_private.h"

/* What a load's feed is begun with. */
struct feeding {
    struct clr_acceleration *acceleration;
    struct clr_image *image;
    struct clr_watch watch;
    const struct clr_device_info *info;
    struct clr_worker *worker;
};

int64_t clr_acceleration_device_budget(const struct clr_connection *connection,
                                       const struct clr_device_info *info)
{
    if (connection->settings.column_memory > 0)
        return connection->settings.column_memory;
    return (int64_t)(info->memory / 4);
}

void clr_acceleration_trim(struct clr_connection *connection, int64_t most)
{
    const int64_t setting = connection->settings.column_memory;

    /* A quarter of a device's memory is seen to when that is used. */
    clr_images_trim(connection, most, setting > 0 ? setting : INT64_MAX);
}

/* Returns what kind the column that a field describes seems to be of. */
static uint8_t find_kind(const struct clr_leaf_diet *diet, const struct clr_field *field)
{
    int k = 0;

    while (k < diet->count - 1 &&
           (diet->wants[k].index != field->index || diet->wants[k].is_real != field->is_real))
        k++;
    return diet->kinds[k];
}

/*
 * Whether the query can be answered by the device as soon as the columns that are loaded now lie
 * there: what the device decodes is not at hand on the host. Of these the kinds are a guess; if it
 * is wrong, the columns are fetched.
 */
static bool can_answer(struct feeding *feeding, const struct clr_leaf_diet *diet)
{
    struct clr_acceleration *acceleration = feeding->acceleration;
    struct clr_scan scan = clr_acceleration_new_scan(acceleration, NULL, 0);
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_status status;
    int i;

    for (i = 0; i < scan.column_count; i++) {
        const struct clr_image_column *column =
            clr_acceleration_find(acceleration, feeding->image, i);
        const struct clr_field field = clr_acceleration_field(acceleration, feeding->image, i);

        if (column != NULL &&
            (column->worker != feeding->worker || !clr_image_column_on_device(column)))
            return false;
        kinds[i] = column != NULL ? column->column->kind : find_kind(diet, &field);
    }
    clr_status_clear(&status);
    return clr_resident_prepare(feeding->worker, &scan, kinds,
                                acceleration->connection->settings.device_timeout, &feeding->watch,
                                &status) == CLR_SCAN_DONE;
}

static struct clr_leaf_feed *begin_feed(void *context, const struct clr_leaf_diet *diet)
{
    struct feeding *feeding = context;
    const struct clr_connection *connection = feeding->acceleration->connection;
    const int64_t row_bytes = 9 * (int64_t)diet->count; /* values and tags */
    struct clr_leaf_feed *feed;
    struct clr_status status;

    feeding->worker = clr_choose_device(&connection->settings, diet->rows, &feeding->info);
    if (feeding->worker == NULL ||
        (int64_t)diet->rows >
            clr_acceleration_device_budget(connection, feeding->info) / row_bytes ||
        !can_answer(feeding, diet))
        return NULL;
    clr_status_clear(&status);
    return clr_leaf_feed_begin(feeding->worker, diet, connection->settings.device_timeout,
                               &feeding->watch, &feed, &status) == CLR_SCAN_DONE
               ? feed
               : NULL;
}

enum clr_load_outcome clr_acceleration_load_columns(struct clr_acceleration *acceleration,
                                                    const struct clr_snapshot *snapshot,
                                                    struct clr_image *image,
                                                    const struct clr_field *fields, int count,
                                                    struct clr_column **columns,
                                                    struct clr_loading *loading)
{
    struct clr_stats *stats = &acceleration->connection->stats;
    struct feeding feeding = {.acceleration = acceleration,
                              .image = image,
                              .watch = {clr_interruption_is_wanted, &acceleration->interruption}};
    struct clr_feeder feeder = {.begin = begin_feed, .context = &feeding};
    enum clr_load_outcome outcome;
    bool may_feed;
    int i;

    *loading = (struct clr_loading){.worker = NULL};
    clr_status_clear(&loading->status);
    /* What a load for a device looks at first is not to be looked at in vain. */
    may_feed = !image->host_decodes && acceleration->query->question_count == 0 &&
               clr_choice_has_device(&acceleration->connection->settings);
    outcome = clr_load(&snapshot->source, image->root, fields, count, &image->layout,
                       may_feed ? &feeder : NULL, columns, &feeding.watch, &loading->report,
                       &loading->status);
    image->host_decodes = image->host_decodes || feeder.is_unsuited;
    if (outcome != CLR_LOAD_DONE || !feeder.has_fed)
        return outcome;
    loading->worker = feeding.worker;
    loading->device = feeding.info->name;
    for (i = 0; i < count; i++)
        loading->residents[i] = feeder.residents[i];
    stats->bytes_decoded_on_device += loading->report.bytes_read;
    stats->bytes_to_device += feeder.work.bytes;
    stats->kernels_launched += feeder.work.kernels;
    return outcome;
}

int clr_acceleration_fetch(struct clr_acceleration *acceleration, struct clr_image_column *column)
{
    struct clr_watch watch = {clr_interruption_is_wanted, &acceleration->interruption};
    struct clr_connection *connection = acceleration->connection;
    struct clr_column *here;
    struct clr_status status;

    if (!column->column->is_away)
        return SQLITE_OK;
    if (column->resident == NULL)
        return SQLITE_IOERR;
    clr_status_clear(&status);
    switch (clr_resident_fetch(column->worker, column->resident,
                               connection->settings.device_timeout, &watch, &here, &status)) {
    case CLR_SCAN_DONE:
        break;
    case CLR_SCAN_STOPPED:
        return SQLITE_INTERRUPT;
    case CLR_SCAN_FAILED:
        clr_stats_note_failure(&connection->stats, &status);
        return SQLITE_IOERR;
    default:
        return SQLITE_IOERR;
    }
    clr_column_release(column->column);
    column->column = here;
    return SQLITE_OK;
}
