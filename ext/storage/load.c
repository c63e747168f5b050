#include "storage/load.h"

#include "base/memory.h"
#include "storage/decode.h"
#include "storage/gather.h"
#include "storage/tree.h"

#include <stdlib.h>
#include <string.h>

/*
 * A unit's pages are read into a thread's buffer, small enough for a processor's own cache. How
 * leaves are divided into units depends on the table alone, since layouts outlive a load.
 */
enum {
    UNIT_BYTES = 256 * 1024,
    UNITS_LEAST = 32, /* a table with fewer leaves has smaller units */
    SMALL_LEAVES = 64 /* below, threads are not worth their start */
};

struct unit {
    struct clr_extent extent;
    int64_t first, last; /* rowids, where there are rows */
};

struct load {
    const struct clr_source *source;
    const struct clr_watch *watch; /* if the calling thread does the work, else NULL */
    const struct clr_layout *layout;
    int threads;
    struct clr_page_list leaves;
    size_t unit_leaves; /* in each unit but the last */
    size_t units_count;
    struct unit *units;
    struct clr_want *wants;
    int count;
    struct clr_column **columns; /* as the caller has them: wants have the position */
    uint8_t *kinds;              /* count for each unit, in the order of wants */
    atomic_uint *visited;
    atomic_size_t next_unit, rows;
    atomic_int_least64_t bytes_read;
    atomic_bool failed;
    /* Written by the thread that sets failed, and read when all have returned. */
    enum clr_load_outcome outcome;
    uint32_t page;
    int code;
};

/* A thread's own. */
struct loader {
    struct load *load;
    struct clr_pages pages;
    struct clr_decoder decoder;
    unsigned char *buffer;
    size_t room; /* pages in the buffer */
    const unsigned char **where;
    struct clr_page *leaves;
};

void clr_layout_free(struct clr_layout *layout)
{
    clr_memory_free(layout->extents);
    *layout = (struct clr_layout){0};
}

/* Keeps the first failure: the others only follow from it, or are as good. */
static void fail(struct load *load, enum clr_load_outcome outcome, const struct clr_pages *pages)
{
    if (outcome == CLR_LOAD_DONE || atomic_exchange(&load->failed, true))
        return;
    load->outcome = outcome;
    load->page = pages->page;
    load->code = pages->code;
}

static void loader_free(struct loader *loader)
{
    atomic_fetch_add(&loader->load->bytes_read, loader->pages.bytes_read);
    clr_decoder_free(&loader->decoder);
    clr_memory_free(loader->buffer);
    clr_memory_free((void *)loader->where);
    clr_memory_free(loader->leaves);
}

static bool loader_init(struct loader *loader, struct load *load, const atomic_bool *stop)
{
    size_t size;

    *loader = (struct loader){.load = load, .room = load->unit_leaves + load->unit_leaves / 4};
    loader->pages = (struct clr_pages){
        .source = load->source, .visited = load->visited, .stop = stop, .watch = load->watch};
    size = loader->room * load->source->page_size;
    loader->buffer = clr_memory_alloc(size + CLR_PAGE_SLACK);
    loader->where = clr_memory_alloc(load->unit_leaves * sizeof *loader->where);
    loader->leaves = clr_memory_alloc(load->unit_leaves * sizeof *loader->leaves);
    if (!clr_decoder_init(&loader->decoder, &loader->pages, load->wants, load->count) ||
        loader->buffer == NULL || loader->where == NULL || loader->leaves == NULL)
        return false;
    memset(loader->buffer + size, 0, CLR_PAGE_SLACK);
    return true;
}

/* Gives the unit its place in the columns, if the layout fits and has room. */
static enum clr_load_outcome place_unit(struct load *load, size_t i, size_t rows)
{
    struct clr_extent *extent = &load->units[i].extent;
    size_t most = load->layout->most_rows;

    if (load->layout->known) {
        *extent = load->layout->extents[i];
        return extent->rows == rows ? CLR_LOAD_DONE : CLR_LOAD_MALFORMED;
    }
    extent->rows = rows;
    extent->first = atomic_fetch_add(&load->rows, rows);
    return most == 0 || extent->first + rows <= most ? CLR_LOAD_DONE : CLR_LOAD_TOO_LARGE;
}

/*
 * Has memory at hand by the time that it is needed: the thread whose unit reaches into a block of
 * rows provides for another block as far ahead as there are threads; their first units begin that.
 */
static void populate(struct load *load, size_t i)
{
    const struct clr_extent *extent = &load->units[i].extent;
    size_t ahead = (size_t)load->threads, block = extent->first / CLR_COLUMN_BLOCK;
    size_t rows = load->layout->known ? load->layout->rows : extent->rows * load->units_count;
    bool begins_block = (extent->first + extent->rows) / CLR_COLUMN_BLOCK > block;
    int k;

    for (k = 0; k < load->count && ahead > 1; k++) {
        if (i < ahead && (i + 1) * CLR_COLUMN_BLOCK <= rows)
            clr_column_populate(load->columns[k], i);
        if (begins_block && (block + ahead + 1) * CLR_COLUMN_BLOCK <= rows)
            clr_column_populate(load->columns[k], block + ahead);
    }
}

static enum clr_load_outcome load_unit(struct loader *loader, size_t i)
{
    struct load *load = loader->load;
    struct clr_decoder *decoder = &loader->decoder;
    const uint32_t *numbers = load->leaves.numbers + i * load->unit_leaves;
    size_t left = load->leaves.count - i * load->unit_leaves, rows = 0, j;
    size_t count = left < load->unit_leaves ? left : load->unit_leaves;
    enum clr_load_outcome outcome =
        clr_gather(&loader->pages, numbers, count, loader->buffer, loader->room, loader->where);
    int k;

    for (j = 0; j < count && outcome == CLR_LOAD_DONE; j++) {
        outcome = clr_page_open(&loader->pages, numbers[j], loader->where[j], CLR_PAGE_TABLE_LEAF,
                                load->leaves.count == 1, &loader->leaves[j]);
        rows += loader->leaves[j].cells;
    }
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    outcome = place_unit(load, i, rows);
    if (outcome == CLR_LOAD_MALFORMED)
        return clr_page_malformed(&loader->pages, numbers[0]);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    populate(load, i);
    for (k = 0; k < load->count; k++) {
        struct clr_column *column = load->columns[load->wants[k].position];
        size_t first = load->units[i].extent.first;

        decoder->targets[k] = (struct clr_target){
            .values = column->values + first, .tags = column->tags + first, .kind = CLR_TAG_NULL};
    }
    clr_decoder_begin(decoder);
    for (j = 0; j < count && outcome == CLR_LOAD_DONE; j++)
        outcome = clr_decode_page(decoder, numbers[j], &loader->leaves[j]);
    for (k = 0; k < load->count; k++)
        load->kinds[i * (size_t)load->count + (size_t)k] = decoder->targets[k].kind;
    load->units[i].first = decoder->first;
    load->units[i].last = clr_order_last(&decoder->order);
    return outcome;
}

static void load_units(void *argument, int thread, const atomic_bool *stop)
{
    struct load *load = argument;
    struct loader loader;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    (void)thread;
    if (!loader_init(&loader, load, stop))
        outcome = clr_pages_no_memory(&loader.pages);
    while (outcome == CLR_LOAD_DONE && !atomic_load(&load->failed)) {
        size_t i = atomic_fetch_add(&load->next_unit, 1);

        if (i >= load->units_count)
            break;
        outcome = load_unit(&loader, i);
    }
    fail(load, outcome, &loader.pages);
    loader_free(&loader);
}

/* Units are in key order, so their rowids have to ascend as well. */
static enum clr_load_outcome check_order(const struct load *load, struct clr_pages *pages)
{
    size_t i;

    for (i = 1; i < load->units_count; i++) {
        if (load->units[i].first <= load->units[i - 1].last)
            return clr_page_malformed(pages, load->leaves.numbers[i * load->unit_leaves]);
    }
    return CLR_LOAD_DONE;
}

/* Puts together what the units found out about a column. */
static void finish_column(const struct load *load, int k, size_t rows)
{
    struct clr_column *column = load->columns[load->wants[k].position];
    size_t count = (size_t)load->count, i;
    const uint8_t *kinds = load->kinds + k;

    column->rows = rows;
    column->kind = kinds[0];
    for (i = 1; i < load->units_count; i++) {
        if (kinds[i * count] != kinds[0])
            column->kind = CLR_TAG_MIXED;
    }
    for (i = 0; i < load->units_count && column->kind == CLR_TAG_MIXED; i++) {
        if (kinds[i * count] != CLR_TAG_MIXED)
            memset(column->tags + load->units[i].extent.first, kinds[i * count],
                   load->units[i].extent.rows);
    }
}

static int compare_wants(const void *a, const void *b)
{
    const struct clr_want *first = a, *second = b;

    return (first->index > second->index) - (first->index < second->index);
}

/* Makes what the threads share, once the leaves are known. */
static bool prepare(struct load *load, const struct clr_field *fields)
{
    const struct clr_source *source = load->source;
    size_t count = (size_t)load->count, most, i;

    load->unit_leaves = UNIT_BYTES / source->page_size;
    if (load->unit_leaves > load->leaves.count / UNITS_LEAST + 1)
        load->unit_leaves = load->leaves.count / UNITS_LEAST + 1;
    load->units_count = (load->leaves.count + load->unit_leaves - 1) / load->unit_leaves;
    load->units = clr_memory_alloc(load->units_count * sizeof *load->units);
    load->kinds = clr_memory_alloc(load->units_count * count + 1);
    load->wants = clr_memory_alloc((count + 1) * sizeof *load->wants);
    if (load->units == NULL || load->kinds == NULL || load->wants == NULL)
        return false;
    /* clr_page_open() lets no page have more cells. What no row touches costs addresses only. */
    most = load->leaves.count * ((source->page_size - 8) / 6);
    for (i = 0; i < count; i++) {
        load->wants[i] = (struct clr_want){.index = fields[i].index,
                                           .position = (int)i,
                                           .is_real = fields[i].is_real,
                                           .missing = fields[i].missing};
        load->columns[i] = clr_column_new(load->layout->known ? load->layout->rows : most);
        if (load->columns[i] == NULL)
            return false;
    }
    qsort(load->wants, count, sizeof *load->wants, compare_wants);
    return true;
}

/* Hands the layout to the caller. */
static bool keep_layout(const struct load *load, struct clr_layout *layout)
{
    size_t i;

    layout->extents = clr_memory_alloc(load->units_count * sizeof *layout->extents);
    if (layout->extents == NULL)
        return false;
    for (i = 0; i < load->units_count; i++)
        layout->extents[i] = load->units[i].extent;
    layout->units = load->units_count;
    layout->rows = atomic_load(&load->rows);
    layout->known = true;
    return true;
}

/* Does all units: in the calling thread, or with a team. */
static enum clr_load_outcome run(struct load *load, const struct clr_watch *watch)
{
    int threads = load->source->parallel ? clr_team_size() : 1;

    if (load->leaves.count < SMALL_LEAVES)
        threads = 1;
    if ((size_t)threads > load->units_count)
        threads = (int)load->units_count;
    load->threads = threads;
    if (threads == 1) {
        load->watch = watch;
        clr_team_run(1, load_units, load, NULL);
    } else {
        if (!clr_team_run(threads, load_units, load, watch) && !atomic_load(&load->failed))
            return CLR_LOAD_STOPPED;
    }
    return atomic_load(&load->failed) ? load->outcome : CLR_LOAD_DONE;
}

static void load_init(struct load *load, const struct clr_source *source, int count,
                      const struct clr_layout *layout, struct clr_column **columns)
{
    *load = (struct load){.source = source, .count = count, .layout = layout, .columns = columns};
    atomic_init(&load->next_unit, 0);
    atomic_init(&load->rows, 0);
    atomic_init(&load->bytes_read, 0);
    atomic_init(&load->failed, false);
}

static void load_free(struct load *load)
{
    clr_memory_free(load->leaves.numbers);
    clr_memory_free(load->units);
    clr_memory_free(load->kinds);
    clr_memory_free(load->wants);
    clr_memory_free(load->visited);
}

/* All of it, with the outcome and, in pages, what it is about. */
static enum clr_load_outcome load_table(struct load *load, uint32_t root,
                                        const struct clr_field *fields, struct clr_layout *layout,
                                        const struct clr_watch *watch, struct clr_pages *pages)
{
    enum clr_load_outcome outcome;
    size_t rows;
    int k;

    load->visited = pages->visited = clr_pages_new_visits(load->source);
    if (load->visited == NULL)
        return clr_pages_no_memory(pages);
    outcome = clr_tree_leaves(pages, root, &load->leaves);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (!prepare(load, fields))
        return clr_pages_no_memory(pages);
    if (layout->known && layout->units != load->units_count)
        return clr_page_malformed(pages, root);
    outcome = run(load, watch);
    pages->page = load->page;
    pages->code = load->code;
    if (outcome == CLR_LOAD_DONE)
        outcome = check_order(load, pages);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    rows = layout->known ? layout->rows : atomic_load(&load->rows);
    if (!layout->known && !keep_layout(load, layout))
        return clr_pages_no_memory(pages);
    for (k = 0; k < load->count; k++)
        finish_column(load, k, rows);
    return CLR_LOAD_DONE;
}

enum clr_load_outcome clr_load(const struct clr_source *source, uint32_t root,
                               const struct clr_field *fields, int count, struct clr_layout *layout,
                               struct clr_column **columns, const struct clr_watch *watch,
                               struct clr_load_report *report, struct clr_status *status)
{
    struct clr_pages pages = {.source = source, .watch = watch};
    struct load load;
    enum clr_load_outcome outcome;
    int i;

    for (i = 0; i < count; i++)
        columns[i] = NULL;
    load_init(&load, source, count, layout, columns);
    outcome = load_table(&load, root, fields, layout, watch, &pages);
    *report =
        (struct clr_load_report){.bytes_read = pages.bytes_read + atomic_load(&load.bytes_read),
                                 .page = outcome == CLR_LOAD_MALFORMED ? pages.page : 0};
    if (outcome == CLR_LOAD_FAILED && pages.code == 0)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for the table's columns");
    else if (outcome == CLR_LOAD_FAILED)
        clr_status_set(status, CLR_DEVICE, pages.code, "reading page %u: result code %d",
                       (unsigned)pages.page, pages.code);
    for (i = 0; i < count && outcome != CLR_LOAD_DONE; i++) {
        clr_column_release(columns[i]);
        columns[i] = NULL;
    }
    load_free(&load);
    return outcome;
}
