#include "storage/load/decode.h"

#include "base/memory.h"
#include "storage/format/cells.h"

/*
 * Most cells are plain: a payload below 128 bytes, all in the leaf, whose header has one byte for
 * its own size and for each serial type up to the last wanted. They are decoded right here; what is
 * not plain, or not sound, is left to clr_record_read(), which does without such conditions.
 *
 * Most plain cells are like others before: their records' shape is known, and the rowid is as long
 * as the last one. Such cells are found a block at a time, and then each column is taken from them.
 */

enum { PLAIN_PAGES = 32 }; /* to be decoded without shapes once most rows of a page had none */

/* Stores a row's value. */
static inline __attribute__((always_inline)) void put(struct clr_target *target, size_t row,
                                                      struct clr_scalar value)
{
    target->values[row] = value.bits;
    if (value.tag == target->kind)
        return;
    if (row == 0) {
        target->kind = value.tag;
        return;
    }
    if (target->kind != CLR_TAG_MIXED) {
        memset(target->tags, target->kind, row);
        target->kind = CLR_TAG_MIXED;
    }
    target->tags[row] = value.tag;
}

/* Stores a row's value whose one-byte serial type is that of a TEXT or BLOB. Failures are for
   check_bytes(). */
static void put_bytes(struct clr_target *target, size_t row, uint32_t type,
                      const unsigned char *from, struct clr_bytes *bytes)
{
    struct clr_scalar value = {.tag = CLR_TAG_OTHER};
    uint32_t size = clr_serial_sizes[type];
    unsigned char *to =
        clr_bytes_add(bytes, type % 2 != 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB, size, &value.bits);

    if (to != NULL)
        memcpy(to, from, size);
    put(target, row, value);
}

/* Whether all bytes could be added so far. */
static enum clr_load_outcome check_bytes(const struct clr_decoder *decoder)
{
    int k;

    for (k = 0; k < decoder->count; k++) {
        if (decoder->wants[k].with_bytes && decoder->bytes[k]->code != CLR_OK)
            return clr_record_no_bytes(decoder->reader.pages, decoder->bytes[k]);
    }
    return CLR_LOAD_DONE;
}

/* Whether the rows from that one on have no NULL where there may be none. */
static enum clr_load_outcome check_nulls(const struct clr_decoder *decoder, size_t row)
{
    const size_t rows = decoder->rows - row;
    int k;

    for (k = 0; k < decoder->count && rows > 0; k++) {
        const struct clr_target *target = &decoder->targets[k];

        if (decoder->wants[k].never_null &&
            (target->kind == CLR_TAG_NULL ||
             (target->kind == CLR_TAG_MIXED &&
              memchr(target->tags + row, CLR_TAG_NULL, rows) != NULL)))
            return CLR_LOAD_UNSURE;
    }
    return CLR_LOAD_DONE;
}

bool clr_decoder_init(struct clr_decoder *decoder, struct clr_pages *pages,
                      const struct clr_want *wants, int count)
{
    int i;

    *decoder = (struct clr_decoder){.wants = wants, .count = count};
    clr_record_reader_init(&decoder->reader, pages);
    decoder->targets = clr_memory_alloc(((size_t)count + 1) * sizeof *decoder->targets);
    decoder->values = clr_memory_alloc(((size_t)count + 1) * sizeof *decoder->values);
    decoder->bytes = clr_memory_alloc(((size_t)count + 1) * sizeof(struct clr_bytes *));
    decoder->reader.bytes = decoder->bytes;
    for (i = 0; i < count; i++) {
        decoder->with_bytes = decoder->with_bytes || wants[i].with_bytes;
        decoder->never_null = decoder->never_null || wants[i].never_null;
    }
    return clr_shapes_init(&decoder->shapes, wants, count) && decoder->targets != NULL &&
           decoder->values != NULL && decoder->bytes != NULL;
}

void clr_decoder_free(struct clr_decoder *decoder)
{
    clr_record_reader_free(&decoder->reader);
    clr_memory_free(decoder->targets);
    clr_memory_free(decoder->values);
    clr_memory_free((void *)decoder->bytes);
    clr_shapes_free(&decoder->shapes);
}

void clr_decoder_begin(struct clr_decoder *decoder)
{
    decoder->rows = 0;
    decoder->first = 0;
    clr_order_init(&decoder->order);
}

/* What the inner loop changes, in registers where there is one column. */
struct loop {
    const struct clr_want *wants;
    struct clr_target *targets;
    struct clr_bytes *const *bytes;
    const unsigned char *limit; /* the end of the page's content */
    struct clr_order order;
};

/*
 * Decodes the cell as a row of the targets, if it is plain and sound and comes after those before.
 * Rowids are long or short, as clr_order_get_key() has them.
 */
static inline __attribute__((always_inline)) bool decode_plain(struct loop *loop,
                                                               const unsigned char *cell, int count,
                                                               size_t row, bool is_long,
                                                               bool with_bytes)
{
    const unsigned char *payload, *types, *types_end;
    uint32_t size = cell[0], header_size, type = 0, body, next;
    uint64_t number;
    int64_t rowid = 0, key = 0;
    int i, index = -1; /* of the column that type and body are of */

    if (is_long) {
        payload = clr_get_varint(cell + 1, &number);
        rowid = (int64_t)number;
    } else {
        payload = clr_order_get_key(cell + 1, &key);
    }
    if (size - 2 >= CLR_SERIAL_ONE_BYTE - 2 || payload == NULL || payload + size > loop->limit)
        return false;
    header_size = payload[0];
    if (header_size - 2 > size - 2)
        return false;
    types = payload + 1;
    types_end = payload + header_size;
    body = header_size;
    for (i = 0; i < count; i++) {
        const struct clr_want *want = &loop->wants[i];

        if (want->index == CLR_WANT_ROWID) {
            put(&loop->targets[i], row,
                (struct clr_scalar){.tag = CLR_TAG_INTEGER,
                                    .bits = is_long ? rowid : clr_order_rowid(key)});
            continue;
        }
        if (want->index > index) {
            if (types_end - types < want->index - index)
                return false;
            for (; index < want->index; index++) {
                body += clr_serial_sizes[type];
                type = *types++;
            }
            next = body + clr_serial_sizes[type];
            if (next > size || (types == types_end && next != size))
                return false;
        }
        if (with_bytes && want->with_bytes && clr_serials[type].tag == CLR_TAG_OTHER) {
            put_bytes(&loop->targets[i], row, type, payload + body, loop->bytes[i]);
            continue;
        }
        put(&loop->targets[i], row,
            clr_serial_value(&clr_serials[type], payload + body, want->is_real));
    }
    if (is_long)
        return clr_order_take(&loop->order, rowid, row == 0);
    return clr_order_take_key(&loop->order, key);
}

/* Decodes the cell if its rowid is long, or by the general way. */
static __attribute__((noinline)) enum clr_load_outcome decode_other(struct clr_decoder *decoder,
                                                                    uint32_t number,
                                                                    const struct clr_page *page,
                                                                    uint32_t offset, size_t row)
{
    struct clr_pages *pages = decoder->reader.pages;
    struct loop loop = {decoder->wants, decoder->targets, decoder->bytes,
                        page->data + pages->source->usable_size, decoder->order};
    enum clr_load_outcome outcome;
    int64_t rowid;
    int i;

    if (decode_plain(&loop, page->data + offset, decoder->count, row, true, decoder->with_bytes)) {
        decoder->order = loop.order;
        return CLR_LOAD_DONE;
    }
    outcome = clr_record_read(&decoder->reader, number, page->data, offset, decoder->wants,
                              decoder->count, &rowid, decoder->values);
    for (i = 0; i < decoder->count && outcome == CLR_LOAD_DONE; i++)
        put(&decoder->targets[i], row, decoder->values[i]);
    if (outcome == CLR_LOAD_DONE && !clr_order_take(&decoder->order, rowid, row == 0))
        return clr_page_malformed(pages, number);
    return outcome;
}

static inline __attribute__((always_inline)) enum clr_load_outcome
decode_cells(struct clr_decoder *decoder, uint32_t number, const struct clr_page *page,
             const struct clr_want *wants, struct clr_target *targets, int count, bool with_bytes)
{
    struct clr_pages *pages = decoder->reader.pages;
    struct loop loop = {wants, targets, decoder->bytes, page->data + pages->source->usable_size,
                        decoder->order};
    size_t row = decoder->rows, end = row + page->cells;
    const unsigned char *pointer = page->pointers;

    for (; row < end; row++, pointer += 2) {
        uint32_t offset = clr_get_u16(pointer);
        enum clr_load_outcome outcome;

        if (offset - page->first > page->last - page->first)
            return clr_page_malformed(pages, number);
        if (__builtin_expect(
                decode_plain(&loop, page->data + offset, count, row, false, with_bytes), 1))
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

typedef double reals __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t masks __attribute__((vector_size(16)));

/* Returns whether one of the REALs is not a number: such a one differs from itself. */
static bool has_nan(const int64_t *values, size_t count)
{
    masks differ = {0, 0};
    size_t i;

    for (i = 0; i + 2 <= count; i += 2) {
        reals two = *(const reals *)(values + i);

        differ |= two != two;
    }
    return (differ[0] | differ[1]) != 0 || (i < count && clr_real_is_nan((uint64_t)values[i]));
}

/* Takes REALs. Returns how many; none if one of them is not a number. */
static size_t take_reals(const struct clr_cells *block, uint32_t at, int64_t *to)
{
    const unsigned char *values = block->payloads + at;
    size_t i, rows = block->rows;

    for (i = 0; i + 2 <= rows; i += 2) {
        to[i] = (int64_t)clr_get_u64(values + block->offsets[i]);
        to[i + 1] = (int64_t)clr_get_u64(values + block->offsets[i + 1]);
    }
    if (i < rows)
        to[i] = (int64_t)clr_get_u64(values + block->offsets[i]);
    return has_nan(to, rows) ? 0 : rows;
}

static size_t take_integers(const struct clr_cells *block, struct clr_place place, int64_t *to)
{
    const unsigned char *values = block->payloads + place.at;
    size_t i, rows = block->rows;
    int shift = clr_serials[place.type].shift;

    for (i = 0; i < rows; i++)
        to[i] = (int64_t)clr_get_u64(values + block->offsets[i]) >> shift;
    return rows;
}

static void take_rowids(const struct clr_cells *block, uint32_t bytes, struct clr_target *target,
                        size_t row)
{
    size_t i;

    for (i = 0; i < block->rows; i++) {
        const unsigned char *payload = block->payloads + block->offsets[i];
        int64_t key = (int64_t)(clr_get_u64(payload - bytes) >> (64 - 8 * bytes));

        put(target, row + i,
            (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = clr_order_rowid(key)});
    }
}

/* Takes values of a column with bytes, from row i of the block on. Not inlined, so that columns
   without are none the slower. */
static __attribute__((noinline)) void take_with_bytes(const struct clr_decoder *decoder,
                                                      const struct clr_cells *block, int k,
                                                      size_t row, size_t i)
{
    const struct clr_place *places = decoder->shapes.places + (size_t)k * CLR_SHAPES;
    struct clr_target *target = &decoder->targets[k];

    for (; i < block->rows; i++) {
        struct clr_place place = places[block->slots[i]];
        const unsigned char *from = block->payloads + block->offsets[i] + place.at;

        if (clr_serials[place.type].tag == CLR_TAG_OTHER)
            put_bytes(target, row + i, place.type, from, decoder->bytes[k]);
        else
            put(target, row + i,
                clr_serial_value(&clr_serials[place.type], from, decoder->wants[k].is_real));
    }
}

/* Takes a column's values from the block, as rows from row on. */
static void take_column(const struct clr_decoder *decoder, const struct clr_cells *block, int k,
                        size_t row)
{
    const struct clr_place *places = decoder->shapes.places + (size_t)k * CLR_SHAPES;
    const struct clr_want *want = &decoder->wants[k];
    struct clr_target *target = &decoder->targets[k];
    const unsigned char *payloads = block->payloads; /* copies, as in clr_cells_find() */
    const size_t rows = block->rows;
    const bool is_real = want->is_real;
    size_t i = 0;

    if (want->index == CLR_WANT_ROWID) {
        take_rowids(block, clr_order_key_bytes(&decoder->order), target, row);
        return;
    }
    if (block->is_uniform) {
        struct clr_place place = places[decoder->shapes.slot];
        const struct clr_serial *serial = &clr_serials[place.type];

        if (serial->tag == CLR_TAG_REAL && target->kind == CLR_TAG_REAL)
            i = take_reals(block, place.at, target->values + row);
        else if (serial->tag == CLR_TAG_INTEGER && serial->mask != 0 && !want->is_real &&
                 target->kind == CLR_TAG_INTEGER)
            i = take_integers(block, place, target->values + row);
    }
    if (want->with_bytes) {
        take_with_bytes(decoder, block, k, row, i);
        return;
    }
    for (; i < rows; i++) {
        struct clr_place place = places[block->slots[i]];

        put(target, row + i,
            clr_serial_value(&clr_serials[place.type], payloads + block->offsets[i] + place.at,
                             is_real));
    }
}

/* Decodes a page's cells by their shapes, and learns those that it does not know. */
static enum clr_load_outcome decode_by_shape(struct clr_decoder *decoder, uint32_t number,
                                             const struct clr_page *page)
{
    const unsigned char *pointer = page->pointers;
    size_t row = decoder->rows, end = row + page->cells, others = 0;
    struct clr_cells block;
    int k;

    while (row < end) {
        size_t most = end - row < CLR_CELLS_MOST ? end - row : CLR_CELLS_MOST;
        enum clr_load_outcome outcome;
        uint32_t offset;
        int64_t rowid;

        block.rows = 0;
        if (clr_order_has_key(&decoder->order))
            clr_cells_find(&block, &decoder->shapes, &decoder->order, page,
                           decoder->reader.pages->source->usable_size, pointer, most);
        for (k = 0; k < decoder->count && block.rows > 0; k++)
            take_column(decoder, &block, k, row);
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
        clr_shapes_learn(&decoder->shapes, clr_page_open_cell(page, offset, &rowid));
        row++;
        pointer += 2;
        others++;
    }
    decoder->rows = row;
    if (others > page->cells / 2)
        decoder->plain_pages = PLAIN_PAGES;
    return CLR_LOAD_DONE;
}

enum clr_load_outcome clr_decode_page(struct clr_decoder *decoder, uint32_t number,
                                      const struct clr_page *page)
{
    const size_t row = decoder->rows;
    enum clr_load_outcome outcome;

    if (decoder->shapes.mask != 0 && decoder->plain_pages == 0) {
        outcome = decode_by_shape(decoder, number, page);
    } else if (decoder->with_bytes) {
        outcome = decode_cells(decoder, number, page, decoder->wants, decoder->targets,
                               decoder->count, true);
    } else if (decoder->count == 1) {
        struct clr_want want = decoder->wants[0];
        struct clr_target target = decoder->targets[0];

        outcome = decode_cells(decoder, number, page, &want, &target, 1, false);
    } else {
        outcome = decode_cells(decoder, number, page, decoder->wants, decoder->targets,
                               decoder->count, false);
    }
    if (decoder->plain_pages > 0)
        decoder->plain_pages--;
    if (outcome == CLR_LOAD_DONE && decoder->with_bytes)
        outcome = check_bytes(decoder);
    if (outcome == CLR_LOAD_DONE && decoder->never_null)
        outcome = check_nulls(decoder, row);
    if (outcome == CLR_LOAD_DONE && row == 0 && page->cells > 0)
        clr_page_open_cell(page, clr_page_cell(page, 0), &decoder->first);
    return outcome;
}

enum clr_load_outcome clr_decode_leaf(struct clr_decoder *decoder, uint32_t number,
                                      const struct clr_page *page, struct clr_leaf *leaf)
{
    uint64_t followed = decoder->reader.followed;
    enum clr_load_outcome outcome = clr_decode_page(decoder, number, page);

    *leaf = (struct clr_leaf){.number = number,
                              .rows = (uint16_t)page->cells,
                              .is_chained = decoder->reader.followed != followed};
    if (outcome == CLR_LOAD_DONE && page->cells > 0) {
        clr_page_open_cell(page, clr_page_cell(page, 0), &leaf->first);
        leaf->last = clr_order_last(&decoder->order);
    }
    return outcome;
}
