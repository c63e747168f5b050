#include "storage/load/device_load.h"

#include "base/memory.h"
#include "storage/load/few_leaves.h"
#include "storage/load/placement.h"

#include <string.h>

/* The pages that the host decodes for the device each cost as much as hundreds of others do: up to
   so many, and one in so many of the table's, are few enough. */
enum { FEW_LEFT = 64, LEFT_PART = 512 };

/* Leaves by which the others are judged: fewer than a table has that a device decodes. */
enum { SAMPLES = 8 };

struct device_load {
    struct clr_units *units;
    struct clr_placement placement;
    struct clr_leaf_feed *feed;
};

/* ---- Pages on their way. */

/* Notes where the rows of the unit's leaves go, and sees that rowids ascend from page to page: that
   they do within a page is for the device to see. */
static enum clr_load_outcome place_leaves(struct device_load *load, struct clr_leaf_reader *reader,
                                          struct clr_feed_stage *stage, size_t i)
{
    struct clr_pages *pages = reader->decoder.reader.pages;
    struct clr_leaf *leaves = clr_placement_leaves(&load->placement, i);
    struct clr_unit *unit = &load->units->units[i];
    size_t row = unit->row, j;

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
                                    .leaf = (uint32_t)(unit->first + j)};
        row += page->cells;
    }
    unit->least = leaves[0].first;
    unit->greatest = leaves[j - 1].last;
    if (row > stage->end)
        stage->end = row;
    return CLR_LOAD_DONE;
}

/* Fills a stage with units, as long as there are any and room for another. */
static enum clr_load_outcome fill(struct device_load *load, struct clr_leaf_reader *reader,
                                  struct clr_feed_stage *stage)
{
    struct clr_units *units = load->units;
    size_t page_size = units->source->page_size, i, rows, used;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    while (outcome == CLR_LOAD_DONE && stage->bytes + reader->room * page_size <= CLR_STAGE_BYTES &&
           stage->count + units->most_leaves <= stage->room && clr_units_take(units, &i)) {
        outcome = clr_unit_read_to(units, i, reader, stage->pages + stage->bytes, &used, &rows);
        if (outcome == CLR_LOAD_DONE)
            outcome = clr_placement_take(&load->placement, reader->decoder.reader.pages, i, rows);
        if (outcome == CLR_LOAD_DONE)
            outcome = place_leaves(load, reader, stage, i);
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
    bool has_more = true;

    (void)thread;
    while (outcome == CLR_LOAD_DONE && has_more) {
        struct clr_feed_stage *stage = clr_leaf_feed_take(load->feed, stop);

        if (stage == NULL)
            return atomic_load(stop) ? CLR_LOAD_STOPPED : CLR_LOAD_NO_DEVICE;
        outcome = fill(load, reader, stage);
        has_more = stage->count > 0;
        if (outcome != CLR_LOAD_DONE) /* what it has may not be whole */
            stage->count = 0;
        clr_leaf_feed_hand_over(load->feed, stage);
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

/* Decodes a leaf. Those of a layout that is known are in no order. */
static enum clr_load_outcome add_leaf(struct clr_few_leaves *few, uint32_t number)
{
    clr_decoder_restart_order(&few->reader.decoder);
    return clr_few_leaves_add(few, number, false);
}

/* Gives the feed the rows of a leaf that has been decoded, which are from that one on. */
static bool give(const struct device_load *load, const struct clr_few_leaves *few, size_t i,
                 size_t row)
{
    const struct clr_units *units = load->units;
    const size_t at = few->at[i], rows = few->leaves[i].rows;
    int k;

    for (k = 0; k < units->field_count; k++) {
        const struct clr_column *column = few->columns[units->fields[k].position];

        if (column->kind != CLR_TAG_MIXED)
            memset(column->tags + at, column->kind, rows);
        if (!clr_leaf_feed_add_rows(load->feed, k, row, column->values + at, column->tags + at,
                                    rows))
            return false;
    }
    return true;
}

/* Decodes what the device leaves to the host, so many leaves, and gives the feed their rows. */
static enum clr_load_outcome decode_rest(struct device_load *load, const uint8_t *left,
                                         struct clr_few_leaves *few, struct clr_pages *pages,
                                         size_t count)
{
    const struct clr_units *units = load->units;
    enum clr_load_outcome outcome =
        clr_few_leaves_init(few, pages, units->fields, units->field_count, count, 0, 0);
    size_t i, j, row, done = 0;

    for (i = 0; i < units->leaves.count && outcome == CLR_LOAD_DONE; i++) {
        if (left[i] != 0)
            outcome = add_leaf(few, units->leaves.numbers[i]);
    }
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    clr_few_leaves_end(few);
    for (i = 0; i < units->count; i++) {
        struct clr_leaf *leaves = clr_placement_leaves(&load->placement, i);

        row = units->units[i].row;
        for (j = 0; j < units->units[i].count; j++) {
            if (left[units->units[i].first + j] != 0) {
                if (!give(load, few, done, row))
                    return clr_pages_no_memory(pages);
                leaves[j].is_chained = few->leaves[done++].is_chained;
            }
            row += leaves[j].rows;
        }
    }
    return CLR_LOAD_DONE;
}

static enum clr_load_outcome load_rest(struct device_load *load, const uint8_t *left, size_t count,
                                       const struct clr_watch *watch)
{
    struct clr_pages pages = clr_units_pages(load->units);
    struct clr_few_leaves few;
    enum clr_load_outcome outcome;

    pages.watch = watch;
    outcome = decode_rest(load, left, &few, &pages, count);
    clr_few_leaves_free(&few);
    return clr_units_note(load->units, outcome, &pages);
}

/* Waits for the device, and does what that has left to do. */
static enum clr_load_outcome settle(struct device_load *load, const struct clr_watch *watch)
{
    enum clr_load_outcome outcome;
    struct clr_status status;
    const uint8_t *left;
    size_t count = 0, i;

    clr_status_clear(&status);
    outcome = outcome_of(clr_leaf_feed_settle(load->feed, &left, watch, &status));
    for (i = 0; i < load->units->leaves.count && outcome == CLR_LOAD_DONE; i++)
        count += left[i] != 0;
    return count == 0 ? outcome : load_rest(load, left, count, watch);
}

/* ---- The whole. */

static void drop(const struct clr_units *units, struct clr_device_decoding *decoding,
                 struct clr_column **columns)
{
    int k;

    for (k = 0; k < units->field_count; k++) {
        clr_resident_free(decoding->residents[k]);
        decoding->residents[k] = NULL;
        clr_column_release(columns[k]);
        columns[k] = NULL;
    }
}

/* Takes the columns from the feed. */
static enum clr_load_outcome finish(struct device_load *load, size_t rows,
                                    struct clr_device_decoding *decoding,
                                    struct clr_column **columns, const struct clr_watch *watch)
{
    const struct clr_units *units = load->units;
    struct clr_fed_column found[CLR_MOST_COLUMNS];
    struct clr_status status;
    bool complete = true, sure = true;
    enum clr_load_outcome outcome;
    int k;

    clr_status_clear(&status);
    outcome =
        outcome_of(clr_leaf_feed_finish(load->feed, rows, found, watch, &decoding->work, &status));
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    for (k = 0; k < units->field_count; k++) {
        int position = units->fields[k].position;
        bool any_bytes = (found[k].tags >> CLR_TAG_BYTES & 1) != 0;

        sure = sure && !(units->fields[k].never_null && (found[k].tags >> CLR_TAG_NULL & 1) != 0);
        decoding->residents[position] = found[k].resident;
        columns[position] = clr_column_new_away(found[k].kind, rows, any_bytes);
        complete = complete && columns[position] != NULL;
    }
    if (!complete)
        return CLR_LOAD_FAILED;
    return sure ? CLR_LOAD_DONE : CLR_LOAD_UNSURE;
}

/* With a feed. */
static enum clr_load_outcome run(struct device_load *load, struct clr_layout *layout,
                                 struct clr_device_decoding *decoding, struct clr_column **columns,
                                 const struct clr_watch *watch)
{
    struct clr_units *units = load->units;
    enum clr_load_outcome outcome;

    if (!clr_placement_init(&load->placement, units, layout))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    if (units->threads > clr_leaf_feed_threads(load->feed))
        units->threads = clr_leaf_feed_threads(load->feed);
    outcome = clr_units_run(units, feed_units, load, watch);
    if (outcome == CLR_LOAD_DONE)
        outcome = settle(load, watch);
    decoding->is_unsuited = clr_leaf_feed_is_unsuited(load->feed);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    outcome = finish(load, clr_placement_rows(&load->placement), decoding, columns, watch);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_placement_keep(&load->placement, layout);
    decoding->is_done = outcome == CLR_LOAD_DONE;
    if (outcome == CLR_LOAD_DONE)
        return outcome;
    drop(units, decoding, columns);
    return clr_units_fail(units, outcome, 0, 0);
}

/* Decodes some of the leaves. */
static enum clr_load_outcome decode_samples(const struct clr_units *units,
                                            struct clr_few_leaves *few, struct clr_pages *pages)
{
    const struct clr_page_list *leaves = &units->leaves;
    enum clr_load_outcome outcome =
        clr_few_leaves_init(few, pages, units->fields, units->field_count, SAMPLES, 0, 0);
    size_t i;

    for (i = 0; i < SAMPLES && outcome == CLR_LOAD_DONE; i++)
        outcome = add_leaf(few, leaves->numbers[leaves->count / SAMPLES * i]);
    if (outcome == CLR_LOAD_DONE)
        clr_few_leaves_end(few);
    return outcome;
}

/* Learns from some of the leaves about how many rows there are, and of what kinds the columns may
   be. */
static enum clr_load_outcome sample(struct clr_units *units, struct clr_feed_setup *setup,
                                    uint8_t *kinds)
{
    struct clr_pages pages = clr_units_pages(units);
    struct clr_few_leaves few = {.count = 0};
    enum clr_load_outcome outcome;
    int k;

    pages.visited = clr_pages_new_visits(units->source); /* what is met now is met again */
    outcome =
        pages.visited == NULL ? clr_pages_no_memory(&pages) : decode_samples(units, &few, &pages);
    for (k = 0; k < setup->count && outcome == CLR_LOAD_DONE; k++)
        kinds[k] = few.columns[units->fields[k].position]->kind;
    setup->rows = (few.reader.decoder.rows + 1) * (units->leaves.count / SAMPLES + 1);
    setup->rows += setup->rows / 32; /* columns that turn out too short have to move */
    clr_few_leaves_free(&few);
    clr_memory_free(pages.visited);
    return clr_units_note(units, outcome, &pages);
}

/* Begins a feed, if there are threads for it and somebody wants one. */
static enum clr_load_outcome begin(struct device_load *load, const struct clr_layout *layout,
                                   const struct clr_device_decoding *decoding)
{
    const struct clr_units *units = load->units;
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_feed_setup setup = {.fields = units->fields,
                                   .kinds = kinds,
                                   .count = units->field_count,
                                   .usable_size = units->source->usable_size,
                                   .leaves = units->leaves.count,
                                   .most_skipped = FEW_LEFT + units->leaves.count / LEFT_PART};
    enum clr_load_outcome outcome;

    if (units->threads < 2)
        return CLR_LOAD_NO_DEVICE;
    outcome = sample(load->units, &setup, kinds);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (layout->known)
        setup.rows = layout->rows;
    load->feed = decoding->begin(decoding->context, &setup);
    return load->feed == NULL ? CLR_LOAD_NO_DEVICE : CLR_LOAD_DONE;
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
    clr_leaf_feed_free(load.feed);
    return outcome;
}
