#include "storage/load/load.h"

#include "base/memory.h"
#include "storage/leaves/units.h"
#include "storage/load/coding.h"
#include "storage/load/packing.h"
#include "storage/load/placement.h"

#include <string.h>

struct load {
    struct clr_units units;
    struct clr_placement placement;
    int count;
    struct clr_column **columns; /* as the caller has them: fields have the position */
    struct clr_bytes *bytes;     /* of each thread, in the order of fields */
    struct clr_packing packing;
    struct clr_coding coding;
    atomic_int begun; /* threads */
};

/* Returns a thread's place for the bytes of each field. Threads' places are apart by one that
   nobody uses, so that no two share a cache line. */
static struct clr_bytes *bytes_of(const struct load *load, int thread)
{
    return load->bytes + (size_t)thread * ((size_t)load->count + 1);
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
    const struct clr_layout *layout = load->placement.layout;
    const struct clr_unit *unit = &load->units.units[i];
    size_t ahead = (size_t)load->units.threads, block = unit->row / CLR_COLUMN_BLOCK;
    size_t rows = layout->known ? layout->rows : unit->rows * load->units.count;
    bool begins_block = (unit->row + unit->rows) / CLR_COLUMN_BLOCK > block;
    int k;

    if (atomic_load(&load->begun) < load->units.threads)
        return;
    for (k = 0; k < load->count && ahead > 1; k++) {
        struct clr_column *column = clr_packing_column(&load->packing, k);

        if (column != NULL && i < ahead && (i + 1) * CLR_COLUMN_BLOCK <= rows)
            clr_column_populate(column, i);
        if (column != NULL && begins_block && (block + ahead + 1) * CLR_COLUMN_BLOCK <= rows)
            clr_column_populate(column, block + ahead);
    }
}

static enum clr_load_outcome load_unit(struct load *load, int thread,
                                       struct clr_leaf_reader *reader, size_t i)
{
    struct clr_decoder *decoder = &reader->decoder;
    enum clr_load_outcome outcome;
    size_t rows;

    outcome = clr_unit_read(&load->units, i, reader, &rows);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_placement_take(&load->placement, decoder->reader.pages, i, rows);
    else
        clr_placement_give_up(&load->placement);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    populate(load, i);
    clr_decoder_begin(decoder);
    clr_packing_aim(&load->packing, thread, i, decoder);
    clr_coding_aim(&load->coding, thread, decoder);
    load->units.units[i].thread = thread;
    outcome = clr_unit_decode(&load->units, i, reader);
    if (outcome == CLR_LOAD_DONE)
        clr_packing_take(&load->packing, thread, i, decoder, rows);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_coding_check(&load->coding, thread, rows);
    else if (outcome == CLR_LOAD_MANY_VALUES)
        atomic_store(&load->coding.full, decoder->full);
    memcpy(clr_placement_leaves(&load->placement, i), reader->leaves,
           reader->count * sizeof *reader->leaves);
    return outcome;
}

static enum clr_load_outcome load_units(void *argument, int thread, struct clr_leaf_reader *reader)
{
    struct load *load = argument;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;
    int k;

    for (k = 0; k < load->count; k++) {
        if (!load->units.fields[k].with_codes)
            reader->decoder.bytes[k] = &bytes_of(load, thread)[k];
    }
    atomic_fetch_add(&load->begun, 1);
    while (outcome == CLR_LOAD_DONE && clr_units_take(&load->units, &i))
        outcome = load_unit(load, thread, reader, i);
    return outcome;
}

/* Gives a column its values, and the bytes that the threads have for it. */
static void finish_column(struct load *load, int k, size_t rows)
{
    struct clr_column **column = &load->columns[load->units.fields[k].position];
    int thread;

    (*column)->with_bytes = load->units.fields[k].with_bytes;
    for (thread = 0; thread < load->units.threads; thread++)
        clr_bytes_append(&(*column)->bytes, &bytes_of(load, thread)[k]);
    (*column)->bytes.left = NULL;
    (*column)->bytes_read = (*column)->bytes.size;
    clr_packing_finish(&load->packing, k, rows, column);
}

/* Makes the threads' places for bytes. */
static bool prepare_bytes(struct load *load)
{
    size_t count = (size_t)load->units.threads * ((size_t)load->count + 1), i;

    load->bytes = clr_memory_alloc(count * sizeof *load->bytes);
    for (i = 0; i < count && load->bytes != NULL; i++)
        load->bytes[i] = (struct clr_bytes){.left = &load->placement.left};
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
    const struct clr_layout *layout = load->placement.layout;
    /* What no row touches costs addresses only, or, where pages are large, a bit more. */
    size_t most = units->leaves.count * clr_page_most_cells(units->source), i;

    if (layout->known)
        most = layout->rows;
    else if (layout->most_rows > 0 && layout->most_rows < most)
        most = layout->most_rows;
    if (!prepare_bytes(load))
        return false;
    for (i = 0; i < (size_t)load->count; i++) {
        const struct clr_field *field = &units->fields[i];

        load->columns[field->position] = field->with_codes
                                             ? clr_column_new_codes(NULL, most, sizeof(uint32_t))
                                             : clr_column_new(most);
        if (load->columns[field->position] == NULL)
            return false;
    }
    return clr_packing_init(&load->packing, units, load->columns) &&
           clr_coding_init(&load->coding, units, layout->seed, &load->placement.left);
}

/* Decodes the units, which have been found. */
static enum clr_load_outcome decode(struct load *load, struct clr_layout *layout,
                                    const struct clr_watch *watch)
{
    struct clr_units *units = &load->units;
    enum clr_load_outcome outcome;
    size_t rows;
    int k;

    if (!clr_placement_init(&load->placement, units, layout) || !prepare(load))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    outcome = clr_units_run(units, load_units, load, watch);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    rows = clr_placement_rows(&load->placement);
    for (k = 0; k < load->count && outcome == CLR_LOAD_DONE; k++) {
        if (units->fields[k].with_codes)
            outcome = clr_coding_finish(&load->coding, k, rows,
                                        &load->columns[units->fields[k].position]);
        else
            finish_column(load, k, rows);
    }
    if (outcome != CLR_LOAD_DONE)
        return clr_units_fail(units, outcome, 0, 0);
    return clr_placement_keep(&load->placement, layout);
}

enum clr_load_outcome clr_load(const struct clr_source *source, uint32_t root,
                               const struct clr_field *fields, int count, struct clr_layout *layout,
                               struct clr_column **columns, const struct clr_watch *watch,
                               struct clr_load_report *report, struct clr_status *status)
{
    struct load load = {.count = count, .columns = columns};
    enum clr_load_outcome outcome;
    int i;

    for (i = 0; i < count; i++)
        columns[i] = NULL;
    atomic_init(&load.begun, 0);
    atomic_init(&load.coding.full, 0);
    outcome = clr_units_find(&load.units, source, root, fields, count, SIZE_MAX, layout, watch);
    if (outcome == CLR_LOAD_DONE)
        outcome = decode(&load, layout, watch);
    clr_units_report(&load.units, outcome, report, status);
    report->field = atomic_load(&load.coding.full);
    for (i = 0; i < count && outcome != CLR_LOAD_DONE; i++) {
        clr_column_release(columns[i]);
        columns[i] = NULL;
    }
    clr_placement_free(&load.placement);
    clr_packing_free(&load.packing);
    free_bytes(&load);
    clr_coding_free(&load.coding);
    clr_units_free(&load.units);
    return outcome;
}
