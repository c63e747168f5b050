/*
 * Decodes the cells of table leaf pages into a column: of each record's value the bits and the tag
 * (enum clr_tag in ext/numeric/values/scalar.h). SQLite's file format, sections 1.6 and 2.1. A
 * group takes a page, and a launch a column, so that a stage of pages is decoded by as many
 * launches as columns are wanted.
 *
 * What is taken has the value that clr_record_read() in ext/storage/format/record.c gives it, which
 * the host reads pages with, and is taken only where that accepts the cell: of each column what
 * goes before it in the record is checked here too. Whatever is not sound, lies in overflow pages,
 * is of a record that is too short for a column without a default, or does not come after the row
 * before, has its page skipped: the host decodes it then, or says what is wrong with it.
 *
 * Pages are untrusted. Every offset is checked before it is followed, except that a number may be
 * read up to BEYOND bytes beyond a page's content before it is found not to end in it: a stage has
 * bytes there, those of the next page or of the places.
 *
 * Follows reals.cl without DOUBLES: every device can decode.
 */
#define INLINE static inline __attribute__((always_inline))

/* UNSURE: not a value, and its page is skipped. */
enum { TAG_NULL, TAG_INTEGER, TAG_REAL, TAG_BYTES, TAG_UNSURE };

/* The least bytes of a cell, those of a varint, and of an overflow page's number. BEYOND: the last
   cell of a page begins LEAST_CELL bytes before its end, with two varints. */
enum { LEAST_CELL = 4, MOST_VARINT = 9, PAGE_NUMBER = 4, BEYOND = 2 * MOST_VARINT - LEAST_CELL };

/* As struct clr_leaf_place in ext/opencl/cells/cell_decoder.h. */
typedef struct {
    ulong row;
    uint at, pointers, cells, leaf;
} place;

/* Of which each stage has one behind its last page, at least. */
typedef char place_is_beyond[sizeof(place) >= BEYOND ? 1 : -1];

typedef struct {
    long bits;
    uint tag;
} scalar;

/* A leaf page: what its cell pointers may be, and the bytes of payloads that are in it. */
typedef struct {
    __global const uchar *bytes, *pointers;
    uint usable, first, last;
    uint max_local, min_local;
    uint most; /* bytes of a payload */
} leaf;

/* A cell's payload: all its bytes, and how many are in the page. */
typedef struct {
    __global const uchar *bytes;
    uint size, in_page;
    long rowid;
} payload;

INLINE uint get_u16(__global const uchar *bytes)
{
    return (uint)bytes[0] << 8 | bytes[1];
}

/* Returns how many bytes the number has. */
INLINE uint get_varint(__global const uchar *bytes, ulong *value)
{
    ulong number = bytes[0];

    if (number < 0x80) {
        *value = number;
        return 1;
    }
    number &= 0x7f;
    for (uint i = 1; i < MOST_VARINT - 1; i++) {
        uint byte = bytes[i];
        number = number << 7 | (byte & 0x7f);
        if (byte < 0x80) {
            *value = number;
            return i + 1;
        }
    }
    *value = number << 8 | bytes[MOST_VARINT - 1];
    return MOST_VARINT;
}

/* The page at a place of the stage, whose header the host has checked. */
INLINE leaf open_leaf(__global const uchar *stage, const place *at, uint usable, uint most)
{
    leaf page;

    page.bytes = stage + at->at;
    page.pointers = page.bytes + at->pointers;
    page.usable = usable;
    page.first = at->pointers + 2 * at->cells;
    page.last = usable - LEAST_CELL;
    page.max_local = usable - 35;
    page.min_local = (usable - 12) * 32 / 255 - 23;
    page.most = most;
    return page;
}

/* Stores where the cell of that number is. Returns whether that may be. */
INLINE bool find_cell(const leaf *page, uint number, uint *cell)
{
    *cell = get_u16(page->pointers + 2 * number);
    return *cell >= page->first && *cell <= page->last;
}

/* Reads the numbers that a cell begins with. Returns whether it is all in the page, except for what
   overflow pages have of it. */
INLINE bool open_payload(const leaf *page, uint cell, payload *result)
{
    ulong size, rowid;
    uint rest, spilled;

    cell += get_varint(page->bytes + cell, &size);
    cell += get_varint(page->bytes + cell, &rowid);
    if (cell > page->usable || size > page->most)
        return false;
    result->bytes = page->bytes + cell;
    result->rowid = (long)rowid;
    result->size = result->in_page = (uint)size;
    if (result->size > page->max_local) {
        rest = page->min_local + (result->size - page->min_local) % (page->usable - PAGE_NUMBER);
        result->in_page = rest <= page->max_local ? rest : page->min_local;
    }
    spilled = result->size > result->in_page ? PAGE_NUMBER : 0;
    return page->usable - cell >= result->in_page + spilled;
}

/* Whether the row comes after that of the cell before. If that one can't be read, whoever reads it
   has the page skipped. */
INLINE bool follows(const leaf *page, uint number, long rowid)
{
    uint cell;
    ulong size, before;

    if (number == 0 || !find_cell(page, number - 1, &cell))
        return true;
    cell += get_varint(page->bytes + cell, &size);
    (void)get_varint(page->bytes + cell, &before);
    return (long)before < rowid;
}

/* The bytes of a value, by its serial type; those of 0 to 9 are digits of a number. */
INLINE ulong size_of(ulong type)
{
    return type < 12 ? 0x0088643210UL >> 4 * type & 15 : (type - 12) / 2;
}

/* A value of fewer than 12 as a serial type, not 10 or 11. */
INLINE scalar read_value(__global const uchar *bytes, uint type, uint size, bool is_real)
{
    scalar value = {0, TAG_NULL};

    if (type == 0)
        return value;
    if (type >= 8) {
        value.bits = type - 8;
    } else {
        value.bits = (char)bytes[0];
        for (uint i = 1; i < size; i++)
            value.bits = (long)((ulong)value.bits << 8 | bytes[i]);
    }
    if (type == 7) {
        /* SQLite has no NaN, and reads one as NULL. */
        bool is_nan = (ulong)value.bits << 1 > 0xffe0000000000000UL;
        value.tag = is_nan ? TAG_NULL : TAG_REAL;
        value.bits = is_nan ? 0 : value.bits;
    } else if (is_real) {
        value.tag = TAG_REAL;
        value.bits = real_of_integer(value.bits);
    } else {
        value.tag = TAG_INTEGER;
    }
    return value;
}

/*
 * The value of a record's column, or `missing` if it has not so many; NULL if the column is below 0
 * and the header could be one. As OP_Column of SQLite's has it: a header ends with a whole serial
 * type, no value lies beyond the payload, and the last one ends with it.
 */
INLINE scalar read_column(const payload *record, int column, bool is_real, scalar missing)
{
    const scalar unsure = {0, TAG_UNSURE}, other = {0, TAG_BYTES};
    ulong header, type = 0, size = 0;
    uint at = get_varint(record->bytes, &header), end, body;

    if (header <= at || header > record->in_page)
        return unsure;
    body = end = (uint)header;
    for (int i = 0; i <= column; i++) {
        if (at == end)
            return missing;
        body += (uint)size;
        at += get_varint(record->bytes + at, &type);
        size = size_of(type);
        if (at > end || type == 10 || type == 11 || size > record->size - body ||
            (at == end && size != record->size - body))
            return unsure;
    }
    if (size > 0 && body + (uint)size > record->in_page)
        return unsure;
    if (type >= 12)
        return other;
    return read_value(record->bytes + body, (uint)type, (uint)size, is_real);
}

/* The value of one cell's column, or its rowid if the column is below 0. The header of the record
   is checked in any case. */
INLINE scalar read_cell(const leaf *page, uint number, int column, bool is_real, scalar missing)
{
    scalar value = {0, TAG_UNSURE};
    payload record;
    uint cell;

    if (!find_cell(page, number, &cell) || !open_payload(page, cell, &record) ||
        !follows(page, number, record.rowid))
        return value;
    value = read_column(&record, column, is_real, missing);
    if (column < 0 && value.tag != TAG_UNSURE) {
        value.bits = record.rowid;
        value.tag = TAG_INTEGER;
    }
    return value;
}

/*
 * A stage has pages and, `places` bytes from its beginning, a place for each group. Payloads have
 * no more than `most` bytes. kinds: the tags that there are, bits 1 << tag. skipped: for each leaf
 * whether its page is skipped, which launches only add to; skipped_count: how many are.
 */
__kernel void decode_cells(__global const uchar *stage, uint places, uint usable, uint most,
                           int column, uint is_real, long missing_bits, uint missing_tag,
                           __global long *values, __global uchar *tags, __global uint *kinds,
                           __global uchar *skipped, __global uint *skipped_count)
{
    const uint group = get_group_id(0);
    const place at = ((__global const place *)(stage + places))[group];
    const leaf page = open_leaf(stage, &at, usable, most);
    const scalar missing = {missing_bits, missing_tag};
    __local uint all;
    uint seen = 0;

    if (get_local_id(0) == 0)
        all = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < at.cells; i += get_local_size(0)) {
        scalar value = read_cell(&page, i, column, is_real != 0, missing);
        seen |= 1u << value.tag;
        values[at.row + i] = value.bits;
        tags[at.row + i] = (uchar)value.tag;
    }
    (void)atomic_or(&all, seen);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        /* Most pages are not skipped. */
        if (all >> TAG_UNSURE == 0) {
            (void)atomic_or(kinds, all);
        } else if (skipped[at.leaf] == 0) {
            skipped[at.leaf] = 1;
            (void)atomic_inc(skipped_count);
        }
    }
}
