#include "sqlite/columns/device_load.h"

#include "engine/feed/leaf_feed.h"
#include "engine/operations/resident_scan.h"
#include "engine/rows/choice.h"
#include "storage/format/page.h"

/* What a load's feed is begun with. */
struct feeding {
    struct clr_column_request *request;
    struct clr_chosen_device device;
    bool starts_only; /* the columns are the host's to decode */
};

/* Returns what kind the column that a field describes seems to be of. */
static uint8_t find_kind(const struct clr_feed_setup *setup, const struct clr_field *field)
{
    int k = 0;

    while (k < setup->count - 1 &&
           (setup->fields[k].index != field->index || setup->fields[k].is_real != field->is_real))
        k++;
    return setup->kinds[k];
}

/*
 * Whether the query can be answered by the device as soon as the columns that are loaded now lie
 * there: what the device decodes is not at hand on the host. Of these the kinds are a guess; if it
 * is wrong, the columns are fetched.
 */
static bool can_answer(struct feeding *feeding, const struct clr_feed_setup *setup)
{
    const struct clr_column_request *request = feeding->request;
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_status status;
    int i;

    for (i = 0; i < request->scan->column_count; i++) {
        const struct clr_image_column *column = clr_column_request_find(request, i);
        const struct clr_field field = clr_column_field(request->query, request->table, false, i);

        if (column != NULL && !clr_cache_is_on(column, feeding->device.worker))
            return false;
        kinds[i] =
            column != NULL ? clr_column_device_kind(column->column) : find_kind(setup, &field);
    }
    clr_status_clear(&status);
    return clr_resident_prepare(feeding->device.worker, request->scan, kinds,
                                request->connection->settings.device_timeout, request->watch,
                                &status) == CLR_SCAN_DONE;
}

/* Chooses the device for columns of about so many rows. Returns whether it is to have them by
   itself, and a buffer each: what several have, or several buffers, the host decodes. */
static bool choose(struct feeding *feeding, uint64_t rows)
{
    struct clr_devices devices;
    struct clr_division division;

    if (!clr_choose_devices(&feeding->request->connection->settings, rows, rows, &devices) ||
        !clr_division_make(&devices, rows, &division))
        return false;
    feeding->device = devices.list[0];
    return division.count == 1;
}

static struct clr_leaf_feed *begin_feed(void *context, const struct clr_feed_setup *setup)
{
    struct feeding *feeding = context;
    const struct clr_connection *connection = feeding->request->connection;
    const int64_t row_bytes = CLR_ROW_BYTES * (int64_t)setup->count;
    struct clr_leaf_feed *feed;
    struct clr_status status;

    if (!choose(feeding, setup->rows) || feeding->starts_only ||
        (int64_t)setup->rows > clr_column_device_left(feeding->device.worker) / row_bytes ||
        !can_answer(feeding, setup))
        return NULL;
    clr_status_clear(&status);
    return clr_leaf_feed_begin(feeding->device.worker, setup, connection->settings.device_timeout,
                               feeding->request->watch, &feed, &status) == CLR_SCAN_DONE
               ? feed
               : NULL;
}

enum clr_load_outcome clr_device_load(struct clr_column_request *request,
                                      struct clr_device_load *load)
{
    const struct clr_settings *settings = &request->connection->settings;
    const struct clr_source *source = &request->snapshot.source;
    struct clr_stats *stats = &request->connection->stats;
    struct clr_image *image = request->image;
    struct feeding feeding = {.request = request};
    struct clr_device_decoding decoding = {.begin = begin_feed, .context = &feeding};
    enum clr_load_outcome outcome;
    bool may_decode, may_start;
    int i;

    load->device = NULL;
    clr_status_clear(&load->status);
    /* What a load for a device looks at first is not to be looked at in vain. What lookups are is
       found out once their columns are here, which the host decodes, and what groups there may be.
       So it does with the cells of an index. */
    may_decode = !source->is_index && !image->table->host_decodes &&
                 request->query->question_count == 0 && request->query->lookup_count == 0 &&
                 request->scan->grouping == NULL && clr_choice_has_device(settings);
    /* A device that this load's rows are worth starts while the host decodes them. */
    may_start = clr_choice_would_start(settings, (uint64_t)source->page_count *
                                                     (uint64_t)clr_page_most_cells(source));
    feeding.starts_only = !may_decode;
    outcome = clr_load(source, image->root, load->fields, load->count, &image->layout,
                       may_decode || may_start ? &decoding : NULL, load->columns, request->watch,
                       &load->report, &load->status);
    image->table->host_decodes = image->table->host_decodes || decoding.is_unsuited;
    for (i = 0; i < load->count; i++)
        load->residents[i] =
            outcome == CLR_LOAD_DONE && decoding.is_done ? decoding.residents[i] : NULL;
    if (outcome != CLR_LOAD_DONE || !decoding.is_done)
        return outcome;
    load->device = feeding.device.info->name;
    load->division.count = 1;
    load->division.shards[0] = (struct clr_shard){feeding.device, 0, image->layout.rows};
    stats->bytes_decoded_on_device += load->report.bytes_read;
    stats->bytes_to_device += decoding.work.bytes;
    stats->kernels_launched += decoding.work.kernels;
    return outcome;
}
