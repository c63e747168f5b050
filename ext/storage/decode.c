#include "storage/decode.h"

/*
 * Most cells are plain: a payload below 128 bytes, all in the leaf, whose header has one byte for
 * its own size and for each serial type up to the last wanted. They are decoded right here; what is
 * not plain, or not sound, is left to clr_record_read(), which does without such conditions.
 */

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
    const unsigned char *limit; /* the end of the page's content */
    struct clr_order order;
};

/*
 * Decodes the cell as a row of the targets, if it is plain and sound and comes after those before.
 * Rowids are long or short, as clr_order_get_key() has them.
 */
static inline __attribute__((always_inline)) bool
decode_plain(struct loop *loop, const unsigned char *cell, int count, size_t row, bool is_long)
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
    struct loop loop = {decoder->wants, decoder->targets, page->data + pages->source->usable_size,
                        decoder->order};
    enum clr_load_outcome outcome;
    int64_t rowid;
    int i;

    if (decode_plain(&loop, page->data + offset, decoder->count, row, true)) {
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
             const struct clr_want *wants, struct clr_target *targets, int count)
{
    struct clr_pages *pages = decoder->reader.pages;
    struct loop loop = {wants, targets, page->data + pages->source->usable_size, decoder->order};
    size_t row = decoder->rows, end = row + page->cells;
    const unsigned char *pointer = page->pointers;

    for (; row < end; row++, pointer += 2) {
        uint32_t offset = clr_get_u16(pointer);
        enum clr_load_outcome outcome;

        if (offset - page->first > page->last - page->first)
            return clr_page_malformed(pages, number);
        if (__builtin_expect(decode_plain(&loop, page->data + offset, count, row, false), 1))
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

/* Returns the rowid of a page's first cell, whose pointer has been checked. */
static int64_t first_rowid(const struct clr_page *page)
{
    uint64_t size, rowid;

    clr_get_varint(clr_get_varint(page->data + clr_page_cell(page, 0), &size), &rowid);
    return (int64_t)rowid;
}

enum clr_load_outcome clr_decode_page(struct clr_decoder *decoder, uint32_t number,
                                      const struct clr_page *page)
{
    bool is_first = decoder->rows == 0 && page->cells > 0;
    enum clr_load_outcome outcome;

    if (decoder->count == 1) {
        struct clr_want want = decoder->wants[0];
        struct clr_target target = decoder->targets[0];

        outcome = decode_cells(decoder, number, page, &want, &target, 1);
    } else {
        outcome =
            decode_cells(decoder, number, page, decoder->wants, decoder->targets, decoder->count);
    }
    if (outcome == CLR_LOAD_DONE && is_first)
        decoder->first = first_rowid(page);
    return outcome;
}
