#include "storage/load/device_load.h"

#include "base/memory.h"
#include "storage/leaves/few_leaves.h"
#include "storage/load/device_parts.h"
#include "storage/load/device_sample.h"

#include <string.h>

struct device_load {
    struct clr_units *units;
    struct clr_placement placement;
    struct clr_devices devices;
    struct clr_device_parts parts; /* one for each device */
};

/* ---- Pages on their way. */

/* Notes where the rows of the unit's leaves go, and sees that rowids ascend from page to page: that
   they do within a page is for the device to see. */
static enum clr_load_outcome place_leaves(struct device_load *load,
                                          const struct clr_device_part *part,
                                          struct clr_leaf_reader *reader,
                                          struct clr_feed_stage *stage, size_t i)
{
    struct clr_pages *pages = reader->decoder.reader.pages;
    struct clr_leaf *leaves = clr_placement_leaves(&load->placement, i);
    struct clr_unit *unit = &load->units->units[i];
    size_t row = unit->row - part->row, j;

    for (j = 0; j < reader->count; j++) {
        const struct clr_page *page = &reader->pages[j];
        uint32_t begin = clr_page_cell(page, 0), end = clr_page_cell(page, page->cells - 1);

        leaves[j] =
            (struct clr_leaf){.number = reader->leaves[j].number, .rows = (uint16_t)page->cells};
        if (begin == 0 || end == 0)
            return clr_page_malformed(pages, leaves[j].number);
        clr_page_open_cell(page, begin, &leaves[j].first);
        clr_page_open_cell(page, end, &leaves[j].last);
        if (j > 0 && leaves[j].first <= leaves[j - 1].last)
            return clr_page_malformed(pages, leaves[j].number);
        stage->places[stage->count++] =
            (struct clr_leaf_place){.row = row,
                                    .at = (uint32_t)(page->data - stage->pages),
                                    .pointers = (uint32_t)(page->pointers - page->data),
                                    .cells = page->cells,
                                    .leaf = (uint32_t)(unit->first + j - part->leaf)};
        row += page->cells;
    }
    unit->least = leaves[0].first;
    unit->greatest = leaves[j - 1].last;
    if (row > stage->end)
        stage->end = row;
    return CLR_LOAD_DONE;
}

/* Fills a stage with units of a part, as long as there are any and room for another. */
static enum clr_load_outcome fill(struct device_load *load, struct clr_device_part *part,
                                  struct clr_leaf_reader *reader, struct clr_feed_stage *stage)
{
    struct clr_units *units = load->units;
    size_t page_size = units->source->page_size, i, rows, used;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    while (outcome == CLR_LOAD_DONE && stage->bytes + reader->room * page_size <= CLR_STAGE_BYTES &&
           stage->count + units->most_leaves <= stage->room &&
           clr_device_part_take(part, units, &i)) {
        outcome = clr_unit_read_to(units, i, reader, stage->pages + stage->bytes, &used, &rows);
        if (outcome == CLR_LOAD_DONE)
            outcome = clr_placement_take(&load->placement, &part->placed,
                                         reader->decoder.reader.pages, i, rows);
        if (outcome == CLR_LOAD_DONE)
            outcome = place_leaves(load, part, reader, stage, i);
        stage->bytes += used * page_size;
    }
    return outcome;
}

/* Feeds as long as there are units. */
static enum clr_load_outcome feed_units(void *argument, int thread, struct clr_leaf_reader *reader)
{
    struct device_load *load = argument;
    const atomic_bool *stop = reader->decoder.reader.pages->stop;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    struct clr_device_part *part;

    (void)thread;
    while (outcome == CLR_LOAD_DONE &&
           (part = clr_device_parts_choose(&load->parts, load->units)) != NULL) {
        struct clr_feed_stage *stage = clr_leaf_feed_take(part->feed, stop);

        if (stage == NULL)
            return atomic_load(stop) ? CLR_LOAD_STOPPED : CLR_LOAD_NO_DEVICE;
        outcome = fill(load, part, reader, stage);
        if (outcome != CLR_LOAD_DONE) /* what it has may not be whole */
            stage->count = 0;
        clr_leaf_feed_hand_over(part->feed, stage);
    }
    return outcome;
}

/* Returns what the feed's outcome is to the load. */
static enum clr_load_outcome outcome_of(enum clr_scan_outcome outcome)
{
    if (outcome == CLR_SCAN_DONE)
        return CLR_LOAD_DONE;
    return outcome == CLR_SCAN_STOPPED ? CLR_LOAD_STOPPED : CLR_LOAD_NO_DEVICE;
}

/* ---- Pages that the device leaves to the host. */

/* Gives the feed the rows of a leaf that has been decoded, which are from that one on. */
static bool give(const struct clr_units *units, const struct clr_device_part *part,
                 const struct clr_few_leaves *few, size_t i, size_t row)
{
    const size_t at = few->at[i], rows = few->leaves[i].rows;
    int k;

    for (k = 0; k < units->field_count; k++) {
        const struct clr_column *column = few->columns[units->fields[k].position];

        if (column->kind != CLR_TAG_MIXED)
            memset(column->tags + at, column->kind, rows);
        if (!clr_leaf_feed_add_rows(part->feed, k, row, column->values + at, column->tags + at,
                                    rows))
            return false;
    }
    return true;
}

/* Decodes what the device leaves to the host, so many leaves, and gives the feed their rows. Those
   of a layout that is known are in no order. */
static enum clr_load_outcome decode_rest(struct device_load *load,
                                         const struct clr_device_part *part, const uint8_t *left,
                                         struct clr_few_leaves *few, struct clr_pages *pages,
                                         size_t count)
{
    const struct clr_units *units = load->units;
    enum clr_load_outcome outcome =
        clr_few_leaves_init(few, pages, units->fields, units->field_count, count, 0, 0);
    size_t i, j, row, done = 0;

    for (i = 0; i < part->leaves && outcome == CLR_LOAD_DONE; i++) {
        if (left[i] != 0)
            outcome = clr_few_leaves_add_any(few, units->leaves.numbers[part->leaf + i]);
    }
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    clr_few_leaves_end(few);
    for (i = part->first; i < part->end; i++) {
        struct clr_leaf *leaves = clr_placement_leaves(&load->placement, i);

        row = units->units[i].row - part->row;
        for (j = 0; j < units->units[i].count; j++) {
            if (left[units->units[i].first + j - part->leaf] != 0) {
                if (!give(units, part, few, done, row))
                    return clr_pages_no_memory(pages);
                leaves[j].is_chained = few->leaves[done++].is_chained;
            }
            row += leaves[j].rows;
        }
    }
    return CLR_LOAD_DONE;
}

static enum clr_load_outcome load_rest(struct device_load *load, const struct clr_device_part *part,
                                       const uint8_t *left, size_t count,
                                       const struct clr_watch *watch)
{
    struct clr_pages pages = clr_units_pages(load->units);
    struct clr_few_leaves few;
    enum clr_load_outcome outcome;

    pages.watch = watch;
    outcome = decode_rest(load, part, left, &few, &pages, count);
    clr_few_leaves_free(&few);
    return clr_units_note(load->units, outcome, &pages);
}

/* Waits for a part's device, and does what that has left to do. */
static enum clr_load_outcome settle(struct device_load *load, const struct clr_device_part *part,
                                    const struct clr_watch *watch)
{
    enum clr_load_outcome outcome;
    struct clr_status status;
    const uint8_t *left;
    size_t count = 0, i;

    clr_status_clear(&status);
    outcome = outcome_of(clr_leaf_feed_settle(part->feed, &left, watch, &status));
    for (i = 0; i < part->leaves && outcome == CLR_LOAD_DONE; i++)
        count += left[i] != 0;
    return count == 0 ? outcome : load_rest(load, part, left, count, watch);
}

/* ---- The whole. */

static void drop(const struct clr_units *units, struct clr_device_decoding *decoding,
                 struct clr_column **columns)
{
    int k;

    for (k = 0; k < units->field_count; k++) {
        clr_sharded_release(decoding->copies[k]);
        decoding->copies[k] = NULL;
        clr_column_release(columns[k]);
        columns[k] = NULL;
    }
}

/* Takes the parts' columns from the feeds, and stores what rows each has. */
static enum clr_load_outcome finish_parts(struct device_load *load, struct clr_division *division,
                                          const struct clr_watch *watch,
                                          struct clr_device_work *work)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    struct clr_status status;
    size_t first = 0;
    int p;

    clr_status_clear(&status);
    division->count = load->parts.count;
    for (p = 0; p < load->parts.count && outcome == CLR_SCAN_DONE; p++) {
        struct clr_device_part *part = &load->parts.list[p];
        const size_t rows = clr_device_part_rows(part, load->units);

        division->shards[p] = (struct clr_shard){load->devices.list[p], first, rows};
        first += rows;
        outcome = clr_leaf_feed_finish(part->feed, rows, part->columns, watch, work, &status);
    }
    return outcome_of(outcome);
}

/* Returns what a column is on devices of which one has rows of that kind, and others of another:
   that, or without narrowness, or mixed. */
static uint8_t join_kinds(uint8_t kind, uint8_t other)
{
    if (kind == other)
        return kind;
    return clr_kind_wide(kind) == clr_kind_wide(other) ? clr_kind_wide(kind) : CLR_TAG_MIXED;
}

/* Makes a column, so many rows, and its copy, of what the parts have of it. */
static enum clr_load_outcome finish_column(struct device_load *load, int k, size_t rows,
                                           const struct clr_division *division,
                                           struct clr_sharded **copy, struct clr_column **column)
{
    const struct clr_device_part *parts = load->parts.list;
    struct clr_resident *residents[CLR_DEVICES_LIMIT];
    uint8_t kind = parts[0].columns[k].kind;
    unsigned tags = 0;
    int p;

    for (p = 0; p < load->parts.count; p++) {
        struct clr_fed_column *fed = &load->parts.list[p].columns[k];

        tags |= fed->tags;
        kind = join_kinds(kind, fed->kind);
        residents[p] = fed->resident;
        fed->resident = NULL;
    }
    *copy = clr_sharded_new_of(division, residents);
    *column = clr_column_new_away(kind, rows, (tags >> CLR_TAG_BYTES & 1) != 0);
    if (*copy == NULL || *column == NULL)
        return CLR_LOAD_FAILED;
    return load->units->fields[k].never_null && (tags >> CLR_TAG_NULL & 1) != 0 ? CLR_LOAD_UNSURE
                                                                                : CLR_LOAD_DONE;
}

/* Takes the columns from the feeds. */
static enum clr_load_outcome finish(struct device_load *load, struct clr_device_decoding *decoding,
                                    struct clr_column **columns, const struct clr_watch *watch)
{
    struct clr_division division;
    enum clr_load_outcome outcome = finish_parts(load, &division, watch, &decoding->work);
    int k;

    for (k = 0; k < load->units->field_count && outcome == CLR_LOAD_DONE; k++) {
        const int position = load->units->fields[k].position;

        outcome = finish_column(load, k, clr_placement_rows(&load->placement), &division,
                                &decoding->copies[position], &columns[position]);
    }
    return outcome;
}

/* With feeds. */
static enum clr_load_outcome run(struct device_load *load, struct clr_layout *layout,
                                 struct clr_device_decoding *decoding, struct clr_column **columns,
                                 const struct clr_watch *watch)
{
    struct clr_units *units = load->units;
    enum clr_load_outcome outcome;
    int threads = 0, p;

    if (!clr_placement_init(&load->placement, units, layout))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    for (p = 0; p < load->parts.count; p++)
        threads += clr_leaf_feed_threads(load->parts.list[p].feed);
    if (units->threads > threads)
        units->threads = threads;
    outcome = clr_units_run(units, feed_units, load, watch);
    for (p = 0; p < load->parts.count && outcome == CLR_LOAD_DONE; p++)
        outcome = settle(load, &load->parts.list[p], watch);
    for (p = 0; p < load->parts.count; p++)
        decoding->is_unsuited =
            decoding->is_unsuited || clr_leaf_feed_is_unsuited(load->parts.list[p].feed);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    outcome = finish(load, decoding, columns, watch);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_placement_keep(&load->placement, layout);
    decoding->is_done = outcome == CLR_LOAD_DONE;
    if (outcome == CLR_LOAD_DONE)
        return outcome;
    drop(units, decoding, columns);
    return clr_units_fail(units, outcome, 0, 0);
}

/* Begins feeds, if there are threads for them and somebody wants some. */
static enum clr_load_outcome begin(struct device_load *load, const struct clr_layout *layout,
                                   const struct clr_device_decoding *decoding)
{
    const struct clr_units *units = load->units;
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_feed_setup setup = {.fields = units->fields,
                                   .kinds = kinds,
                                   .count = units->field_count,
                                   .usable_size = units->source->usable_size};
    enum clr_load_outcome outcome;

    if (units->threads < 2)
        return CLR_LOAD_NO_DEVICE;
    outcome = clr_device_sample(load->units, &setup, kinds);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (layout->known)
        setup.rows = layout->rows;
    if (!decoding->choose(decoding->context, setup.rows, &load->devices))
        return CLR_LOAD_NO_DEVICE;
    return clr_device_parts_begin(&load->parts, units, layout->known, &load->devices, decoding,
                                  &setup)
               ? CLR_LOAD_DONE
               : CLR_LOAD_NO_DEVICE;
}

enum clr_load_outcome clr_load_on_device(struct clr_units *units, struct clr_layout *layout,
                                         struct clr_device_decoding *decoding,
                                         struct clr_column **columns, const struct clr_watch *watch)
{
    struct device_load load = {.units = units};
    enum clr_load_outcome outcome;

    outcome = begin(&load, layout, decoding);
    if (outcome == CLR_LOAD_DONE)
        outcome = run(&load, layout, decoding, columns, watch);
    clr_placement_free(&load.placement);
    clr_device_parts_free(&load.parts);
    return outcome;
}
