#include "storage/load.h"

#include "base/memory.h"
#include "storage/leaves.h"
#include "storage/units.h"

#include <string.h>

/* A guess: so much of a table has been met, one in so many of its units, and all of it would have
   so many times the rows that there may be. */
enum { GUESS_PART = 16, GUESS_FACTOR = 2 };

struct load {
    struct clr_units units;
    const struct clr_layout *layout;
    struct clr_extent *extents; /* of the units */
    int count;
    struct clr_column **columns; /* as the caller has them: wants have the position */
    uint8_t *kinds;              /* count for each unit, in the order of wants */
    struct clr_bytes *bytes;     /* of each thread, likewise */
    atomic_int_least64_t left;   /* bytes that rows and their bytes may still take */
    atomic_size_t rows;
    atomic_int begun; /* threads */
};

void clr_layout_free(struct clr_layout *layout)
{
    clr_memory_free(layout->extents);
    clr_memory_free(layout->leaves);
    clr_memory_free(layout->chains);
    *layout = (struct clr_layout){0};
}

size_t clr_layout_size(const struct clr_layout *layout)
{
    return layout->units * sizeof *layout->extents + layout->leaf_count * sizeof *layout->leaves +
           layout->chain_words * sizeof *layout->chains;
}

/* Whether the table will have too many rows if the units that are still to come are like those that
   were taken, with so many rows. */
static bool seems_too_large(struct load *load, size_t rows)
{
    const struct clr_layout *layout = load->layout;
    size_t taken = atomic_load(&load->units.next), count = load->units.count;

    return layout->may_guess && taken > count / GUESS_PART &&
           (double)rows * (double)count > GUESS_FACTOR * (double)layout->most_rows * (double)taken;
}

/* Returns a thread's place for the bytes of each want. Threads' places are apart by one that nobody
   uses, so that no two share a cache line. */
static struct clr_bytes *bytes_of(const struct load *load, int thread)
{
    return load->bytes + (size_t)thread * ((size_t)load->count + 1);
}

/* Gives the unit its place in the columns, if the layout fits and has room. */
static enum clr_load_outcome place_unit(struct load *load, size_t i, size_t rows)
{
    struct clr_extent *extent = &load->extents[i];
    size_t most = load->layout->most_rows;

    if (load->layout->known) {
        *extent = load->layout->extents[i];
        return extent->rows == rows ? CLR_LOAD_DONE : CLR_LOAD_MALFORMED;
    }
    atomic_fetch_sub(&load->left, (int64_t)(rows * load->layout->row_bytes));
    extent->rows = rows;
    extent->first = atomic_fetch_add(&load->rows, rows);
    rows += extent->first;
    return most == 0 || (rows <= most && !seems_too_large(load, rows)) ? CLR_LOAD_DONE
                                                                       : CLR_LOAD_TOO_LARGE;
}

/*
 * Has memory at hand by the time that it is needed: the thread whose unit reaches into a block of
 * rows provides for another block as far ahead as there are threads; their first units begin that.
 * But not before all threads run: to populate memory keeps the kernel from mapping any, such as the
 * stacks of threads to come, and whoever wants to populate more waits behind those. With 16 threads
 * the last one came 10 to 40 ms late.
 */
static void populate(struct load *load, size_t i)
{
    const struct clr_extent *extent = &load->extents[i];
    size_t ahead = (size_t)load->units.threads, block = extent->first / CLR_COLUMN_BLOCK;
    size_t rows = load->layout->known ? load->layout->rows : extent->rows * load->units.count;
    bool begins_block = (extent->first + extent->rows) / CLR_COLUMN_BLOCK > block;
    int k;

    if (atomic_load(&load->begun) < load->units.threads)
        return;
    for (k = 0; k < load->count && ahead > 1; k++) {
        if (i < ahead && (i + 1) * CLR_COLUMN_BLOCK <= rows)
            clr_column_populate(load->columns[k], i);
        if (begins_block && (block + ahead + 1) * CLR_COLUMN_BLOCK <= rows)
            clr_column_populate(load->columns[k], block + ahead);
    }
}

static enum clr_load_outcome load_unit(struct load *load, struct clr_unit_reader *reader, size_t i)
{
    struct clr_decoder *decoder = &reader->decoder;
    enum clr_load_outcome outcome;
    size_t rows;
    int k;

    outcome = clr_unit_read(reader, i, &rows);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    outcome = place_unit(load, i, rows);
    if (outcome == CLR_LOAD_MALFORMED)
        return clr_page_malformed(&reader->pages,
                                  load->units.leaves.numbers[i * load->units.unit_leaves]);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    populate(load, i);
    for (k = 0; k < load->count; k++) {
        struct clr_column *column = load->columns[load->units.wants[k].position];
        size_t first = load->extents[i].first;

        decoder->targets[k] = (struct clr_target){
            .values = column->values + first, .tags = column->tags + first, .kind = CLR_TAG_NULL};
    }
    outcome = clr_unit_decode(reader, i);
    for (k = 0; k < load->count; k++)
        load->kinds[i * (size_t)load->count + (size_t)k] = decoder->targets[k].kind;
    return outcome;
}

static void load_units(void *argument, int thread, const atomic_bool *stop)
{
    struct load *load = argument;
    struct clr_unit_reader reader;
    enum clr_load_outcome outcome = clr_unit_reader_init(&reader, &load->units, stop);
    size_t i;
    int k;

    for (k = 0; k < load->count && outcome == CLR_LOAD_DONE; k++)
        reader.decoder.bytes[k] = &bytes_of(load, thread)[k];
    atomic_fetch_add(&load->begun, 1);
    while (outcome == CLR_LOAD_DONE && clr_units_take(&load->units, &i))
        outcome = load_unit(load, &reader, i);
    clr_unit_reader_end(&reader, outcome);
}

/* Puts together what the units found out about a column. */
static void finish_column(const struct load *load, int k, size_t rows)
{
    struct clr_column *column = load->columns[load->units.wants[k].position];
    size_t count = (size_t)load->count, i;
    const uint8_t *kinds = load->kinds + k;
    int thread;

    column->with_bytes = load->units.wants[k].with_bytes;
    for (thread = 0; thread < load->units.threads; thread++)
        clr_bytes_append(&column->bytes, &bytes_of(load, thread)[k]);
    column->bytes.left = NULL;
    column->bytes_read = column->bytes.size;
    column->rows = rows;
    column->kind = kinds[0];
    for (i = 1; i < load->units.count; i++) {
        if (kinds[i * count] != kinds[0])
            column->kind = CLR_TAG_MIXED;
    }
    for (i = 0; i < load->units.count && column->kind == CLR_TAG_MIXED; i++) {
        if (kinds[i * count] != CLR_TAG_MIXED)
            memset(column->tags + load->extents[i].first, kinds[i * count], load->extents[i].rows);
    }
}

/* Makes the threads' places for bytes, and says how many there may be. */
static bool prepare_bytes(struct load *load)
{
    const struct clr_layout *layout = load->layout;
    size_t count = (size_t)load->units.threads * ((size_t)load->count + 1), i;
    int64_t left = INT64_MAX;

    if (layout->most_bytes > 0 && layout->most_bytes < INT64_MAX)
        left = (int64_t)layout->most_bytes;
    if (layout->known)
        left -= (int64_t)(layout->rows * layout->row_bytes);
    atomic_init(&load->left, left);
    load->bytes = clr_memory_alloc(count * sizeof *load->bytes);
    for (i = 0; i < count && load->bytes != NULL; i++)
        load->bytes[i] = (struct clr_bytes){.left = &load->left};
    return load->bytes != NULL;
}

static void free_bytes(struct load *load)
{
    size_t count = (size_t)load->units.threads * ((size_t)load->count + 1), i;

    for (i = 0; i < count && load->bytes != NULL; i++)
        clr_bytes_free(&load->bytes[i]);
    clr_memory_free(load->bytes);
}

/* Makes what the threads fill in, once the units are known. */
static bool prepare(struct load *load)
{
    const struct clr_units *units = &load->units;
    const struct clr_layout *layout = load->layout;
    /* What no row touches costs addresses only, or, where pages are large, a bit more. */
    size_t most = units->leaves.count * clr_page_most_cells(units->source), i;

    if (layout->known)
        most = layout->rows;
    else if (layout->most_rows > 0 && layout->most_rows < most)
        most = layout->most_rows;
    load->extents = clr_memory_alloc(units->count * sizeof *load->extents);
    load->kinds = clr_memory_alloc(units->count * (size_t)load->count + 1);
    if (load->extents == NULL || load->kinds == NULL || !prepare_bytes(load) ||
        (layout->keeps_leaves && !clr_leaves_note(&load->units)))
        return false;
    for (i = 0; i < (size_t)load->count; i++) {
        load->columns[i] = clr_column_new(most);
        if (load->columns[i] == NULL)
            return false;
    }
    return true;
}

/* All of it, but for the report. */
static enum clr_load_outcome load_table(struct load *load, const struct clr_source *source,
                                        uint32_t root, const struct clr_field *fields,
                                        struct clr_layout *layout, const struct clr_watch *watch)
{
    struct clr_units *units = &load->units;
    enum clr_load_outcome outcome =
        clr_units_find(units, source, root, fields, load->count, SIZE_MAX, watch);
    size_t rows;
    int k;

    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (!prepare(load))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    if (layout->known && layout->units != units->count)
        return clr_units_fail(units, CLR_LOAD_MALFORMED, root, 0);
    outcome = clr_units_run(units, load_units, load, watch);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (layout->keeps_leaves && !clr_leaves_keep(units, load->extents, layout))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    rows = layout->known ? layout->rows : atomic_load(&load->rows);
    for (k = 0; k < load->count; k++)
        finish_column(load, k, rows);
    if (layout->known)
        return CLR_LOAD_DONE;
    layout->known = true;
    layout->rows = rows;
    layout->units = units->count;
    layout->extents = load->extents;
    load->extents = NULL;
    return CLR_LOAD_DONE;
}

enum clr_load_outcome clr_load(const struct clr_source *source, uint32_t root,
                               const struct clr_field *fields, int count, struct clr_layout *layout,
                               struct clr_column **columns, const struct clr_watch *watch,
                               struct clr_load_report *report, struct clr_status *status)
{
    struct load load = {.count = count, .layout = layout, .columns = columns};
    enum clr_load_outcome outcome;
    int i;

    for (i = 0; i < count; i++)
        columns[i] = NULL;
    atomic_init(&load.rows, 0);
    atomic_init(&load.begun, 0);
    outcome = load_table(&load, source, root, fields, layout, watch);
    clr_units_report(&load.units, outcome, report, status);
    for (i = 0; i < count && outcome != CLR_LOAD_DONE; i++) {
        clr_column_release(columns[i]);
        columns[i] = NULL;
    }
    clr_memory_free(load.extents);
    clr_memory_free(load.kinds);
    free_bytes(&load);
    clr_units_free(&load.units);
    return outcome;
}
