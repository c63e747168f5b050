#include "storage/format/page.h"

#include <stddef.h>

enum {
    WAL_HEADER = 32,
    WAL_FRAME_HEADER = 24,
    LEAST_CELL = 4 /* bytes that a cell takes at least, as SQLite has it */
};

/* Atomic operations cost more than all else that is done for a page: neighbours share one. */
enum clr_load_outcome clr_pages_visit(struct clr_pages *pages, const uint32_t *numbers,
                                      size_t count)
{
    const struct clr_source *source = pages->source;
    uint32_t last = source->page_count, lock = clr_lock_page(source);
    size_t i = 0;

    while (i < count) {
        uint32_t word = numbers[i] / CLR_PAGE_SET_WORD;
        unsigned bits = 0;

        for (; i < count && numbers[i] / CLR_PAGE_SET_WORD == word; i++) {
            unsigned bit = 1U << numbers[i] % CLR_PAGE_SET_WORD;

            if (numbers[i] == 0 || numbers[i] > last || numbers[i] == lock || (bits & bit) != 0)
                return clr_page_malformed(pages, numbers[i]);
            bits |= bit;
        }
        if (!clr_page_set_add_word(pages->visited, word, bits, &bits))
            return clr_pages_no_memory(pages);
        if (bits != 0)
            return clr_page_malformed(pages,
                                      word * CLR_PAGE_SET_WORD + (uint32_t)__builtin_ctz(bits));
    }
    return CLR_LOAD_DONE;
}

static bool wants_stop(struct clr_pages *pages)
{
    return (pages->stop != NULL && atomic_load_explicit(pages->stop, memory_order_relaxed)) ||
           clr_watch_wants_stop(pages->watch, &pages->asked_at);
}

enum clr_load_outcome clr_pages_read(struct clr_pages *pages, uint32_t number, uint32_t count,
                                     unsigned char *buffer)
{
    const struct clr_source *source = pages->source;
    int64_t page_size = source->page_size;
    enum clr_file file = CLR_FILE_DATABASE;
    int64_t offset = (int64_t)(number - 1) * page_size;
    uint32_t frame = source->log == NULL ? 0 : clr_wal_map_find(source->log, number);

    if (wants_stop(pages))
        return CLR_LOAD_STOPPED;
    if (frame != 0) {
        file = CLR_FILE_WAL;
        offset =
            WAL_HEADER + WAL_FRAME_HEADER + (int64_t)(frame - 1) * (WAL_FRAME_HEADER + page_size);
    }
    pages->code =
        source->read(source->context, file, buffer, (size_t)count * source->page_size, offset);
    if (pages->code != 0) {
        pages->page = number;
        return CLR_LOAD_FAILED;
    }
    pages->bytes_read += count * page_size;
    return CLR_LOAD_DONE;
}

enum clr_load_outcome clr_pages_fetch(struct clr_pages *pages, uint32_t number, uint32_t count,
                                      unsigned char *buffer, const unsigned char **where)
{
    const struct clr_source *source = pages->source;
    const size_t page_size = source->page_size;

    *where = buffer;
    if (source->mapped == NULL || number > source->mapped_pages ||
        count > source->mapped_pages - number + 1 || !clr_page_in_database(source, number))
        return clr_pages_read(pages, number, count, buffer);
    if (wants_stop(pages))
        return CLR_LOAD_STOPPED;
    *where = source->mapped + (number - 1) * page_size;
    pages->bytes_read += (int64_t)(count * page_size);
    return CLR_LOAD_DONE;
}

/* Section 1.6, "B-tree Page Header Format". */
enum clr_load_outcome clr_page_open(struct clr_pages *pages, uint32_t number,
                                    const unsigned char *data, int flags, bool may_be_empty,
                                    struct clr_page *page)
{
    const struct clr_source *source = pages->source;
    const unsigned char *header = data + (number == 1 ? 100 : 0);
    const bool is_interior = flags == CLR_PAGE_TABLE_INTERIOR || flags == CLR_PAGE_INDEX_INTERIOR;
    uint32_t header_size = is_interior ? 12 : 8;

    page->data = data;
    page->pointers = header + header_size;
    page->cells = clr_get_u16(header + 3);
    page->right = is_interior ? clr_get_u32(header + 8) : 0;
    page->child = flags == CLR_PAGE_INDEX_INTERIOR ? 4 : 0;
    page->first = (uint32_t)(page->pointers - data) + 2 * page->cells;
    page->last = source->usable_size - LEAST_CELL;
    if (header[0] != flags || (page->cells == 0 && !may_be_empty) ||
        page->cells > clr_page_most_cells(source) || page->first > page->last)
        return clr_page_malformed(pages, number);
    return CLR_LOAD_DONE;
}
