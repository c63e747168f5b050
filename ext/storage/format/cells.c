#include "storage/format/cells.h"

#include "base/memory.h"

#include <string.h>

/* ---- Shapes. */

/* Returns the beginning of the header of the payload, of which 16 bytes must be readable. */
static inline struct clr_header header_of(const unsigned char *payload, struct clr_header mask)
{
    struct clr_header header;

    memcpy(&header, payload, sizeof header);
    header.first &= mask.first;
    header.second &= mask.second;
    return header;
}

/* Returns the slot for a header. */
static inline uint32_t slot_of(struct clr_header header)
{
    return (uint32_t)((header.first * UINT64_C(0x9e3779b97f4a7c15) +
                       header.second * UINT64_C(0xd6e8feb86659fd93)) >>
                      (64 - CLR_SHAPE_BITS));
}

enum { HEADER_BYTES = sizeof(struct clr_header), LONGEST_HEADER = 127 };

/* What is in a slot that is free: it allows no size of a payload in a page. */
static const struct clr_shape no_shape = {.least = UINT32_MAX};

bool clr_shapes_init(struct clr_shapes *shapes, const struct clr_field *fields, int count,
                     uint32_t most)
{
    int last = count > 0 ? fields[count - 1].index : CLR_FIELD_ROWID;
    size_t i;

    *shapes = (struct clr_shapes){.fields = fields, .count = count, .most = most};
    shapes->shapes = clr_memory_alloc(CLR_SHAPES * sizeof *shapes->shapes);
    shapes->places = clr_memory_alloc(((size_t)count + 1) * CLR_SHAPES * sizeof *shapes->places);
    shapes->common = clr_memory_alloc(((size_t)count + 1) * sizeof *shapes->common);
    if (shapes->shapes == NULL || shapes->places == NULL || shapes->common == NULL)
        return false;
    for (i = 0; i < CLR_SHAPES; i++)
        shapes->shapes[i] = no_shape;
    if (last + 2 <= HEADER_BYTES)
        memset(&shapes->mask, 0xff, (size_t)(last + 2));
    return true;
}

void clr_shapes_free(struct clr_shapes *shapes)
{
    clr_memory_free(shapes->shapes);
    clr_memory_free(shapes->places);
    clr_memory_free(shapes->common);
}

/* Takes note of where a shape that was learnt has the fields. */
static void note_places(struct clr_shapes *shapes, uint32_t slot)
{
    int i;

    for (i = 0; i < shapes->count; i++) {
        const struct clr_place *place = &shapes->places[(size_t)i * CLR_SHAPES + slot];

        if (!shapes->has_learnt)
            shapes->common[i] = *place;
        else if (place->at != shapes->common[i].at || place->type != shapes->common[i].type)
            shapes->common[i].at = 0;
    }
    shapes->has_learnt = true;
}

void clr_shapes_learn(struct clr_shapes *shapes, const unsigned char *payload)
{
    const struct clr_header header = header_of(payload, shapes->mask);
    uint32_t header_size = payload[0], end = header_size, slot = slot_of(header);
    struct clr_shape shape = {.header = header};
    int i, index = -1; /* of the column that ends at end */
    struct clr_place place = {0};

    shapes->shapes[slot] = no_shape;
    if (shapes->mask.first == 0 || header_size < 2 || header_size > LONGEST_HEADER)
        return;
    for (i = 0; i < shapes->count; i++) {
        int wanted = shapes->fields[i].index;

        if (wanted != CLR_FIELD_ROWID && (uint32_t)wanted + 2 > header_size)
            return;
        for (; index < wanted; index++) {
            place = (struct clr_place){.at = (uint16_t)end, .type = payload[index + 2]};
            end += clr_serial_sizes[place.type];
            if (end > shapes->most)
                return;
        }
        shapes->places[(size_t)i * CLR_SHAPES + slot] = place;
    }
    /* What the header's last serial type is of has to end with the payload. */
    shape.least = end;
    if (index < 0 || (uint32_t)index + 2 < header_size)
        shape.range = shapes->most - end;
    shapes->shapes[slot] = shape;
    shapes->slot = slot;
    note_places(shapes, slot);
}

/* ---- Cells. */

enum {
    SHORT_SIZE = 128, /* below it a payload's size has one byte */
    LONG_BLOCKS = 7   /* that are not taken to be short after one that was not */
};

/*
 * What is asked of a cell's place and rowid, if the last row's rowid has a key and this one's is as
 * long. Such rowids are compared as eight bytes, of which those after the key are masked. The
 * checks are those that decode.c has for one cell.
 */
struct expected {
    const unsigned char *data; /* the page's first byte */
    size_t key_bytes;          /* of a rowid, which is right before the payload; 0: none */
    size_t first, span;        /* of offsets: offset - first <= span */
    size_t limit;              /* offset of a payload + size <= limit */
    uint64_t key;              /* the mask of the rowid's bytes */
    uint64_t ends;             /* of which these bits tell that there are so many of them */
    uint64_t last;             /* the last row's rowid */
};

static struct expected expect(const struct clr_order *order, const struct clr_page *page,
                              uint32_t usable_size)
{
    const uint32_t bytes = order == NULL ? 0 : clr_order_key_bytes(order);
    struct expected expected = {.data = page->data,
                                .key_bytes = bytes,
                                .limit = usable_size,
                                .first = page->first,
                                .span = page->last - page->first};

    if (order != NULL) {
        expected.key = UINT64_MAX << (64 - 8 * bytes);
        expected.last = (uint64_t)(order->least - 1) << (64 - 8 * bytes);
    }
    expected.ends = UINT64_C(0x8080808080808080) & expected.key;
    return expected;
}

/*
 * Finds the cells whose shape is known, behind those that have been found, up to the first of which
 * that is not so, or that is not simple, or not sound. Their sizes have one byte or, unless
 * are_short, two: which of these is no branch, since the processor would guess it wrong every other
 * time. How long the rowids are is asked of all together: if one has another length, it is not
 * known which are sound, and none is found. has_second: the mask's second half is not zero.
 * has_rowids: false of an index.
 */
static inline __attribute__((always_inline)) void
find_known(struct clr_shapes *known, struct expected *expected, const unsigned char *pointers,
           size_t count, struct clr_cells *cells, bool has_second, bool has_rowids, bool are_short)
{
    /* Copies, for registers: the slots stored below are bytes, which to the compiler might be
       anything's. */
    const struct clr_shape *shapes = known->shapes;
    const struct expected e = *expected;
    const struct clr_header mask = known->mask;
    uint64_t last = e.last, all = last, any = last;
    const size_t from = cells->rows;
    size_t i;

    for (i = from; i < count; i++) {
        size_t cell = clr_get_u16(pointers + 2 * i), at;
        uint32_t size = 0, is_long = 0, start, low, slot;
        const struct clr_shape *shape;
        struct clr_header header;
        uint64_t rowid, differs;

        if (cell - e.first > e.span)
            break;
        if (are_short) {
            size = e.data[cell];
        } else {
            start = clr_get_u16(e.data + cell);
            is_long = start >> 15;
            size = start >> 8 & 0x7f;
            /* What is of a third byte makes it too large. */
            low = (uint32_t)(int8_t)(start & 0xff);
            size ^= (size ^ (size << 7 | low)) & (0 - is_long);
        }
        cell += 1 + is_long;
        at = cell + e.key_bytes;
        rowid = clr_get_u64(e.data + cell) & e.key;
        header = header_of(e.data + at, mask);
        if (!has_second)
            header.second = 0;
        slot = slot_of(header);
        shape = &shapes[slot];
        differs = header.first ^ shape->header.first;
        if (has_second)
            differs |= header.second ^ shape->header.second;
        if ((are_short && size >= SHORT_SIZE) || differs != 0 || (has_rowids && rowid <= last) ||
            size - shape->least > shape->range || at + size > e.limit)
            break;
        last = rowid;
        all &= rowid;
        any |= rowid;
        cells->payloads[i] = (uint16_t)at;
        cells->slots[i] = (uint16_t)slot;
    }
    if (i == from || ((all ^ any) & e.ends) != 0)
        return;
    expected->last = last;
    cells->rows = i;
    cells->is_uniform = memcmp(cells->slots, cells->slots + 1, (i - 1) * sizeof *cells->slots) == 0;
    known->slot = cells->slots[i - 1];
}

/* The ways to find cells, by the mask's halves, and of an index: a function for each, so that
   nothing else shares the registers of its loop. */
typedef void find_cells(struct clr_shapes *known, struct expected *expected,
                        const unsigned char *pointers, size_t count, struct clr_cells *cells);
struct way {
    find_cells *find_short, *find_known;
};

#define WAY(name, has_second, has_rowids)                                                          \
    static __attribute__((noinline)) void name##_short(                                            \
        struct clr_shapes *known, struct expected *expected, const unsigned char *pointers,        \
        size_t count, struct clr_cells *cells)                                                     \
    {                                                                                              \
        find_known(known, expected, pointers, count, cells, has_second, has_rowids, true);         \
    }                                                                                              \
    static __attribute__((noinline)) void name##_known(                                            \
        struct clr_shapes *known, struct expected *expected, const unsigned char *pointers,        \
        size_t count, struct clr_cells *cells)                                                     \
    {                                                                                              \
        find_known(known, expected, pointers, count, cells, has_second, has_rowids, false);        \
    }                                                                                              \
    static const struct way name = {name##_short, name##_known};

WAY(way_8, false, true)
WAY(way_16, true, true)
WAY(way_in_index, true, false)

void clr_cells_find(struct clr_cells *cells, struct clr_shapes *shapes, struct clr_order *order,
                    const struct clr_page *page, uint32_t usable_size,
                    const unsigned char *pointers, size_t count)
{
    const struct way *way = order == NULL              ? &way_in_index
                            : shapes->mask.second == 0 ? &way_8
                                                       : &way_16;
    struct expected expected = expect(order, page, usable_size);
    size_t rows;

    cells->rows = 0;
    cells->key_bytes = (uint32_t)expected.key_bytes;
    cells->page = page->data;
    cells->is_uniform = true;
    if (shapes->long_blocks > 0)
        shapes->long_blocks--;
    else
        way->find_short(shapes, &expected, pointers, count, cells);
    rows = cells->rows;
    if (rows < count)
        way->find_known(shapes, &expected, pointers, count, cells);
    if (cells->rows > rows && shapes->long_blocks == 0)
        shapes->long_blocks = LONG_BLOCKS;
    if (order != NULL)
        order->least = (int64_t)(expected.last >> (64 - 8 * expected.key_bytes)) + 1;
}
