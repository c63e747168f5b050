#include "storage/load/fed_load.h"

#include "base/memory.h"
#include "storage/load/leaf_reader.h"
#include "storage/load/placement.h"

#include <string.h>

/* The pages that the host decodes for the device each cost as much as hundreds of others do: up to
   so many, and one in so many of the table's, are few enough. */
enum { FEW_ODD = 64, ODD_PART = 512 };

/* Leaves by which the others are judged: fewer than a table that is fed has. */
enum { SAMPLES = 8 };

struct fed {
    struct clr_units *units;
    struct clr_placement placement;
    struct clr_leaf_feed *feed;
    uint32_t *offsets; /* of each leaf's rows from its unit's first */
};

/* ---- Pages on their way. */

/* Notes where the rows of the unit's leaves go, and sees that rowids ascend from page to page: that
   they do within a page is for the device to see. */
static enum clr_load_outcome place_leaves(struct fed *fed, struct clr_unit_reader *reader,
                                          struct clr_feed_stage *stage, size_t i)
{
    struct clr_units *units = fed->units;
    size_t first = i * units->unit_leaves, count = clr_unit_leaves(units, i), j;
    size_t row = fed->placement.extents[i].first, offset = 0;
    struct clr_unit *unit = &units->units[i];

    for (j = 0; j < count; j++) {
        const struct clr_page *page = &reader->leaves[j];
        uint32_t number = units->leaves.numbers[first + j];
        uint32_t begin = clr_page_cell(page, 0), end = clr_page_cell(page, page->cells - 1);
        int64_t least, greatest;

        if (begin == 0 || end == 0)
            return clr_page_malformed(&reader->pages, number);
        clr_page_open_cell(page, begin, &least);
        clr_page_open_cell(page, end, &greatest);
        if (j > 0 && least <= unit->last)
            return clr_page_malformed(&reader->pages, number);
        if (j == 0)
            unit->first = least;
        unit->last = greatest;
        if (units->met != NULL)
            units->met[first + j] = (struct clr_leaf){
                .first = least, .last = greatest, .number = number, .rows = (uint16_t)page->cells};
        fed->offsets[first + j] = (uint32_t)offset;
        stage->places[stage->count++] =
            (struct clr_leaf_place){.row = row + offset,
                                    .at = (uint32_t)(page->data - stage->pages),
                                    .pointers = (uint32_t)(page->pointers - page->data),
                                    .cells = page->cells,
                                    .leaf = (uint32_t)(first + j)};
        offset += page->cells;
    }
    if (row + offset > stage->end)
        stage->end = row + offset;
    return CLR_LOAD_DONE;
}

/* Fills a stage with units, as long as there are any and room for another. */
static enum clr_load_outcome fill(struct fed *fed, struct clr_unit_reader *reader,
                                  struct clr_feed_stage *stage)
{
    struct clr_units *units = fed->units;
    size_t page_size = units->source->page_size, i, rows, used;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    while (outcome == CLR_LOAD_DONE && stage->bytes + reader->room * page_size <= CLR_STAGE_BYTES &&
           stage->count + units->unit_leaves <= stage->room && clr_units_take(units, &i)) {
        outcome = clr_unit_read_to(reader, i, stage->pages + stage->bytes, &used, &rows);
        if (outcome == CLR_LOAD_DONE)
            outcome = clr_placement_take(&fed->placement, units, &reader->pages, i, rows);
        if (outcome == CLR_LOAD_DONE)
            outcome = place_leaves(fed, reader, stage, i);
        stage->bytes += used * page_size;
    }
    return outcome;
}

/* Feeds as long as there are units. */
static enum clr_load_outcome feed_units(struct fed *fed, struct clr_unit_reader *reader,
                                        const atomic_bool *stop)
{
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    bool has_more = true;

    while (outcome == CLR_LOAD_DONE && has_more) {
        struct clr_feed_stage *stage = clr_leaf_feed_take(fed->feed, stop);

        if (stage == NULL)
            return atomic_load(stop) ? CLR_LOAD_STOPPED : CLR_LOAD_UNFED;
        outcome = fill(fed, reader, stage);
        has_more = stage->count > 0;
        if (outcome != CLR_LOAD_DONE) /* what it has may not be whole */
            stage->count = 0;
        clr_leaf_feed_hand_over(fed->feed, stage);
    }
    return outcome;
}

static void work(void *argument, int thread, const atomic_bool *stop)
{
    struct fed *fed = argument;
    struct clr_unit_reader reader;
    enum clr_load_outcome outcome = clr_unit_reader_init(&reader, fed->units, stop);

    (void)thread;
    if (outcome == CLR_LOAD_DONE)
        outcome = feed_units(fed, &reader, stop);
    clr_unit_reader_end(&reader, outcome);
}

/* ---- Pages that the device leaves to the host. */

/* Decodes a leaf, whose rows are from that one on, and gives them to the feed. */
static enum clr_load_outcome decode_leaf(struct fed *fed, struct clr_leaf_reader *reader,
                                         size_t number, size_t row)
{
    struct clr_units *units = fed->units;
    enum clr_load_outcome outcome = clr_leaf_reader_read(reader, units->leaves.numbers[number]);
    const size_t rows = reader->leaf.rows;
    int k;

    for (k = 0; k < units->want_count && outcome == CLR_LOAD_DONE; k++) {
        const struct clr_target *target = &reader->decoder.targets[k];

        if (target->kind != CLR_TAG_MIXED)
            memset(target->tags, target->kind, rows);
        if (!clr_leaf_feed_give(fed->feed, k, row, target->values, target->tags, rows))
            return clr_pages_no_memory(&reader->pages);
    }
    if (units->met != NULL)
        units->met[number].is_chained = reader->leaf.is_chained;
    return outcome;
}

/* Decodes what the device leaves to the host. */
static enum clr_load_outcome decode_rest(struct fed *fed, const uint8_t *odds,
                                         const struct clr_watch *watch)
{
    const struct clr_units *units = fed->units;
    struct clr_leaf_reader reader;
    enum clr_load_outcome outcome = clr_leaf_reader_init(&reader, fed->units, watch);
    size_t i;

    for (i = 0; i < units->leaves.count && outcome == CLR_LOAD_DONE; i++) {
        if (odds[i] != 0)
            outcome =
                decode_leaf(fed, &reader, i,
                            fed->placement.extents[i / units->unit_leaves].first + fed->offsets[i]);
    }
    clr_units_fail(fed->units, outcome, reader.pages.page, reader.pages.code);
    clr_leaf_reader_free(&reader);
    return outcome;
}

/* Waits for the device, and does what that has left to do. */
static enum clr_load_outcome settle(struct fed *fed, const struct clr_watch *watch)
{
    enum clr_load_outcome outcome = CLR_LOAD_UNFED;
    struct clr_status status;
    const uint8_t *odds;

    clr_status_clear(&status);
    switch (clr_leaf_feed_settle(fed->feed, &odds, watch, &status)) {
    case CLR_SCAN_DONE:
        outcome = CLR_LOAD_DONE;
        if (memchr(odds, 1, fed->units->leaves.count) != NULL)
            outcome = decode_rest(fed, odds, watch);
        break;
    case CLR_SCAN_STOPPED:
        outcome = CLR_LOAD_STOPPED;
        break;
    default:
        break;
    }
    return outcome;
}

/* ---- The whole. */

static void drop(const struct clr_units *units, struct clr_feeder *feeder,
                 struct clr_column **columns)
{
    int k;

    for (k = 0; k < units->want_count; k++) {
        clr_resident_free(feeder->residents[k]);
        feeder->residents[k] = NULL;
        clr_column_release(columns[k]);
        columns[k] = NULL;
    }
}

/* Takes the columns from the feed. */
static enum clr_load_outcome finish(struct fed *fed, size_t rows, struct clr_feeder *feeder,
                                    struct clr_column **columns, const struct clr_watch *watch)
{
    const struct clr_units *units = fed->units;
    struct clr_fed_column found[CLR_MOST_COLUMNS];
    struct clr_status status;
    bool complete = true, sure = true;
    int k;

    clr_status_clear(&status);
    switch (clr_leaf_feed_finish(fed->feed, rows, found, watch, &feeder->work, &status)) {
    case CLR_SCAN_DONE:
        break;
    case CLR_SCAN_STOPPED:
        return CLR_LOAD_STOPPED;
    default:
        return CLR_LOAD_UNFED;
    }
    for (k = 0; k < units->want_count; k++) {
        int position = units->wants[k].position;
        bool has_others = (found[k].tags >> CLR_TAG_OTHER & 1) != 0;

        sure = sure && !(units->wants[k].never_null && (found[k].tags >> CLR_TAG_NULL & 1) != 0);
        feeder->residents[position] = found[k].resident;
        columns[position] = clr_column_new_away(found[k].kind, rows, has_others);
        complete = complete && columns[position] != NULL;
    }
    if (!complete)
        return CLR_LOAD_FAILED;
    return sure ? CLR_LOAD_DONE : CLR_LOAD_UNSURE;
}

/* With a feed. */
static enum clr_load_outcome load(struct fed *fed, struct clr_layout *layout,
                                  struct clr_feeder *feeder, struct clr_column **columns,
                                  const struct clr_watch *watch)
{
    struct clr_units *units = fed->units;
    enum clr_load_outcome outcome;

    fed->offsets = clr_memory_alloc(units->leaves.count * sizeof *fed->offsets);
    if (!clr_placement_init(&fed->placement, units, layout) || fed->offsets == NULL)
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    if (units->threads > clr_leaf_feed_threads(fed->feed))
        units->threads = clr_leaf_feed_threads(fed->feed);
    outcome = clr_units_run(units, work, fed, watch);
    if (outcome == CLR_LOAD_DONE)
        outcome = settle(fed, watch);
    feeder->is_unsuited = clr_leaf_feed_is_unsuited(fed->feed);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    outcome = finish(fed, clr_placement_rows(&fed->placement), feeder, columns, watch);
    if (outcome == CLR_LOAD_DONE && !clr_placement_keep(&fed->placement, units, layout))
        outcome = CLR_LOAD_FAILED;
    feeder->has_fed = outcome == CLR_LOAD_DONE;
    if (outcome == CLR_LOAD_DONE)
        return outcome;
    drop(units, feeder, columns);
    return clr_units_fail(units, outcome, 0, 0);
}

/* Learns from some of the leaves about how many rows there are, and of what kinds the columns may
   be. */
static enum clr_load_outcome sample(struct fed *fed, struct clr_leaf_diet *diet, uint8_t *kinds)
{
    const struct clr_page_list *leaves = &fed->units->leaves;
    /* What is met now is met again. */
    atomic_uint *visited = clr_pages_new_visits(fed->units->source);
    struct clr_leaf_reader reader;
    enum clr_load_outcome outcome = clr_leaf_reader_init(&reader, fed->units, NULL);
    size_t rows = 0, i;
    int k;

    reader.pages.visited = visited;
    if (visited == NULL)
        outcome = CLR_LOAD_FAILED;
    for (i = 0; i < SAMPLES && outcome == CLR_LOAD_DONE; i++) {
        outcome = clr_leaf_reader_read(&reader, leaves->numbers[leaves->count / SAMPLES * i]);
        rows += reader.leaf.rows;
        for (k = 0; k < diet->count && outcome == CLR_LOAD_DONE; k++) {
            uint8_t kind = reader.decoder.targets[k].kind;

            kinds[k] = i == 0 || kinds[k] == kind ? kind : CLR_TAG_MIXED;
        }
    }
    diet->rows = (rows + 1) * (leaves->count / SAMPLES + 1);
    diet->rows += diet->rows / 32; /* columns that turn out too short have to move */
    clr_units_fail(fed->units, outcome, reader.pages.page, reader.pages.code);
    clr_leaf_reader_free(&reader);
    clr_memory_free(visited);
    return outcome;
}

/* Begins a feed, if there are threads for it and somebody wants one. */
static enum clr_load_outcome begin(struct fed *fed, const struct clr_layout *layout,
                                   const struct clr_feeder *feeder)
{
    const struct clr_units *units = fed->units;
    struct clr_cell_want wants[CLR_MOST_COLUMNS];
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_leaf_diet diet = {.wants = wants,
                                 .kinds = kinds,
                                 .count = units->want_count,
                                 .usable_size = units->source->usable_size,
                                 .leaves = units->leaves.count,
                                 .most_odd = FEW_ODD + units->leaves.count / ODD_PART};
    enum clr_load_outcome outcome;
    int k;

    if (units->threads < 2)
        return CLR_LOAD_UNFED;
    outcome = sample(fed, &diet, kinds);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (layout->known)
        diet.rows = layout->rows;
    for (k = 0; k < units->want_count; k++)
        wants[k] = (struct clr_cell_want){.index = units->wants[k].index,
                                          .is_real = units->wants[k].is_real,
                                          .missing = units->wants[k].missing};
    fed->feed = feeder->begin(feeder->context, &diet);
    return fed->feed == NULL ? CLR_LOAD_UNFED : CLR_LOAD_DONE;
}

enum clr_load_outcome clr_load_fed(struct clr_units *units, struct clr_layout *layout,
                                   struct clr_feeder *feeder, struct clr_column **columns,
                                   const struct clr_watch *watch)
{
    struct fed fed = {.units = units};
    enum clr_load_outcome outcome;

    outcome = begin(&fed, layout, feeder);
    if (outcome == CLR_LOAD_DONE)
        outcome = load(&fed, layout, feeder, columns, watch);
    clr_placement_free(&fed.placement);
    clr_memory_free(fed.offsets);
    clr_leaf_feed_free(fed.feed);
    return outcome;
}
