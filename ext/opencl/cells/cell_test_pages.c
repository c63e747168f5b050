#include "opencl/cells/cell_test_pages.h"

#include <string.h>

/*
 * Pages with bytes reserved at their ends. Sound ones have ROWS cells, skipped ones two. A row's
 * record has COLUMNS values, the last two in few of them; the last one is not wanted, a BLOB most
 * of which is in overflow pages.
 */
enum {
    PAGE = 4096,
    USABLE = CLR_TEST_USABLE,
    MAX_LOCAL = USABLE - 35,
    MIN_LOCAL = (USABLE - 12) * 32 / 255 - 23,
    POINTERS = 8,
    SOUND = CLR_TEST_SOUND,
    ROWS = CLR_TEST_SOUND_ROWS / SOUND,
    SKIPPED = CLR_TEST_SKIPPED,
    SKIPPED_ROWS = (CLR_TEST_ROWS - CLR_TEST_SOUND_ROWS) / SKIPPED,
    COLUMNS = CLR_TEST_FIELDS,
    LONG = 8274 /* bytes of a BLOB, of which as few as can be are in the page */
};

struct value {
    uint32_t type; /* serial type */
    int64_t bits;
};

/* A page that is being made: cells come from its end on. */
struct writer {
    unsigned char *page;
    uint32_t top, cells;
};

const struct clr_field clr_test_fields[CLR_TEST_FIELDS] = {
    {.index = CLR_FIELD_ROWID},
    {.index = 0},
    {.index = 1, .is_real = true, .missing = {CLR_TAG_UNSURE, 0}},
    {.index = 2},
    {.index = 3, .is_real = true, .missing = {CLR_TAG_INTEGER, -7}},
    {.index = 4, .missing = {CLR_TAG_INTEGER, 9}},
};

/* ---- Cells. */

static uint32_t put_varint(unsigned char *to, uint64_t number)
{
    uint32_t length = 1, i;

    if (number >> 56 != 0) {
        to[8] = (unsigned char)number;
        for (i = 8, number >>= 8; i-- > 0; number >>= 7)
            to[i] = (unsigned char)(number | 0x80);
        return 9;
    }
    while (number >> 7 * length != 0)
        length++;
    for (i = length; i-- > 0; number >>= 7)
        to[i] = (unsigned char)((number & 0x7f) | (i + 1 < length ? 0x80 : 0));
    return length;
}

static uint32_t size_of(uint32_t type)
{
    static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8};

    return type < 12 ? sizes[type] : (type - 12) / 2;
}

static void put_u16(unsigned char *to, uint32_t number)
{
    to[0] = (unsigned char)(number >> 8);
    to[1] = (unsigned char)number;
}

/* Writes what there is room for in the page of a record's body: bytes of a TEXT or BLOB stay 0. */
static void put_body(unsigned char *payload, uint32_t at, uint32_t local, const struct value *value)
{
    uint32_t size = size_of(value->type), i;

    for (i = 0; i < size && value->type < 12 && at + i < local; i++)
        payload[at + i] = (unsigned char)(value->bits >> 8 * (size - 1 - i));
}

/* Adds a cell with a record of count values. */
static void put_cell(struct writer *writer, int64_t rowid, const struct value *values, int count)
{
    unsigned char types[9 * COLUMNS], start[18];
    uint32_t header = 1, size, local, begun, at, rest;
    int i;

    for (i = 0; i < count; i++)
        header += put_varint(types + header - 1, values[i].type);
    for (i = 0, size = header; i < count; i++)
        size += size_of(values[i].type);
    local = size;
    if (size > MAX_LOCAL) {
        rest = MIN_LOCAL + (size - MIN_LOCAL) % (USABLE - 4);
        local = rest <= MAX_LOCAL ? rest : MIN_LOCAL;
    }
    begun = put_varint(start, size);
    begun += put_varint(start + begun, (uint64_t)rowid);
    writer->top -= begun + local + (size > local ? 4 : 0);
    memcpy(writer->page + writer->top, start, begun);
    at = writer->top + begun;
    writer->page[at] = (unsigned char)header;
    memcpy(writer->page + at + 1, types, header - 1);
    for (i = 0; i < count; header += size_of(values[i++].type))
        put_body(writer->page + at, header, local, &values[i]);
    put_u16(writer->page + POINTERS + (size_t)2 * writer->cells++, writer->top);
}

/* ---- Sound pages. */

/* Returns a value of a serial type, with the sign and the bits of the row. */
static struct value make_value(uint32_t type, uint32_t row)
{
    uint64_t bits = (row + 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct value value = {type, 0};

    if (type == 7)
        bits = row % 8 == 3 ? UINT64_C(0x7ff8000000000000) : bits & UINT64_C(0xbfffffffffffffff);
    else if (type == 8 || type == 9)
        bits = type - 8;
    else if (type == 0 || type >= 12)
        bits = 0;
    value.bits = (int64_t)bits;
    if (type > 0 && type < 7) /* the sign of the highest bit that is stored */
        value.bits = (int64_t)(bits << (64 - 8 * size_of(type))) >> (64 - 8 * size_of(type));
    return value;
}

/* Makes a row's record. Returns how many values it has. */
static int make_record(uint32_t row, struct value *values)
{
    static const uint16_t types[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 19, 130};

    values[0] = make_value(types[row % (sizeof types / sizeof types[0])], row);
    values[1] = make_value((row * 3 + 1) % 10, row);
    values[2] = make_value(7, row);
    values[3] = make_value(row % 7, row + 1);
    values[4] = make_value(12 + row % 40, row);
    values[5] = make_value(12 + 2 * LONG, row);
    return row % 5 == 0 ? 3 : row % ROWS == 7 ? 6 : 4;
}

/* What a column has of a value. */
static struct clr_scalar scalar_of(struct value value, bool is_real)
{
    struct clr_scalar scalar = {CLR_TAG_INTEGER, value.bits};
    double number;

    if (value.type >= 12)
        return (struct clr_scalar){CLR_TAG_BYTES, 0};
    if (value.type == 0 || (value.type == 7 && (uint64_t)value.bits << 1 > 0xffe0000000000000))
        return (struct clr_scalar){CLR_TAG_NULL, 0};
    if (value.type == 7)
        scalar.tag = CLR_TAG_REAL;
    if (is_real && scalar.tag == CLR_TAG_INTEGER) {
        number = (double)value.bits;
        scalar.tag = CLR_TAG_REAL;
        memcpy(&scalar.bits, &number, sizeof number);
    }
    return scalar;
}

static void expect(struct clr_test_pages *pages, uint32_t row, int64_t rowid,
                   const struct value *values, int count)
{
    struct clr_scalar scalar;
    int k;

    for (k = 0; k < CLR_TEST_FIELDS; k++) {
        if (clr_test_fields[k].index < 0)
            scalar = (struct clr_scalar){CLR_TAG_INTEGER, rowid};
        else if (clr_test_fields[k].index < count)
            scalar = scalar_of(values[clr_test_fields[k].index], clr_test_fields[k].is_real);
        else
            scalar = scalar_of((struct value){6, clr_test_fields[k].missing.bits},
                               clr_test_fields[k].is_real);
        pages->values[k][row] = scalar.bits;
        pages->tags[k][row] = scalar.tag;
    }
}

/* Rowids of every length. */
static void make_sound(struct clr_test_pages *pages, struct writer *writer, uint32_t page)
{
    static const int64_t starts[SOUND] = {
        -5, 110, 16370, (int64_t)1 << 40, ((int64_t)1 << 56) - 20, INT64_MAX - ROWS,
    };
    struct value values[COLUMNS];
    uint32_t i;
    int count;

    for (i = 0; i < ROWS; i++) {
        count = make_record(page * ROWS + i, values);
        put_cell(writer, starts[page] + i, values, count);
        expect(pages, page * ROWS + i, starts[page] + i, values, count);
    }
}

/* ---- Odd pages. */

/*
 * What is changed in a page of two cells with three bytes as their values: the second pointer, or
 * bytes of a cell. Those are the payload's size, the rowid, the header's size, three serial types,
 * and the values; the first cell is the page's end.
 */
static const struct {
    uint16_t pointer;
    struct {
        uint8_t cell, at, byte;
    } changes[2];
} faults[SKIPPED - 3] = {
    {1, {{0}}},                               /* no cell can be there */
    {POINTERS + 2 * SKIPPED_ROWS - 1, {{0}}}, /* nor in the pointers */
    {USABLE - 3, {{0}}},                      /* nor so near to the end */
    {0, {{1, 1, 1}, {1, 1, 1}}},              /* the same rowid twice */
    {0, {{0, 0, 8}, {0, 0, 8}}},              /* a payload that goes beyond the page */
    {0, {{1, 2, 1}, {1, 2, 1}}},              /* a header without a serial type */
    {0, {{1, 2, 8}, {1, 2, 8}}},              /* a header that is longer than the payload */
    {0, {{1, 3, 10}, {1, 3, 10}}},            /* serial types that there are not */
    {0, {{1, 4, 11}, {1, 4, 11}}},
    {0, {{1, 3, 6}, {1, 3, 6}}},       /* a value that is longer than the payload */
    {0, {{1, 5, 0}, {1, 5, 0}}},       /* values that are shorter than it */
    {0, {{1, 5, 0x81}, {1, 5, 0x81}}}, /* a header that ends in a serial type */
    {0, {{1, 2, 2}, {1, 3, 22}}},      /* one value, a BLOB, and no default for others */
};

static void make_skipped(struct writer *writer, size_t number)
{
    /* Too long: one before a number that is wanted, one that is wanted itself, and one for a
       database of these pages. */
    const struct value three[] = {{1, 1}, {1, 2}, {1, 3}};
    const struct value late[] = {{12 + 2 * LONG, 0}, {1, 2}};
    const struct value wanted[] = {{1, 1}, {1, 2}, {1, 3}, {1, 4}, {12 + 2 * LONG, 0}};
    const struct value large[] = {{1, 1}, {1, 2}, {1, 3},
                                  {1, 4}, {1, 5}, {12 + 2 * CLR_TEST_PAGES * PAGE, 0}};
    unsigned char *cells[SKIPPED_ROWS];
    size_t i;

    put_cell(writer, 1, three, 3);
    cells[0] = writer->page + writer->top;
    if (number == SKIPPED - 1)
        put_cell(writer, 2, late, 2);
    else if (number == SKIPPED - 2)
        put_cell(writer, 2, large, 6);
    else if (number == SKIPPED - 3)
        put_cell(writer, 2, wanted, 5);
    else
        put_cell(writer, 2, three, 3);
    cells[1] = writer->page + writer->top;
    if (number >= SKIPPED - 3)
        return;
    if (faults[number].pointer != 0)
        put_u16(writer->page + POINTERS + 2, faults[number].pointer);
    else
        for (i = 0; i < 2; i++)
            cells[faults[number].changes[i].cell][faults[number].changes[i].at] =
                faults[number].changes[i].byte;
}

/* ---- Together. */

void clr_test_pages_make(struct clr_test_pages *pages)
{
    uint32_t page, row = 0, i;
    int k;

    for (page = 0; page < CLR_TEST_PAGES; page++) {
        struct writer writer = {pages->bytes + (size_t)page * PAGE, USABLE, 0};

        if (page < SOUND)
            make_sound(pages, &writer, page);
        else
            make_skipped(&writer, page - SOUND);
        pages->places[page] = (struct clr_leaf_place){
            .row = row, .at = page * PAGE, .pointers = POINTERS, .cells = writer.cells};
        row += writer.cells;
    }
    /* Rows of skipped pages are the host's to write. */
    for (k = 0; k < CLR_TEST_FIELDS; k++) {
        for (i = CLR_TEST_SOUND_ROWS; i < CLR_TEST_ROWS; i++) {
            pages->values[k][i] = -(int64_t)i;
            pages->tags[k][i] = CLR_TAG_INTEGER;
        }
    }
}
