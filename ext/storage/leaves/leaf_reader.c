#include "storage/leaves/leaf_reader.h"

#include "base/memory.h"

#include <string.h>

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
