#include "storage/format/cells.h"

#include <string.h>

enum { SHORT_SIZE = 128 }; /* below it a payload's size has one byte */

/*
 * What is asked of a cell's place and rowid, if the last row's rowid has a key and this one's is as
 * long. Such rowids are compared as eight bytes, of which those after the key are masked. The
 * checks are those that decode.c has for one cell.
 */
struct expected {
    const unsigned char *data; /* the page's first byte */
    size_t key_bytes;          /* of a rowid, which is right before the payload; 0: none */
    size_t first, span;        /* of offsets: offset - first <= span */
    size_t clear;              /* <= span + 1: below, a payload of a short size is in the page */
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
    size_t last;

    if (order != NULL) {
        expected.key = UINT64_MAX << (64 - 8 * bytes);
        expected.last = (uint64_t)(order->least - 1) << (64 - 8 * bytes);
    }

    last = usable_size - 1 - bytes - (SHORT_SIZE - 1); /* a page has 480 bytes at least */
    if (last > page->last)
        last = page->last;
    if (last >= page->first)
        expected.clear = last - page->first + 1;
    expected.ends = UINT64_C(0x8080808080808080) & expected.key;
    return expected;
}

/*
 * Finds the cells from the first pointer on that are simple, sound, of a short size, and of the
 * last row's shape. Returns how many. Most rows of most tables come this way, so that nothing is
 * looked up, or noted but the payload. How long the rowids are is asked of all together: if one has
 * another length, it is not known which are sound, and 0 is returned. has_second: the mask's second
 * half is not zero. has_rowids: false of an index.
 */
static inline __attribute__((always_inline)) size_t
find_alike(const struct clr_shapes *shapes, struct expected *expected,
           const unsigned char *pointers, size_t count, struct clr_cells *cells, bool has_second,
           bool has_rowids)
{
    /* Copies, for registers, as is that this is a function by itself: what is stored below might
       else be one of them. */
    const struct expected e = *expected;
    const struct clr_shape wanted = shapes->shapes[shapes->slot];
    const size_t before = 1 + e.key_bytes;
    const unsigned char *data = e.data, *payloads = data + before;
    const struct clr_header mask = shapes->mask;
    uint64_t last = e.last, all = last, any = last;
    uint32_t range = wanted.range;
    size_t i;

    if (wanted.least >= SHORT_SIZE)
        return 0;
    if (range >= SHORT_SIZE - wanted.least)
        range = SHORT_SIZE - 1 - wanted.least;
    for (i = 0; i < count; i++) {
        size_t cell = clr_get_u16(pointers + 2 * i);
        struct clr_header header;
        uint64_t rowid;

        if (__builtin_expect(cell - e.first >= e.clear, 0) &&
            (cell - e.first > e.span || cell + before + data[cell] > e.limit))
            break;
        rowid = clr_get_u64(data + cell + 1) & e.key;
        header = clr_shapes_header(payloads + cell, mask);
        if (header.first != wanted.header.first ||
            (has_second && header.second != wanted.header.second) ||
            (has_rowids && rowid <= last) || data[cell] - wanted.least > range)
            break;
        last = rowid;
        all &= rowid;
        any |= rowid;
        cells->payloads[i] = (uint16_t)(cell + before);
    }
    if (((all ^ any) & e.ends) != 0)
        return 0;
    expected->last = last;
    return i;
}

static __attribute__((noinline)) size_t find_alike_8(const struct clr_shapes *shapes,
                                                     struct expected *expected,
                                                     const unsigned char *pointers, size_t count,
                                                     struct clr_cells *cells)
{
    return find_alike(shapes, expected, pointers, count, cells, false, true);
}

static __attribute__((noinline)) size_t find_alike_16(const struct clr_shapes *shapes,
                                                      struct expected *expected,
                                                      const unsigned char *pointers, size_t count,
                                                      struct clr_cells *cells)
{
    return find_alike(shapes, expected, pointers, count, cells, true, true);
}

static __attribute__((noinline)) size_t find_alike_in_index(const struct clr_shapes *shapes,
                                                            struct expected *expected,
                                                            const unsigned char *pointers,
                                                            size_t count, struct clr_cells *cells)
{
    return find_alike(shapes, expected, pointers, count, cells, true, false);
}

/* Finds the cells whose shape is known, whichever it is, of sizes of one byte or two, up to the
   first of which that is not so, or that is not simple, or not sound. There are `from` rows
   already.
 */
static void find_known(struct clr_shapes *known, struct expected *expected,
                       const unsigned char *pointers, size_t from, size_t count,
                       struct clr_cells *cells)
{
    /* Copies: the slots stored below are bytes, which to the compiler might be anything's. */
    const struct clr_shape *shapes = known->shapes;
    const struct expected e = *expected;
    const struct clr_header mask = known->mask;
    uint64_t last = e.last;
    size_t i;

    for (i = from; i < count; i++) {
        size_t cell = clr_get_u16(pointers + 2 * i), at;
        const struct clr_shape *shape;
        struct clr_header header;
        uint32_t size, slot;
        uint64_t rowid;

        if (cell - e.first > e.span)
            break;
        size = e.data[cell++];
        if (size >= SHORT_SIZE) {
            if (e.data[cell] >= SHORT_SIZE)
                break;
            size = (size - SHORT_SIZE) << 7 | e.data[cell++];
        }
        rowid = clr_get_u64(e.data + cell) & e.key;
        at = cell + e.key_bytes;
        header = clr_shapes_header(e.data + at, mask);
        slot = clr_shapes_slot(header);
        shape = &shapes[slot];
        if (((rowid ^ last) & e.ends) != 0 || (e.key_bytes > 0 && rowid <= last) ||
            !clr_header_is_same(header, shape->header) || size - shape->least > shape->range ||
            at + size > e.limit)
            break;
        last = rowid;
        cells->payloads[i] = (uint16_t)at;
        cells->slots[i] = (uint8_t)slot;
    }
    expected->last = last;
    cells->rows = i;
    if (i == from)
        return;
    cells->is_uniform = false;
    known->slot = cells->slots[i - 1];
}

void clr_cells_find(struct clr_cells *cells, struct clr_shapes *shapes, struct clr_order *order,
                    const struct clr_page *page, uint32_t usable_size,
                    const unsigned char *pointers, size_t count)
{
    struct expected expected = expect(order, page, usable_size);
    size_t rows;

    cells->key_bytes = (uint32_t)expected.key_bytes;
    cells->page = page->data;
    cells->is_uniform = true;
    if (order == NULL)
        rows = find_alike_in_index(shapes, &expected, pointers, count, cells);
    else
        rows = (shapes->mask.second == 0 ? find_alike_8 : find_alike_16)(shapes, &expected,
                                                                         pointers, count, cells);
    cells->rows = rows;
    memset(cells->slots, (int)shapes->slot, cells->rows);
    if (cells->rows < count)
        find_known(shapes, &expected, pointers, cells->rows, count, cells);
    if (order != NULL)
        order->least = (int64_t)(expected.last >> (64 - 8 * expected.key_bytes)) + 1;
}
