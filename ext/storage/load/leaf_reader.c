#include "storage/load/leaf_reader.h"

#include "base/memory.h"

#include <string.h>

enum clr_load_outcome clr_leaf_reader_init(struct clr_leaf_reader *reader, struct clr_units *units,
                                           const struct clr_watch *watch)
{
    size_t most = clr_page_most_cells(units->source), count = (size_t)units->want_count, i;
    unsigned char *room;

    *reader = (struct clr_leaf_reader){.units = units};
    reader->pages =
        (struct clr_pages){.source = units->source, .visited = units->visited, .watch = watch};
    reader->page = clr_memory_alloc(units->source->page_size + (size_t)CLR_PAGE_SLACK);
    reader->targets = clr_memory_alloc(count * (sizeof *reader->targets + most * 9));
    if (!clr_decoder_init(&reader->decoder, &reader->pages, units->wants, units->want_count) ||
        reader->page == NULL || reader->targets == NULL)
        return clr_pages_no_memory(&reader->pages);
    memset(reader->page + units->source->page_size, 0, CLR_PAGE_SLACK);
    room = (unsigned char *)(reader->targets + count);
    for (i = 0; i < count; i++) {
        reader->targets[i].values = (int64_t *)(void *)(room + i * most * 8);
        reader->targets[i].tags = room + count * most * 8 + i * most;
    }
    return CLR_LOAD_DONE;
}

void clr_leaf_reader_free(struct clr_leaf_reader *reader)
{
    atomic_fetch_add(&reader->units->bytes_read, reader->pages.bytes_read);
    clr_decoder_free(&reader->decoder);
    clr_memory_free(reader->targets);
    clr_memory_free(reader->page);
}

enum clr_load_outcome clr_leaf_reader_read(struct clr_leaf_reader *reader, uint32_t number)
{
    struct clr_decoder *decoder = &reader->decoder;
    struct clr_page page;
    enum clr_load_outcome outcome = clr_pages_read(&reader->pages, number, 1, reader->page);
    int k;

    if (outcome == CLR_LOAD_DONE)
        outcome =
            clr_page_open(&reader->pages, number, reader->page, CLR_PAGE_TABLE_LEAF, false, &page);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    clr_decoder_begin(decoder);
    for (k = 0; k < decoder->count; k++) {
        decoder->targets[k] = reader->targets[k];
        decoder->targets[k].kind = CLR_TAG_NULL;
    }
    return clr_decode_leaf(decoder, number, &page, &reader->leaf);
}
