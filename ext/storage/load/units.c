#include "storage/load/units.h"

#include "base/memory.h"
#include "storage/load/gather.h"

#include <string.h>

/*
 * A unit's pages are read into a thread's buffer, small enough for a processor's own cache. How
 * leaves are divided into units does not depend on the machine, since layouts outlive a load.
 */
enum {
    UNIT_BYTES = 256 * 1024,
    UNITS_LEAST = 32, /* a table with fewer leaves has smaller units */
    SMALL_LEAVES = 64 /* below, threads are not worth their start */
};

/* Keeps the first failure: the others only follow from it, or are as good. */
enum clr_load_outcome clr_units_fail(struct clr_units *units, enum clr_load_outcome outcome,
                                     uint32_t page, int code)
{
    if (outcome == CLR_LOAD_DONE || atomic_exchange(&units->failed, true))
        return outcome;
    units->outcome = outcome;
    units->page = page;
    units->code = code;
    return outcome;
}

size_t clr_unit_leaves(const struct clr_units *units, size_t i)
{
    size_t left = units->leaves.count - i * units->unit_leaves;

    return left < units->unit_leaves ? left : units->unit_leaves;
}

/* Makes the units, once the leaves are known. */
static bool divide(struct clr_units *units, size_t most_leaves)
{
    size_t unit_leaves = UNIT_BYTES / units->source->page_size;

    if (unit_leaves > units->leaves.count / UNITS_LEAST + 1)
        unit_leaves = units->leaves.count / UNITS_LEAST + 1;
    if (unit_leaves > most_leaves)
        unit_leaves = most_leaves;
    units->unit_leaves = unit_leaves;
    units->count = (units->leaves.count + unit_leaves - 1) / unit_leaves;
    units->units = clr_memory_alloc(units->count * sizeof *units->units);
    units->threads = units->source->parallel ? clr_team_size() : 1;
    if (units->leaves.count < SMALL_LEAVES)
        units->threads = 1;
    if ((size_t)units->threads > units->count)
        units->threads = (int)units->count;
    return units->units != NULL;
}

enum clr_load_outcome clr_units_find(struct clr_units *units, const struct clr_source *source,
                                     uint32_t root, const struct clr_field *fields, int count,
                                     size_t most_leaves, const struct clr_watch *watch)
{
    struct clr_pages pages = {.source = source, .watch = watch};
    enum clr_load_outcome outcome;

    *units = (struct clr_units){.source = source};
    atomic_init(&units->next, 0);
    atomic_init(&units->bytes_read, 0);
    atomic_init(&units->failed, false);
    units->visited = pages.visited = clr_pages_new_visits(source);
    if (units->visited == NULL)
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    outcome = clr_tree_leaves(&pages, root, &units->leaves);
    atomic_store(&units->bytes_read, pages.bytes_read);
    if (outcome != CLR_LOAD_DONE)
        return clr_units_fail(units, outcome, pages.page, pages.code);
    units->want_count = count;
    units->wants = clr_field_wants(fields, count);
    if (units->wants == NULL || !divide(units, most_leaves))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    return CLR_LOAD_DONE;
}

/* Units are in key order, so their rowids have to ascend as well. */
static enum clr_load_outcome check_order(struct clr_units *units)
{
    size_t i;

    for (i = 1; i < units->count; i++) {
        if (units->units[i].first <= units->units[i - 1].last)
            return clr_units_fail(units, CLR_LOAD_MALFORMED,
                                  units->leaves.numbers[i * units->unit_leaves], 0);
    }
    return CLR_LOAD_DONE;
}

enum clr_load_outcome clr_units_run(struct clr_units *units,
                                    void (*work)(void *argument, int thread,
                                                 const atomic_bool *stop),
                                    void *argument, const struct clr_watch *watch)
{
    if (units->threads == 1) {
        units->watch = watch;
        clr_team_run(1, work, argument, NULL);
    } else if (!clr_team_run(units->threads, work, argument, watch)) {
        clr_units_fail(units, CLR_LOAD_STOPPED, 0, 0);
    }
    return atomic_load(&units->failed) ? units->outcome : check_order(units);
}

enum clr_load_outcome clr_unit_reader_init(struct clr_unit_reader *reader, struct clr_units *units,
                                           const atomic_bool *stop)
{
    size_t size;

    *reader = (struct clr_unit_reader){.units = units,
                                       .room = units->unit_leaves + units->unit_leaves / 4};
    reader->pages = (struct clr_pages){
        .source = units->source, .visited = units->visited, .stop = stop, .watch = units->watch};
    size = reader->room * units->source->page_size;
    reader->buffer = clr_memory_alloc(size + CLR_PAGE_SLACK);
    reader->where = clr_memory_alloc(units->unit_leaves * sizeof *reader->where);
    reader->leaves = clr_memory_alloc(units->unit_leaves * sizeof *reader->leaves);
    if (!clr_decoder_init(&reader->decoder, &reader->pages, units->wants, units->want_count) ||
        reader->buffer == NULL || reader->where == NULL || reader->leaves == NULL)
        return clr_pages_no_memory(&reader->pages);
    memset(reader->buffer + size, 0, CLR_PAGE_SLACK);
    return CLR_LOAD_DONE;
}

void clr_unit_reader_end(struct clr_unit_reader *reader, enum clr_load_outcome outcome)
{
    clr_units_fail(reader->units, outcome, reader->pages.page, reader->pages.code);
    atomic_fetch_add(&reader->units->bytes_read, reader->pages.bytes_read);
    clr_decoder_free(&reader->decoder);
    clr_memory_free(reader->buffer);
    clr_memory_free((void *)reader->where);
    clr_memory_free(reader->leaves);
}

bool clr_units_take(struct clr_units *units, size_t *i)
{
    if (atomic_load(&units->failed))
        return false;
    *i = atomic_fetch_add(&units->next, 1);
    return *i < units->count;
}

enum clr_load_outcome clr_unit_read(struct clr_unit_reader *reader, size_t i, size_t *rows)
{
    size_t used;

    return clr_unit_read_to(reader, i, reader->buffer, &used, rows);
}

enum clr_load_outcome clr_unit_read_to(struct clr_unit_reader *reader, size_t i,
                                       unsigned char *buffer, size_t *used, size_t *rows)
{
    const struct clr_units *units = reader->units;
    const uint32_t *numbers = units->leaves.numbers + i * units->unit_leaves;
    size_t count = clr_unit_leaves(units, i), j;
    enum clr_load_outcome outcome =
        clr_gather(&reader->pages, numbers, count, buffer, reader->room, reader->where, used);

    *rows = 0;
    for (j = 0; j < count && outcome == CLR_LOAD_DONE; j++) {
        outcome = clr_page_open(&reader->pages, numbers[j], reader->where[j], CLR_PAGE_TABLE_LEAF,
                                units->leaves.count == 1, &reader->leaves[j]);
        if (outcome == CLR_LOAD_DONE)
            *rows += reader->leaves[j].cells;
    }
    return outcome;
}

enum clr_load_outcome clr_unit_decode(struct clr_unit_reader *reader, size_t i)
{
    const struct clr_units *units = reader->units;
    const uint32_t *numbers = units->leaves.numbers + i * units->unit_leaves;
    size_t count = clr_unit_leaves(units, i), j;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    clr_decoder_begin(&reader->decoder);
    for (j = 0; j < count && outcome == CLR_LOAD_DONE; j++) {
        if (units->met == NULL)
            outcome = clr_decode_page(&reader->decoder, numbers[j], &reader->leaves[j]);
        else
            outcome = clr_decode_leaf(&reader->decoder, numbers[j], &reader->leaves[j],
                                      &units->met[i * units->unit_leaves + j]);
    }
    units->units[i].first = reader->decoder.first;
    units->units[i].last = clr_order_last(&reader->decoder.order);
    return outcome;
}

void clr_units_report(const struct clr_units *units, enum clr_load_outcome outcome,
                      struct clr_load_report *report, struct clr_status *status)
{
    *report = (struct clr_load_report){.bytes_read = atomic_load(&units->bytes_read),
                                       .page = outcome == CLR_LOAD_MALFORMED ? units->page : 0};
    if (outcome == CLR_LOAD_FAILED && units->code == 0)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for the table's columns");
    else if (outcome == CLR_LOAD_FAILED)
        clr_status_set(status, CLR_DEVICE, units->code, "reading page %u: result code %d",
                       (unsigned)units->page, units->code);
}

void clr_units_free(struct clr_units *units)
{
    clr_memory_free(units->leaves.numbers);
    clr_memory_free(units->units);
    clr_memory_free(units->wants);
    clr_memory_free(units->met);
    clr_memory_free(units->walked);
    clr_memory_free(units->visited);
}
