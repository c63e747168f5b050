#include "sqlite/columns/device_load.h"

#include "engine/feed/leaf_feed.h"
#include "engine/operations/resident_scan.h"
#include "engine/rows/choice.h"
#include "storage/format/page.h"

/* What a load's feeds are begun with. */
struct feeding {
    struct clr_column_request *request;
    struct clr_devices devices;
    uint64_t rows;    /* about */
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

/* Whether the devices have, or build, all that they need to answer the query with columns of these
   kinds; what is missing each of them builds. */
static bool are_prepared(const struct feeding *feeding, const uint8_t *kinds)
{
    const struct clr_column_request *request = feeding->request;
    bool are_ready = true;
    struct clr_status status;
    int d;

    for (d = 0; d < feeding->devices.count; d++) {
        clr_status_clear(&status);
        if (clr_resident_prepare(feeding->devices.list[d].worker, request->scan, kinds,
                                 request->connection->settings.device_timeout, request->watch,
                                 &status) != CLR_SCAN_DONE)
            are_ready = false;
    }
    return are_ready;
}

/*
 * Whether the query can be answered by the devices as soon as the columns that are loaded now lie
 * there: what devices decode is not at hand on the host. Of these the kinds are a guess; if it is
 * wrong, the columns are fetched. The others have to be there already, and in the same division,
 * which is known then, as the layout is.
 */
static bool can_answer(const struct feeding *feeding, const struct clr_division *division,
                       const struct clr_feed_setup *setup)
{
    const struct clr_column_request *request = feeding->request;
    uint8_t kinds[CLR_MOST_COLUMNS];
    int i;

    for (i = 0; i < request->scan->column_count; i++) {
        const struct clr_image_column *column = clr_column_request_find(request, i);
        const struct clr_field field = clr_column_field(request->query, request->table, false, i);

        if (column != NULL && !clr_cache_is_on(column, division))
            return false;
        kinds[i] =
            column != NULL ? clr_column_device_kind(column->column) : find_kind(setup, &field);
    }
    return are_prepared(feeding, kinds);
}

/* Chooses the devices for columns of about so many rows. Returns whether these are to have them,
   and a buffer each: what several buffers of a device have the host decodes. */
static bool choose(void *context, uint64_t rows, struct clr_devices *devices)
{
    struct feeding *feeding = context;
    struct clr_division division;

    feeding->rows = rows;
    if (!clr_choose_devices(&feeding->request->connection->settings, rows,
                            clr_image_rows_divided(feeding->request->image, rows),
                            &feeding->devices) ||
        !clr_division_make(&feeding->devices, rows, &division) || feeding->starts_only)
        return false;
    *devices = feeding->devices;
    return division.count == devices->count;
}

/* Whether each device has room for its shard. */
static bool have_room(const struct clr_division *division, const struct clr_feed_setup *setups)
{
    int s;

    for (s = 0; s < division->count; s++) {
        const int64_t row_bytes = CLR_ROW_BYTES * (int64_t)setups[s].count;

        if ((int64_t)setups[s].rows >
            clr_column_device_left(division->shards[s].device.worker) / row_bytes)
            return false;
    }
    return true;
}

static bool begin_feeds(void *context, const struct clr_division *division,
                        const struct clr_feed_setup *setups, struct clr_leaf_feed **feeds)
{
    const struct feeding *feeding = context;
    const struct clr_connection *connection = feeding->request->connection;
    struct clr_status status;
    bool have_begun = true;
    int s;

    if (!have_room(division, setups) || !can_answer(feeding, division, setups))
        return false;
    /* All of them, so that each device builds what it needs. */
    for (s = 0; s < division->count; s++) {
        clr_status_clear(&status);
        if (clr_leaf_feed_begin(division->shards[s].device.worker, &setups[s],
                                connection->settings.device_timeout, feeding->request->watch,
                                &feeds[s], &status) != CLR_SCAN_DONE)
            have_begun = false;
    }
    return have_begun;
}

enum clr_load_outcome clr_device_load(struct clr_column_request *request,
                                      struct clr_device_load *load)
{
    const struct clr_settings *settings = &request->connection->settings;
    const struct clr_source *source = &request->snapshot.source;
    struct clr_stats *stats = &request->connection->stats;
    struct clr_image *image = request->image;
    struct feeding feeding = {.request = request};
    struct clr_device_decoding decoding = {
        .choose = choose, .begin = begin_feeds, .context = &feeding};
    enum clr_load_outcome outcome;
    const bool is_first = !image->layout.known;
    bool may_decode, may_start;
    int i;

    load->device = NULL;
    load->device_count = 0;
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
        load->copies[i] = outcome == CLR_LOAD_DONE && decoding.is_done ? decoding.copies[i] : NULL;
    if (outcome != CLR_LOAD_DONE || !decoding.is_done)
        return outcome;
    load->device = feeding.devices.list[0].info->name;
    load->device_count = feeding.devices.count;
    if (is_first && load->device_count > 1)
        image->rows_divided = feeding.rows;
    stats->bytes_decoded_on_device += load->report.bytes_read;
    stats->bytes_to_device += decoding.work.bytes;
    stats->kernels_launched += decoding.work.kernels;
    return outcome;
}
