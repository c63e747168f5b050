#include "storage/leaves/units.h"

#include "base/memory.h"

#include <string.h>

/* ---- Leaf pages of one thread. */

enum { WIDEST_HOLE = 4, LINE = 64 };

enum clr_load_outcome clr_leaf_reader_init(struct clr_leaf_reader *reader, struct clr_pages *pages,
                                           const struct clr_field *fields, int field_count,
                                           size_t most)
{
    size_t size;

    *reader = (struct clr_leaf_reader){.room = most + most / 4};
    size = reader->room * pages->source->page_size;
    reader->buffer = clr_memory_alloc(size + CLR_PAGE_SLACK);
    reader->where = clr_memory_alloc(most * sizeof *reader->where);
    reader->pages = clr_memory_alloc(most * sizeof *reader->pages);
    reader->leaves = clr_memory_alloc(most * sizeof *reader->leaves);
    if (!clr_decoder_init(&reader->decoder, pages, fields, field_count) || reader->buffer == NULL ||
        reader->where == NULL || reader->pages == NULL || reader->leaves == NULL)
        return clr_pages_no_memory(pages);
    memset(reader->buffer + size, 0, CLR_PAGE_SLACK);
    return CLR_LOAD_DONE;
}

void clr_leaf_reader_free(struct clr_leaf_reader *reader)
{
    clr_decoder_free(&reader->decoder);
    clr_memory_free(reader->buffer);
    clr_memory_free((void *)reader->where);
    clr_memory_free(reader->pages);
    clr_memory_free(reader->leaves);
}

/* Reads many pages with few reads, and stores where each is. Nothing is read that the source has in
   memory. */
static enum clr_load_outcome gather(struct clr_leaf_reader *reader, const uint32_t *numbers,
                                    size_t count)
{
    struct clr_pages *pages = reader->decoder.reader.pages;
    const struct clr_source *source = pages->source;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i = 0, used = 0;

    while (i < count && outcome == CLR_LOAD_DONE) {
        unsigned char *room = reader->buffer + used * source->page_size;
        uint32_t first = numbers[i], next = first + 1; /* the run's pages, and the one after */
        bool grows = clr_page_in_database(source, first);
        const unsigned char *start = room;
        size_t begin = i++;

        while (grows && i < count) {
            uint32_t number = numbers[i];

            /* The pages that are left must find room, too. A hole may lie in the log: the page
               after it is in the database file, which therefore has bytes there. */
            grows = number >= next && number - next <= WIDEST_HOLE &&
                    used + (number - first) + (count - i) <= reader->room &&
                    clr_page_in_database(source, number);
            if (grows) {
                i++;
                next = number + 1;
            }
        }
        outcome = clr_pages_fetch(pages, first, next - first, room, &start);
        for (; begin < i; begin++) {
            reader->where[begin] = start + (size_t)(numbers[begin] - first) * source->page_size;
            __builtin_prefetch(reader->where[begin]);
        }
        used += next - first;
    }
    return outcome;
}

/* Returns the flags that a page with rows has to have. */
static int flags_of(const struct clr_pages *pages, uint32_t number)
{
    if (!pages->source->is_index)
        return CLR_PAGE_TABLE_LEAF;
    return clr_page_set_has(pages->inner, number) ? CLR_PAGE_INDEX_INTERIOR : CLR_PAGE_INDEX_LEAF;
}

enum clr_load_outcome clr_leaf_reader_read(struct clr_leaf_reader *reader, const uint32_t *numbers,
                                           size_t count, bool is_only, size_t *rows)
{
    struct clr_pages *pages = reader->decoder.reader.pages;
    enum clr_load_outcome outcome = gather(reader, numbers, count);
    size_t i;

    reader->count = count;
    *rows = 0;
    for (i = 0; i < count && outcome == CLR_LOAD_DONE; i++) {
        outcome = clr_page_open(pages, numbers[i], reader->where[i], flags_of(pages, numbers[i]),
                                is_only, &reader->pages[i]);
        if (outcome == CLR_LOAD_DONE)
            *rows += reader->pages[i].cells;
        reader->leaves[i].number = numbers[i];
    }
    return outcome;
}

/* Has the processor fetch what a page is decoded from, if it was not copied and may be in no cache:
   the cells' first lines, or where cells are short all lines. An offset that is none does no harm.
   Without this, decoding such pages takes twice the time. */
static void fetch_page(const struct clr_page *page, uint32_t page_size)
{
    uint32_t i;

    if (page->cells >= page_size / (2 * LINE)) {
        for (i = 0; i < page_size; i += LINE)
            __builtin_prefetch(page->data + i);
        return;
    }
    for (i = 0; i < page->cells; i++) {
        const unsigned char *cell = page->data + clr_get_u16(page->pointers + 2 * (size_t)i);

        __builtin_prefetch(cell);
        __builtin_prefetch(cell + LINE);
    }
}

enum clr_load_outcome clr_leaf_reader_decode(struct clr_leaf_reader *reader)
{
    const struct clr_source *source = reader->decoder.reader.pages->source;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;

    for (i = 0; i < reader->count && outcome == CLR_LOAD_DONE; i++) {
        if (source->mapped != NULL && i + 1 < reader->count)
            fetch_page(&reader->pages[i + 1], source->page_size);
        outcome = clr_decode_leaf(&reader->decoder, &reader->pages[i], &reader->leaves[i]);
    }
    return outcome;
}

/* ---- Units. */

/* A unit's pages are read into a thread's buffer, small enough for a processor's own cache. */
enum {
    UNIT_BYTES = 256 * 1024,
    UNITS_LEAST = 32 /* a table with fewer leaves has smaller units */
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

struct clr_pages clr_units_pages(const struct clr_units *units)
{
    return (struct clr_pages){.source = units->source,
                              .visited = units->visited,
                              .inner = units->leaves.inner,
                              .watch = units->watch};
}

enum clr_load_outcome clr_units_note(struct clr_units *units, enum clr_load_outcome outcome,
                                     const struct clr_pages *pages)
{
    atomic_fetch_add(&units->bytes_read, pages->bytes_read);
    return clr_units_fail(units, outcome, pages->page, pages->code);
}

/* Puts the layout's leaves in the place of those that the walk has found, if they are the same. */
static bool follow_layout(struct clr_units *units, const struct clr_layout *layout)
{
    size_t i;

    if (layout->leaf_count != units->leaves.count)
        return false;
    for (i = 0; i < layout->leaf_count; i++) {
        uint32_t number = layout->leaves[i].number;

        if (!clr_page_set_has(units->visited, number))
            return false;
        units->leaves.numbers[i] = number;
    }
    units->layout = layout;
    return true;
}

/* Returns the leaf after the last one of a unit that begins with that one. */
static size_t end_unit(const struct clr_units *units, size_t first)
{
    size_t end = first + units->most_leaves, i;

    if (end > units->leaves.count)
        end = units->leaves.count;
    for (i = first + 1; i < end && units->layout != NULL && !units->source->is_index; i++) {
        if (units->layout->leaves[i].first <= units->layout->leaves[i - 1].last)
            return i;
    }
    return end;
}

static void make_units(struct clr_units *units)
{
    size_t first, end, i, row = 0;
    struct clr_unit *unit = units->units;

    for (first = 0; first < units->leaves.count; first = end, unit++) {
        end = end_unit(units, first);
        *unit = (struct clr_unit){.first = first, .count = end - first, .row = row, .place = first};
        for (i = first; i < end && units->layout != NULL; i++)
            unit->rows += units->layout->leaves[i].rows;
        row += unit->rows;
    }
}

/* Divides the leaves into units. */
static bool divide(struct clr_units *units, size_t most_leaves)
{
    size_t first;

    units->most_leaves = UNIT_BYTES / units->source->page_size;
    if (units->most_leaves > units->leaves.count / UNITS_LEAST + 1)
        units->most_leaves = units->leaves.count / UNITS_LEAST + 1;
    if (units->most_leaves > most_leaves)
        units->most_leaves = most_leaves;
    for (first = 0; first < units->leaves.count; first = end_unit(units, first))
        units->count++;
    units->units = clr_memory_alloc(units->count * sizeof *units->units);
    if (units->units == NULL)
        return false;
    make_units(units);
    units->threads = units->source->parallel ? clr_team_size() : 1;
    if (units->leaves.count < units->source->least_leaves)
        units->threads = 1;
    if ((size_t)units->threads > units->count)
        units->threads = (int)units->count;
    return true;
}

enum clr_load_outcome clr_units_find(struct clr_units *units, const struct clr_source *source,
                                     uint32_t root, const struct clr_field *fields, int count,
                                     size_t most_leaves, const struct clr_layout *layout,
                                     const struct clr_watch *watch)
{
    enum clr_load_outcome outcome;
    struct clr_pages pages;

    *units = (struct clr_units){.source = source, .field_count = count};
    atomic_init(&units->next, 0);
    atomic_init(&units->bytes_read, 0);
    atomic_init(&units->failed, false);
    units->visited = clr_page_set_new(source->page_count);
    if (units->visited == NULL)
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    pages = clr_units_pages(units);
    pages.watch = watch;
    outcome = clr_tree_leaves(&pages, root, &units->leaves);
    if (clr_units_note(units, outcome, &pages) != CLR_LOAD_DONE)
        return outcome;
    if (layout != NULL && layout->known && !follow_layout(units, layout))
        return clr_units_fail(units, CLR_LOAD_MALFORMED, root, 0);
    units->fields = clr_record_fields(fields, count);
    if (units->fields == NULL || !divide(units, most_leaves))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    return CLR_LOAD_DONE;
}

/* Units are in the order of keys, so their rowids have to ascend as well. */
static enum clr_load_outcome check_order(struct clr_units *units)
{
    size_t i;

    for (i = 1; i < units->count; i++) {
        const struct clr_unit *unit = &units->units[i];

        if (unit->least <= unit[-1].greatest)
            return clr_units_fail(units, CLR_LOAD_MALFORMED, units->leaves.numbers[unit->first], 0);
    }
    return CLR_LOAD_DONE;
}

struct run {
    struct clr_units *units;
    clr_units_work *work;
    void *argument;
};

static void run_thread(void *argument, int thread, const atomic_bool *stop)
{
    const struct run *run = argument;
    struct clr_units *units = run->units;
    struct clr_pages pages = clr_units_pages(units);
    struct clr_leaf_reader reader;
    enum clr_load_outcome outcome;

    pages.stop = stop;
    outcome = clr_leaf_reader_init(&reader, &pages, units->fields, units->field_count,
                                   units->most_leaves);
    if (outcome == CLR_LOAD_DONE)
        outcome = run->work(run->argument, thread, &reader);
    clr_units_note(units, outcome, &pages);
    clr_leaf_reader_free(&reader);
}

enum clr_load_outcome clr_units_run(struct clr_units *units, clr_units_work *work, void *argument,
                                    const struct clr_watch *watch)
{
    struct run run = {units, work, argument};

    if (units->threads == 1) {
        units->watch = watch;
        clr_team_run(1, run_thread, &run, NULL);
    } else if (!clr_team_run(units->threads, run_thread, &run, watch)) {
        clr_units_fail(units, CLR_LOAD_STOPPED, 0, 0);
    }
    if (atomic_load(&units->failed))
        return units->outcome;
    return units->layout == NULL && !units->source->is_index ? check_order(units) : CLR_LOAD_DONE;
}

bool clr_units_take(struct clr_units *units, size_t *i)
{
    if (atomic_load(&units->failed))
        return false;
    *i = atomic_fetch_add(&units->next, 1);
    return *i < units->count;
}

enum clr_load_outcome clr_unit_read(const struct clr_units *units, size_t i,
                                    struct clr_leaf_reader *reader, size_t *rows)
{
    const struct clr_unit *unit = &units->units[i];

    return clr_leaf_reader_read(reader, units->leaves.numbers + unit->first, unit->count,
                                units->leaves.count == 1, rows);
}

enum clr_load_outcome clr_unit_decode(const struct clr_units *units, size_t i,
                                      struct clr_leaf_reader *reader)
{
    struct clr_unit *unit = &units->units[i];
    enum clr_load_outcome outcome = clr_leaf_reader_decode(reader);

    if (outcome == CLR_LOAD_DONE) {
        unit->least = reader->leaves[0].first;
        unit->greatest = reader->leaves[unit->count - 1].last;
    }
    return outcome;
}

void clr_units_report(const struct clr_units *units, enum clr_load_outcome outcome,
                      struct clr_load_report *report, struct clr_status *status)
{
    *report = (struct clr_load_report){.bytes_read = atomic_load(&units->bytes_read),
                                       .page = outcome == CLR_LOAD_MALFORMED ? units->page : 0,
                                       .field = outcome == CLR_LOAD_MANY_VALUES ? units->code : 0};
    if (outcome == CLR_LOAD_FAILED && units->code == 0)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for the table's columns");
    else if (outcome == CLR_LOAD_FAILED)
        clr_status_set(status, CLR_IO, units->code, "reading page %u: result code %d",
                       (unsigned)units->page, units->code);
}

void clr_units_free(struct clr_units *units)
{
    clr_page_list_free(&units->leaves);
    clr_memory_free(units->units);
    clr_memory_free(units->fields);
    clr_page_set_free(units->visited);
}
