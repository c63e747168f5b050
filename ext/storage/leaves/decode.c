#include "storage/leaves/decode.h"

#include "base/memory.h"
#include "storage/leaves/cell_values.h"
#include "storage/leaves/simple_cell.h"

/*
 * Most cells are simple (simple_cell.h); what is not simple, or not sound, is left to
 * clr_record_read(), which does without such conditions.
 *
 * Most simple cells are like others before: their records' shape is known, and the rowid is as long
 * as the last one. Such cells are found a block at a time, and then each column is taken from them.
 *
 * Cells of an index have no rowid, and no order that could be checked without its collations: which
 * rows there are is all that counts.
 */

enum { PAGES_WITHOUT_SHAPES = 31 }; /* once most rows of a page had none that was known */

/* Says why a row has no code. */
static enum clr_load_outcome no_code(struct clr_decoder *decoder, int k)
{
    const struct clr_target *target = &decoder->targets[k];

    if (target->code != CLR_LIMIT)
        return clr_pages_no_memory(decoder->reader.pages);
    if (target->dictionary->count < CLR_DICTIONARY_MOST)
        return CLR_LOAD_TOO_LARGE;
    decoder->full = decoder->fields[k].position;
    return CLR_LOAD_MANY_VALUES;
}

/* Whether all bytes and codes could be added so far. */
static enum clr_load_outcome check_bytes(struct clr_decoder *decoder)
{
    int k;

    for (k = 0; k < decoder->count; k++) {
        if (decoder->targets[k].code != CLR_OK)
            return no_code(decoder, k);
        if (decoder->fields[k].with_bytes && decoder->bytes[k]->code != CLR_OK)
            return clr_record_no_bytes(decoder->reader.pages, decoder->bytes[k]);
    }
    return CLR_LOAD_DONE;
}

/* Whether the rows from that one on have a NULL. A dictionary that is filled here has no entry that
   no row has. */
static bool has_null(const struct clr_target *target, size_t row, size_t rows)
{
    if (target->codes != NULL)
        return target->dictionary->has_null;
    return target->kind == CLR_TAG_NULL || (target->kind == CLR_TAG_MIXED &&
                                            memchr(target->tags + row, CLR_TAG_NULL, rows) != NULL);
}

/* Whether the rows from that one on have no NULL where there may be none. */
static enum clr_load_outcome check_nulls(const struct clr_decoder *decoder, size_t row)
{
    const size_t rows = decoder->rows - row;
    int k;

    for (k = 0; k < decoder->count && rows > 0; k++) {
        if (decoder->fields[k].never_null && has_null(&decoder->targets[k], row, rows))
            return CLR_LOAD_UNSURE;
    }
    return CLR_LOAD_DONE;
}

/* Makes what fields with codes need. */
static bool prepare_codes(struct clr_decoder *decoder)
{
    int k;

    for (k = 0; k < decoder->count; k++) {
        if (!decoder->fields[k].with_codes)
            continue;
        decoder->bytes[k] = &decoder->passing;
        decoder->caches[k] = clr_memory_alloc_zero(sizeof *decoder->caches[k]);
        if (decoder->caches[k] == NULL)
            return false;
    }
    return true;
}

bool clr_decoder_init(struct clr_decoder *decoder, struct clr_pages *pages,
                      const struct clr_field *fields, int count)
{
    int i;

    *decoder = (struct clr_decoder){.fields = fields, .count = count};
    clr_record_reader_init(&decoder->reader, pages);
    decoder->targets = clr_memory_alloc(((size_t)count + 1) * sizeof *decoder->targets);
    decoder->values = clr_memory_alloc(((size_t)count + 1) * sizeof *decoder->values);
    decoder->bytes = clr_memory_alloc(((size_t)count + 1) * sizeof(struct clr_bytes *));
    decoder->reader.bytes = decoder->bytes;
    decoder->caches = clr_memory_alloc_zero(((size_t)count + 1) * sizeof(struct clr_code_cache *));
    for (i = 0; i < count; i++) {
        decoder->with_bytes = decoder->with_bytes || clr_field_wants_bytes(&fields[i]);
        decoder->never_null = decoder->never_null || fields[i].never_null;
    }
    return clr_shapes_init(&decoder->shapes, fields, count, decoder->reader.max_local) &&
           decoder->targets != NULL && decoder->values != NULL && decoder->bytes != NULL &&
           decoder->caches != NULL && prepare_codes(decoder);
}

void clr_decoder_free(struct clr_decoder *decoder)
{
    int k;

    for (k = 0; k < decoder->count && decoder->caches != NULL; k++)
        clr_memory_free(decoder->caches[k]);
    clr_memory_free((void *)decoder->caches);
    clr_record_reader_free(&decoder->reader);
    clr_memory_free(decoder->targets);
    clr_memory_free(decoder->values);
    clr_memory_free((void *)decoder->bytes);
    clr_bytes_free(&decoder->passing);
    clr_shapes_free(&decoder->shapes);
}

void clr_decoder_begin(struct clr_decoder *decoder)
{
    decoder->rows = 0;
    clr_order_init(&decoder->order);
}

void clr_decoder_begin_columns(struct clr_decoder *decoder, struct clr_column *const *columns)
{
    int k;

    clr_decoder_begin(decoder);
    for (k = 0; k < decoder->count; k++) {
        struct clr_column *column = columns[decoder->fields[k].position];

        decoder->targets[k] = clr_target_at(column, 0);
        decoder->targets[k].cache = decoder->caches[k];
        if (!decoder->fields[k].with_codes)
            decoder->bytes[k] = &column->bytes;
    }
}

void clr_decoder_end_columns(const struct clr_decoder *decoder, struct clr_column *const *columns)
{
    int k;

    for (k = 0; k < decoder->count; k++) {
        struct clr_column *column = columns[decoder->fields[k].position];

        column->kind = decoder->targets[k].kind; /* of codes CLR_TAG_MIXED, as it was */
        column->rows = decoder->rows;
        column->with_bytes = decoder->fields[k].with_bytes;
    }
}

/* Decodes the cell, of a table if its rowid is long, or by the general way. */
static __attribute__((noinline)) enum clr_load_outcome decode_other(struct clr_decoder *decoder,
                                                                    uint32_t number,
                                                                    const struct clr_page *page,
                                                                    uint32_t offset, size_t row)
{
    struct clr_pages *pages = decoder->reader.pages;
    struct clr_cell_loop loop = {decoder->fields,
                                 decoder->targets,
                                 decoder->bytes,
                                 page->data + pages->source->usable_size,
                                 decoder->reader.max_local,
                                 decoder->order};
    const bool is_index = pages->source->is_index;
    const unsigned char *cell = page->data + offset;
    enum clr_load_outcome outcome;
    int64_t rowid;
    int i;

    if (is_index ? clr_simple_cell_decode(&loop, cell, decoder->count, row, CLR_ROWIDS_NONE,
                                          decoder->with_bytes)
                 : clr_simple_cell_decode(&loop, cell, decoder->count, row, CLR_ROWIDS_LONG,
                                          decoder->with_bytes)) {
        decoder->order = loop.order;
        return CLR_LOAD_DONE;
    }
    outcome = clr_record_read(&decoder->reader, number, page->data, offset, decoder->fields,
                              decoder->count, &rowid, decoder->values);
    for (i = 0; i < decoder->count && outcome == CLR_LOAD_DONE; i++)
        clr_target_put_record(&decoder->targets[i], row, decoder->values[i]);
    if (decoder->passing.blocks != NULL)
        clr_bytes_clear(&decoder->passing);
    if (outcome == CLR_LOAD_DONE && !is_index && !clr_order_take(&decoder->order, rowid, row == 0))
        return clr_page_malformed(pages, number);
    return outcome;
}

static inline __attribute__((always_inline)) enum clr_load_outcome
decode_cells(struct clr_decoder *decoder, uint32_t number, const struct clr_page *page,
             const struct clr_field *fields, struct clr_target *targets, int count,
             enum clr_cell_rowids rowids, bool with_bytes)
{
    struct clr_pages *pages = decoder->reader.pages;
    struct clr_cell_loop loop = {fields,
                                 targets,
                                 decoder->bytes,
                                 page->data + pages->source->usable_size,
                                 decoder->reader.max_local,
                                 decoder->order};
    size_t row = decoder->rows, end = row + page->cells;
    const unsigned char *pointer = page->pointers;

    for (; row < end; row++, pointer += 2) {
        uint32_t offset = clr_get_u16(pointer);
        enum clr_load_outcome outcome;

        if (offset - page->first > page->last - page->first)
            return clr_page_malformed(pages, number);
        if (rowids == CLR_ROWIDS_NONE)
            offset += page->child;
        if (__builtin_expect(
                clr_simple_cell_decode(&loop, page->data + offset, count, row, rowids, with_bytes),
                1))
            continue;
        if (count == 1)
            decoder->targets[0] = targets[0];
        decoder->order = loop.order;
        outcome = decode_other(decoder, number, page, offset, row);
        if (outcome != CLR_LOAD_DONE)
            return outcome;
        if (count == 1)
            targets[0] = decoder->targets[0];
        loop.order = decoder->order;
    }
    if (count == 1)
        decoder->targets[0] = targets[0];
    decoder->order = loop.order;
    decoder->rows = row;
    return CLR_LOAD_DONE;
}

/* Decodes the cells of a leaf by their shapes, and learns those that it does not know. */
static enum clr_load_outcome decode_by_shape(struct clr_decoder *decoder, uint32_t number,
                                             const struct clr_page *page)
{
    const unsigned char *pointer = page->pointers;
    const bool is_index = decoder->reader.pages->source->is_index;
    size_t row = decoder->rows, end = row + page->cells, others = 0;
    struct clr_cells block;
    int k;

    while (row < end) {
        size_t most = end - row < CLR_CELLS_MOST ? end - row : CLR_CELLS_MOST;
        enum clr_load_outcome outcome;
        uint32_t offset;
        int64_t rowid;

        block.rows = 0;
        if (is_index || clr_order_has_key(&decoder->order))
            clr_cells_find(&block, &decoder->shapes, is_index ? NULL : &decoder->order, page,
                           decoder->reader.pages->source->usable_size, pointer, most);
        for (k = 0; k < decoder->count && block.rows > 0; k++)
            clr_cells_take(&block, &decoder->shapes, k, &decoder->targets[k], decoder->bytes[k],
                           row);
        row += block.rows;
        pointer += 2 * block.rows;
        if (block.rows == most)
            continue;
        offset = clr_get_u16(pointer);
        if (offset - page->first > page->last - page->first)
            return clr_page_malformed(decoder->reader.pages, number);
        outcome = decode_other(decoder, number, page, offset, row);
        if (outcome != CLR_LOAD_DONE)
            return outcome;
        clr_shapes_learn(&decoder->shapes, is_index ? clr_page_open_index_cell(page, offset)
                                                    : clr_page_open_cell(page, offset, &rowid));
        row++;
        pointer += 2;
        others++;
    }
    decoder->rows = row;
    if (others > page->cells / 2)
        decoder->pages_without_shapes = PAGES_WITHOUT_SHAPES;
    return CLR_LOAD_DONE;
}

/* Decodes the cells of a page, whatever way is the best. */
static enum clr_load_outcome decode_page(struct clr_decoder *decoder, uint32_t number,
                                         const struct clr_page *page)
{
    if (decoder->shapes.mask.first != 0 && decoder->pages_without_shapes == 0 && page->child == 0)
        return decode_by_shape(decoder, number, page);
    if (decoder->pages_without_shapes > 0)
        decoder->pages_without_shapes--;
    if (decoder->reader.pages->source->is_index)
        return decode_cells(decoder, number, page, decoder->fields, decoder->targets,
                            decoder->count, CLR_ROWIDS_NONE, true);
    if (decoder->with_bytes)
        return decode_cells(decoder, number, page, decoder->fields, decoder->targets,
                            decoder->count, CLR_ROWIDS_SHORT, true);
    if (decoder->count == 1) {
        struct clr_field field = decoder->fields[0];
        struct clr_target target = decoder->targets[0];

        return decode_cells(decoder, number, page, &field, &target, 1, CLR_ROWIDS_SHORT, false);
    }
    return decode_cells(decoder, number, page, decoder->fields, decoder->targets, decoder->count,
                        CLR_ROWIDS_SHORT, false);
}

enum clr_load_outcome clr_decode_leaf(struct clr_decoder *decoder, const struct clr_page *page,
                                      struct clr_leaf *leaf)
{
    const uint64_t followed = decoder->reader.followed;
    const size_t row = decoder->rows;
    enum clr_load_outcome outcome = decode_page(decoder, leaf->number, page);

    if (outcome == CLR_LOAD_DONE && decoder->with_bytes)
        outcome = check_bytes(decoder);
    if (outcome == CLR_LOAD_DONE && decoder->never_null)
        outcome = check_nulls(decoder, row);
    leaf->first = leaf->last = 0;
    leaf->rows = (uint16_t)page->cells;
    leaf->is_chained = decoder->reader.followed != followed;
    if (outcome == CLR_LOAD_DONE && page->cells > 0 && !decoder->reader.pages->source->is_index) {
        clr_page_open_cell(page, clr_get_u16(page->pointers), &leaf->first); /* is sound */
        leaf->last = clr_order_last(&decoder->order);
    }
    return outcome;
}
