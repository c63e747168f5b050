/*
 * A cell that is simple: a payload of less than 16,384 bytes, all in the page, whose header has one
 * byte for its own size and for each serial type up to the last wanted. It is decoded in one go, in
 * a loop over the cells of a page.
 */
#ifndef CLR_STORAGE_SIMPLE_CELL_H
#define CLR_STORAGE_SIMPLE_CELL_H

#include "storage/format/order.h"
#include "storage/format/record.h"
#include "storage/leaves/target.h"

/* What the loop over a page's cells needs and changes, in registers where there is one column. */
struct clr_cell_loop {
    const struct clr_field *fields;
    struct clr_target *targets;
    struct clr_bytes *const *bytes;
    const unsigned char *limit; /* the end of the page's content */
    uint32_t most;              /* bytes of a payload that is in the page */
    struct clr_order order;
};

/* Rowids are long or short, as clr_order_get_key() has them, or there is none. */
enum clr_cell_rowids { CLR_ROWIDS_SHORT, CLR_ROWIDS_LONG, CLR_ROWIDS_NONE };

/*
 * Decodes the cell, whose first byte is in the page, as that row of the targets, of which there are
 * count. with_bytes: some field wants bytes or codes. Returns false if it is not simple, not sound,
 * or does not come after those before; then the row has to be decoded anew.
 */
static inline __attribute__((always_inline)) bool
clr_simple_cell_decode(struct clr_cell_loop *loop, const unsigned char *cell, int count, size_t row,
                       enum clr_cell_rowids rowids, bool with_bytes)
{
    const unsigned char *payload, *types, *types_end;
    uint32_t size = cell[0], header_size, type = 0, body, next;
    uint64_t number;
    int64_t rowid = 0, key = 0;
    int i, index = -1; /* of the column that type and body are of */

    cell++;
    if (size >= 0x80) {
        if (*cell >= 0x80)
            return false;
        size = (size & 0x7f) << 7 | *cell++;
    }
    if (rowids == CLR_ROWIDS_LONG) {
        payload = clr_get_varint(cell, &number);
        rowid = (int64_t)number;
    } else {
        payload = rowids == CLR_ROWIDS_SHORT ? clr_order_get_key(cell, &key) : cell;
    }
    if (size - 2 > loop->most - 2 || payload == NULL || payload + size > loop->limit)
        return false;
    header_size = payload[0];
    if (header_size - 2 > size - 2 || header_size >= 0x80)
        return false;
    types = payload + 1;
    types_end = payload + header_size;
    body = header_size;
    for (i = 0; i < count; i++) {
        const struct clr_field *field = &loop->fields[i];

        if (field->index == CLR_FIELD_ROWID) {
            const struct clr_scalar value = {
                .tag = CLR_TAG_INTEGER,
                .bits = rowids == CLR_ROWIDS_LONG ? rowid : clr_order_rowid(key)};

            if (with_bytes && field->with_codes)
                clr_target_find_number(&loop->targets[i], row, value);
            else
                clr_target_put(&loop->targets[i], row, value);
            continue;
        }
        if (field->index > index) {
            if (types_end - types < field->index - index)
                return false;
            for (; index < field->index; index++) {
                body += clr_serial_sizes[type];
                type = *types++;
            }
            next = body + clr_serial_sizes[type];
            if (next > size || (types == types_end && next != size))
                return false;
        }
        if (with_bytes && field->with_codes) {
            clr_target_find_serial(&loop->targets[i], row, type, payload + body, field->is_real);
            continue;
        }
        if (with_bytes && field->with_bytes && clr_serials[type].tag == CLR_TAG_BYTES) {
            clr_target_put_bytes(&loop->targets[i], row, type, payload + body, loop->bytes[i]);
            continue;
        }
        clr_target_put(&loop->targets[i], row,
                       clr_serial_value(&clr_serials[type], payload + body, field->is_real));
    }
    if (rowids == CLR_ROWIDS_LONG)
        return clr_order_take(&loop->order, rowid, row == 0);
    return rowids == CLR_ROWIDS_NONE || clr_order_take_key(&loop->order, key);
}

#endif
