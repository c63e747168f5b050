#include "storage/refresh/fresh.h"

#include "base/memory.h"

#include <string.h>

static bool make_columns(struct clr_fresh *fresh, size_t rows)
{
    size_t size = ((size_t)fresh->count + 1) * sizeof(struct clr_column *);
    int k;

    fresh->columns = clr_memory_alloc(size);
    if (fresh->columns == NULL)
        return false;
    memset((void *)fresh->columns, 0, size);
    for (k = 0; k < fresh->count; k++) {
        struct clr_column *column = clr_column_new(rows);

        if (column == NULL)
            return false;
        fresh->columns[k] = column;
        fresh->decoder.targets[k] = (struct clr_target){
            .values = column->values, .tags = column->tags, .kind = CLR_TAG_NULL};
        fresh->decoder.bytes[k] = &column->bytes;
        column->bytes.left = &fresh->left;
    }
    return true;
}

bool clr_fresh_init(struct clr_fresh *fresh, struct clr_pages *pages,
                    const struct clr_field *fields, int count, size_t room, size_t most_bytes)
{
    size_t page_size = pages->source->page_size;

    *fresh = (struct clr_fresh){.count = count, .room = room};
    atomic_init(&fresh->left,
                most_bytes == 0 || most_bytes > INT64_MAX ? INT64_MAX : (int64_t)most_bytes);
    fresh->page = clr_memory_alloc(page_size + CLR_PAGE_SLACK);
    fresh->leaves = clr_memory_alloc(room * sizeof *fresh->leaves);
    fresh->at = clr_memory_alloc(room * sizeof *fresh->at);
    fresh->wants = clr_field_wants(fields, count);
    if (fresh->page == NULL || fresh->leaves == NULL || fresh->at == NULL || fresh->wants == NULL ||
        !clr_decoder_init(&fresh->decoder, pages, fresh->wants, count))
        return false;
    memset(fresh->page + page_size, 0, CLR_PAGE_SLACK);
    clr_decoder_begin(&fresh->decoder);
    /* clr_page_open() lets no page have more cells. What no row touches costs addresses only. */
    return make_columns(fresh, room * ((page_size - 8) / 6));
}

void clr_fresh_free(struct clr_fresh *fresh)
{
    int k;

    for (k = 0; k < fresh->count && fresh->columns != NULL; k++)
        clr_column_release(fresh->columns[k]);
    clr_memory_free((void *)fresh->columns);
    clr_decoder_free(&fresh->decoder);
    clr_memory_free(fresh->wants);
    clr_memory_free(fresh->leaves);
    clr_memory_free(fresh->at);
    clr_memory_free(fresh->page);
}

enum clr_load_outcome clr_fresh_add(struct clr_fresh *fresh, uint32_t number, bool is_only)
{
    struct clr_pages *pages = fresh->decoder.reader.pages;
    enum clr_load_outcome outcome;
    struct clr_page page;

    if (fresh->leaf_count == fresh->room)
        return CLR_LOAD_TOO_LARGE;
    outcome = clr_pages_read(pages, number, 1, fresh->page);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_page_open(pages, number, fresh->page, CLR_PAGE_TABLE_LEAF, is_only, &page);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    fresh->at[fresh->leaf_count] = fresh->decoder.rows;
    return clr_decode_leaf(&fresh->decoder, number, &page, &fresh->leaves[fresh->leaf_count++]);
}

void clr_fresh_end(struct clr_fresh *fresh)
{
    int k;

    for (k = 0; k < fresh->count; k++) {
        fresh->columns[k]->kind = fresh->decoder.targets[k].kind;
        fresh->columns[k]->rows = fresh->decoder.rows;
        fresh->columns[k]->with_bytes = fresh->wants[k].with_bytes;
    }
}
