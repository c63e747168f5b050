#include "storage/decode.h"

/*
 * Most cells are plain: a payload below 128 bytes, all in the leaf, whose header has one byte for
 * its own size and for each serial type up to the last wanted. They are decoded right here; what is
 * not plain, or not sound, is left to clr_record_read(), which does without such conditions.
 */

/* Stores a row's value. */
static inline void put(struct clr_target *target, size_t row, struct clr_scalar value)
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

/* Stores the number of up to nine bytes, as clr_get_varint(), but without a branch for its length.
 */
static inline const unsigned char *get_rowid(const unsigned char *bytes, int64_t *rowid)
{
    uint64_t eight = clr_get_u64(bytes), ends = ~eight & UINT64_C(0x8080808080808080), value;
    int length;

    if (__builtin_expect(ends == 0, 0)) {
        bytes = clr_get_varint(bytes, &value);
        *rowid = (int64_t)value;
        return bytes;
    }
    length = __builtin_clzll(ends) / 8 + 1;
    value = eight >> (64 - 8 * length);
    /* Pushes seven bits of each byte together, then 14 of each two and 28 of each four. */
    value = (value & UINT64_C(0x007f007f007f007f)) | (value & UINT64_C(0x7f007f007f007f00)) >> 1;
    value = (value & UINT64_C(0x00003fff00003fff)) | (value & UINT64_C(0x3fff00003fff0000)) >> 2;
    value = (value & UINT64_C(0x000000000fffffff)) | (value & UINT64_C(0x0fffffff00000000)) >> 4;
    *rowid = (int64_t)value;
    return bytes + length;
}

/* Decodes the cell, if it is plain and sound, as a row of the targets. */
static inline __attribute__((always_inline)) bool
decode_plain(const struct clr_decoder *decoder, const unsigned char *cell,
             const unsigned char *limit, int count, size_t row, int64_t *rowid)
{
    uint32_t size = cell[0], header_size, left;
    const unsigned char *payload = get_rowid(cell + 1, rowid), *types, *types_end, *body;
    const struct clr_serial *serial = &clr_serials[0];
    int i, index = -1;

    header_size = payload[0];
    if (size >= CLR_SERIAL_ONE_BYTE || payload + size > limit || header_size < 2 ||
        header_size > size)
        return false;
    types = payload + 1;
    types_end = body = payload + header_size;
    left = size - header_size; /* of the body; sizes are small: below zero is far above */
    for (i = 0; i < count; i++) {
        const struct clr_want *want = &decoder->wants[i];

        if (want->index == CLR_WANT_ROWID) {
            put(&decoder->targets[i], row,
                (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = *rowid});
            continue;
        }
        if (want->index > index) {
            if (types_end - types < want->index - index)
                return false;
            for (; index < want->index; index++) {
                body += serial->size;
                serial = &clr_serials[*types++];
                left -= serial->size;
            }
            if ((int32_t)left < 0 || (types == types_end && left != 0))
                return false;
        }
        put(&decoder->targets[i], row, clr_serial_value(serial, body, want->is_real));
    }
    return true;
}

/* Decodes the cell by the general way. */
static enum clr_load_outcome decode_any(struct clr_decoder *decoder, uint32_t number,
                                        const unsigned char *page, uint32_t offset, size_t row,
                                        int64_t *rowid)
{
    enum clr_load_outcome outcome =
        clr_record_read(&decoder->reader, number, page, offset, decoder->wants, decoder->count,
                        rowid, decoder->values);
    int i;

    for (i = 0; i < decoder->count && outcome == CLR_LOAD_DONE; i++)
        put(&decoder->targets[i], row, decoder->values[i]);
    return outcome;
}

static inline __attribute__((always_inline)) enum clr_load_outcome
decode_cells(struct clr_decoder *decoder, uint32_t number, const struct clr_page *page, int count)
{
    struct clr_pages *pages = decoder->reader.pages;
    const unsigned char *limit = page->data + pages->source->usable_size;
    size_t row = decoder->rows;
    int64_t last = decoder->last;
    uint32_t i;

    for (i = 0; i < page->cells; i++, row++) {
        uint32_t offset = clr_page_cell(page, i);
        int64_t rowid;

        if (offset == 0)
            return clr_page_malformed(pages, number);
        if (!decode_plain(decoder, page->data + offset, limit, count, row, &rowid)) {
            enum clr_load_outcome outcome =
                decode_any(decoder, number, page->data, offset, row, &rowid);

            if (outcome != CLR_LOAD_DONE)
                return outcome;
        }
        if (row == 0)
            decoder->first = rowid;
        else if (rowid <= last)
            return clr_page_malformed(pages, number);
        last = rowid;
    }
    decoder->rows = row;
    decoder->last = last;
    return CLR_LOAD_DONE;
}

enum clr_load_outcome clr_decode_page(struct clr_decoder *decoder, uint32_t number,
                                      const struct clr_page *page)
{
    if (decoder->count == 1)
        return decode_cells(decoder, number, page, 1);
    return decode_cells(decoder, number, page, decoder->count);
}
