/*
 * Leaf pages of tables, of random rows, and the values that are in them, as the file format says
 * (sections 1.6 and 2.1): written without a look at the code that reads them.
 */
#ifndef CLR_TESTS_LEAF_PAGES_H
#define CLR_TESTS_LEAF_PAGES_H

#include "numeric/values/column.h"
#include "random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* LEAF_MOST_PAYLOAD: one long value, and others that are short. */
enum { LEAF_COLUMNS = 40, LEAF_MOST_PAYLOAD = 1 << 18 };

/* What columns have; LEAF_ANY: whatever there can be, and records may be short. */
enum leaf_family { LEAF_ANY, LEAF_NULL, LEAF_INTEGER, LEAF_REAL, LEAF_OTHER, LEAF_FAMILIES };

/* A row, and where its values are in its payload. */
struct leaf_row {
    int64_t rowid;
    int count; /* of columns */
    uint64_t types[LEAF_COLUMNS];
    uint32_t offsets[LEAF_COLUMNS];
    int64_t bits[LEAF_COLUMNS];
    uint32_t header, size,
        local; /* bytes of the header, the payload, and what the page has of it */
};

/* A page that is being made: the cells come from the end of what is usable on. */
struct leaf_writer {
    unsigned char *page;
    uint32_t usable, header, top, cells; /* header: where the page's own is */
    const enum leaf_family *families;    /* of the columns; NULL: LEAF_ANY */
    int columns;                         /* of each row, 0: any number */
};

/* The pages' own numbers are of different sizes; `pad` makes them longer than they have to be. */
static inline uint32_t leaf_put_varint(unsigned char *to, uint64_t number, uint32_t pad)
{
    uint32_t length = 1, i;

    if (number >> 56 != 0) {
        to[8] = (unsigned char)number;
        number >>= 8;
        for (i = 8; i-- > 0; number >>= 7)
            to[i] = (unsigned char)(number | 0x80);
        return 9;
    }
    while (number >> 7 * length != 0)
        length++;
    length = length + pad < 8 ? length + pad : 8;
    for (i = length; i-- > 0; number >>= 7)
        to[i] = (unsigned char)((number & 0x7f) | (i + 1 < length ? 0x80 : 0));
    return length;
}

static inline uint32_t leaf_pad(void)
{
    return random_below(30) == 0 ? (uint32_t)random_below(8) : 0;
}

static inline void leaf_put_u16(unsigned char *to, uint32_t number)
{
    to[0] = (unsigned char)(number >> 8);
    to[1] = (unsigned char)number;
}

static inline uint32_t leaf_size_of(uint64_t type)
{
    static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

    return type < 12 ? sizes[type] : (uint32_t)((type - 12) / 2);
}

/* most_long: bytes of a value that may be long, 0: none may be. */
static inline uint64_t leaf_draw_type(enum leaf_family family, uint32_t most_long)
{
    switch (family) {
    case LEAF_NULL:
        return 0;
    case LEAF_INTEGER:
        return random_below(8) == 0 ? 8 + random_below(2) : 1 + random_below(6);
    case LEAF_REAL:
        return 7;
    case LEAF_OTHER:
        return 12 + random_below(40);
    default:
        break;
    }
    if (most_long > 0 && random_below(100) == 0)
        return 12 + random_below(2 * (uint64_t)most_long);
    if (random_below(10) == 0)
        return 12 + random_below(400);
    return random_below(4) == 0 ? 12 + random_below(12) : random_below(10);
}

/* Bits of a value of that type: what is stored of them is all of them. */
static inline int64_t leaf_draw_bits(uint64_t type, bool may_be_nan)
{
    const uint32_t unused = 64 - 8 * leaf_size_of(type);
    int64_t bits = (int64_t)random_bits();

    if (type == 8 || type == 9)
        return (int64_t)type - 8;
    if (type == 0 || type >= 12)
        return 0;
    if (type == 7) {
        if (may_be_nan && random_below(10) == 0)
            return bits | INT64_C(0x7ff0000000000000);
        if (random_below(10) == 0) /* an infinity */
            return bits < 0 ? INT64_C(-0x10000000000000) : INT64_C(0x7ff0000000000000);
        return bits & INT64_C(-0x4000000000000001);
    }
    if (random_below(4) == 0)
        bits = random_integer();
    return (int64_t)((uint64_t)bits << unused) >> unused;
}

/* Makes a row's payload, of which the bytes of TEXT and BLOBs are random. */
static inline void leaf_make_payload(const struct leaf_writer *writer, struct leaf_row *row,
                                     unsigned char *payload)
{
    unsigned char types[9 * LEAF_COLUMNS];
    uint32_t length = 0, own, pad = leaf_pad(), most_long = 5 * writer->usable / 2, rest, min_local;
    uint32_t i;
    int k;

    row->count = writer->columns > 0     ? writer->columns
                 : random_below(20) == 0 ? random_between(1, LEAF_COLUMNS)
                                         : random_between(1, 6);
    for (k = 0; k < row->count; k++) {
        enum leaf_family family = writer->families != NULL ? writer->families[k] : LEAF_ANY;

        row->types[k] = leaf_draw_type(family, most_long);
        if (row->types[k] >= 412)
            most_long = 0;
        row->bits[k] = leaf_draw_bits(row->types[k], family == LEAF_ANY);
        length += leaf_put_varint(types + length, row->types[k], leaf_pad());
    }
    /* The header's size counts itself. */
    for (own = 1; leaf_put_varint(payload, length + own, pad) != own; own++)
        ;
    memcpy(payload + own, types, length);
    row->header = row->size = own + length;
    for (k = 0; k < row->count; k++) {
        uint32_t size = leaf_size_of(row->types[k]);

        row->offsets[k] = row->size;
        for (i = 0; i < size; i++)
            payload[row->size++] =
                (unsigned char)(row->types[k] >= 12 ? random_bits()
                                                    : (uint64_t)row->bits[k] >> 8 * (size - 1 - i));
    }
    row->local = row->size;
    min_local = (writer->usable - 12) * 32 / 255 - 23;
    if (row->size > writer->usable - 35) {
        rest = min_local + (row->size - min_local) % (writer->usable - 4);
        row->local = rest <= writer->usable - 35 ? rest : min_local;
    }
}

/* Begins a page of that many bytes; of page 1 the file's header goes before. */
static inline void leaf_begin(struct leaf_writer *writer, unsigned char *page, uint32_t page_size,
                              bool is_first)
{
    uint32_t i;

    for (i = 0; i < page_size; i++)
        page[i] = (unsigned char)random_bits();
    writer->page = page;
    writer->header = is_first ? 100 : 0;
    writer->top = writer->usable;
    writer->cells = 0;
    page[writer->header] = 13;
    leaf_put_u16(page + writer->header + 3, 0);
}

/* Adds a row with that rowid. Returns false if there is no room for it. */
static inline bool leaf_add(struct leaf_writer *writer, int64_t rowid, struct leaf_row *row)
{
    static unsigned char payload[LEAF_MOST_PAYLOAD + 16];
    unsigned char start[18], *cell;
    uint32_t begun, size, pointer = writer->header + 8 + 2 * writer->cells;

    row->rowid = rowid;
    leaf_make_payload(writer, row, payload);
    begun = leaf_put_varint(start, row->size, leaf_pad());
    begun += leaf_put_varint(start + begun, (uint64_t)rowid, leaf_pad());
    size = begun + row->local + (row->size > row->local ? 4 : 0);
    if (size + pointer + 2 > writer->top)
        return false;
    writer->top -= size;
    cell = writer->page + writer->top;
    memcpy(cell, start, begun);
    memcpy(cell + begun, payload, row->local);
    leaf_put_u16(writer->page + pointer, writer->top);
    writer->cells++;
    leaf_put_u16(writer->page + writer->header + 3, writer->cells);
    return true;
}

/*
 * Stores what a column has of a row, `missing` if the record is too short for it. Returns false if
 * only overflow pages tell.
 */
static inline bool leaf_value(const struct leaf_row *row, int column, bool is_real,
                              struct clr_scalar missing, struct clr_scalar *value)
{
    uint64_t type;

    if (row->header > row->local)
        return false;
    *value = (struct clr_scalar){CLR_TAG_INTEGER, row->rowid};
    if (column < 0)
        return true;
    if (column >= row->count) {
        *value = missing;
    } else {
        type = row->types[column];
        *value = (struct clr_scalar){type == 0    ? CLR_TAG_NULL
                                     : type >= 12 ? CLR_TAG_BYTES
                                     : type == 7  ? CLR_TAG_REAL
                                                  : CLR_TAG_INTEGER,
                                     row->bits[column]};
        if (leaf_size_of(type) > 0 && row->offsets[column] + leaf_size_of(type) > row->local)
            return false;
    }
    if (value->tag == CLR_TAG_REAL) {
        double number;

        memcpy(&number, &value->bits, sizeof number);
        if (number != number)
            *value = (struct clr_scalar){CLR_TAG_NULL, 0};
    } else if (is_real && value->tag == CLR_TAG_INTEGER) {
        double number = (double)value->bits;

        value->tag = CLR_TAG_REAL;
        memcpy(&value->bits, &number, sizeof number);
    }
    return value->tag != CLR_TAG_UNSURE;
}

#endif
