/*
 * Decodes the cells of table leaf pages into columns: of each record's values that are wanted the
 * bits and the tags (enum clr_tag in ext/numeric/values/scalar.h). SQLite's file format, sections
 * 1.6 and 2.1. A group takes a page, and reads a record once for all columns of the launch.
 *
 * What is taken has the value that clr_record_read() in ext/storage/format/record.c gives it, which
 * the host reads pages with, and is taken only where that accepts the cell: of each column what
 * goes before it in the record is checked here too. Whatever is not sound, lies in overflow pages,
 * is of a record that is too short for a column without a default, or does not come after the row
 * before, has its page skipped: the host decodes it then, or says what is wrong with it.
 *
 * Pages are untrusted. Every offset is checked before it is followed, except that up to BEYOND
 * bytes beyond a page's content may be read before it is found that a number does not end in it: a
 * stage has bytes there, those of the next page, or of the places and wants.
 *
 * Defined by the host: CPU (1: pages are read where they are, by groups of one work-item).
 *
 * Follows reals.cl without DOUBLES: every device can decode.
 */
#define INLINE static inline __attribute__((always_inline))

/* UNSURE: not a value, and its page is skipped. */
enum { TAG_NULL, TAG_INTEGER, TAG_REAL, TAG_BYTES, TAG_UNSURE };

/* Columns of a launch; as CLR_LAUNCH_WANTS in ext/opencl/cells/cell_decoder_private.h. */
enum { MOST_WANTS = 8 };

/* The least bytes of a cell, those of a varint, and of an overflow page's number. BEYOND: the last
   cell of a page begins LEAST_CELL bytes before its end, with two varints. */
enum { LEAST_CELL = 4, MOST_VARINT = 9, PAGE_NUMBER = 4, BEYOND = 2 * MOST_VARINT - LEAST_CELL };

/* As struct clr_leaf_place in ext/opencl/cells/cell_decoder.h. */
typedef struct {
    ulong row;
    uint at, pointers, cells, leaf;
} place;

/* As struct clr_stage_want in ext/opencl/cells/cell_decoder_private.h. */
typedef struct {
    long missing_bits;
    int column;
    uchar missing_tag, is_real, unused[2];
} want;

/* What is copied of a page: what may be read, in pieces. A stage has one place and one want behind
   its last page, at least. */
typedef uint4 piece;
#define PIECES(usable) (((usable) + BEYOND) / sizeof(piece) + 1)
typedef char stage_has_pieces[sizeof(place) + sizeof(want) >= BEYOND + sizeof(piece) ? 1 : -1];

typedef struct {
    long bits;
    uint tag;
} scalar;

/* A leaf page: what its cell pointers may be, and the bytes of payloads that are in it. Offsets are
   those in the page. */
typedef struct {
    __global const uchar *bytes;
#if !CPU
    __local const uchar *copy;
    bool is_copied;
#endif
    uint pointers, usable, first, last;
    uint max_local, min_local;
    uint most; /* bytes of a payload */
} leaf;

/* A record that is being read: where it begins, all its bytes, and how many are in the page; where
   its header goes on, and ends; and its column that has been reached, -1 at first. */
typedef struct {
    long rowid;
    uint begin, size, in_page;
    uint at, end;
    int column;
    uint body, width; /* where the column's value begins in the record, and its bytes */
    uint type;        /* its serial type; 12 also for all above */
} record;

#if CPU
#define FROM_PAGE(page, read, at) read((page)->bytes + (at))
#else
#define FROM_PAGE(page, read, at)                                                                  \
    ((page)->is_copied ? read((page)->copy + (at)) : read((page)->bytes + (at)))
#endif

#define READ_BYTE(from) (*(from))
#define READ_U32(from)                                                                             \
    ((uint)(from)[0] << 24 | (uint)(from)[1] << 16 | (uint)(from)[2] << 8 | (from)[3])
#define READ_U64(from) ((ulong)READ_U32(from) << 32 | READ_U32((from) + 4))

INLINE uint get_byte(const leaf *page, uint at)
{
    return FROM_PAGE(page, READ_BYTE, at);
}

/* Eight bytes as a number, the first one highest. */
INLINE ulong get_u64(const leaf *page, uint at)
{
    return FROM_PAGE(page, READ_U64, at);
}

/* Returns how many bytes the number has. */
INLINE uint get_varint(const leaf *page, uint at, ulong *value)
{
    ulong number = get_byte(page, at);

    if (number < 0x80) {
        *value = number;
        return 1;
    }
    number &= 0x7f;
    for (uint i = 1; i < MOST_VARINT - 1; i++) {
        uint byte = get_byte(page, at + i);
        number = number << 7 | (byte & 0x7f);
        if (byte < 0x80) {
            *value = number;
            return i + 1;
        }
    }
    *value = number << 8 | get_byte(page, at + MOST_VARINT - 1);
    return MOST_VARINT;
}

/* The page at a place of the stage, whose header the host has checked. */
INLINE leaf open_leaf(__global const uchar *stage, const place *at, uint usable, uint most)
{
    leaf page;

    page.bytes = stage + at->at;
    page.pointers = at->pointers;
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
    const uint pointer = page->pointers + 2 * number;

    *cell = get_byte(page, pointer) << 8 | get_byte(page, pointer + 1);
    return *cell >= page->first && *cell <= page->last;
}

/* Whether the row comes after that of the cell before. If that one can't be read, whoever reads it
   has the page skipped. */
INLINE bool follows(const leaf *page, uint number, long rowid)
{
    uint cell;
    ulong size, before;

    if (number == 0 || !find_cell(page, number - 1, &cell))
        return true;
    cell += get_varint(page, cell, &size);
    (void)get_varint(page, cell, &before);
    return (long)before < rowid;
}

/* Reads the numbers that a cell and its record begin with. Returns whether the payload is all in
   the page, except for what overflow pages have of it, and the header could be one. */
INLINE bool open_record(const leaf *page, uint number, record *result)
{
    ulong size, rowid, header;
    uint cell, rest, spilled;

    if (!find_cell(page, number, &cell))
        return false;
    cell += get_varint(page, cell, &size);
    cell += get_varint(page, cell, &rowid);
    if (cell > page->usable || size > page->most)
        return false;
    result->begin = cell;
    result->rowid = (long)rowid;
    result->size = result->in_page = (uint)size;
    if (result->size > page->max_local) {
        rest = page->min_local + (result->size - page->min_local) % (page->usable - PAGE_NUMBER);
        result->in_page = rest <= page->max_local ? rest : page->min_local;
    }
    spilled = result->size > result->in_page ? PAGE_NUMBER : 0;
    if (page->usable - cell < result->in_page + spilled || !follows(page, number, result->rowid))
        return false;
    result->at = get_varint(page, cell, &header);
    if (header <= result->at || header > result->in_page)
        return false;
    result->end = result->body = (uint)header;
    result->width = 0;
    result->column = -1;
    return true;
}

/* The bytes of a value, by its serial type; those of 0 to 9 are digits of a number. */
INLINE ulong size_of(ulong type)
{
    return type < 12 ? 0x0088643210UL >> 4 * type & 15 : (type - 12) / 2;
}

/*
 * Goes on to the record's next column, which the header has. As OP_Column of SQLite's has it: a
 * header ends with a whole serial type, no value lies beyond the payload, and the last one ends
 * with it. Returns whether that is so.
 */
INLINE bool next_column(const leaf *page, record *of)
{
    ulong type, size;
    uint rest;

    of->body += of->width;
    of->at += get_varint(page, of->begin + of->at, &type);
    rest = of->size - of->body;
    size = size_of(type);
    of->width = (uint)size;
    of->type = (uint)min(type, 12UL);
    of->column++;
    return of->at <= of->end && type != 10 && type != 11 && size <= rest &&
           (of->at < of->end || size == rest);
}

/* The value of the column that has been reached. */
INLINE scalar read_value(const leaf *page, const record *of, bool is_real)
{
    scalar value = {0, TAG_NULL};

    if (of->width > 0 && of->body + of->width > of->in_page)
        value.tag = TAG_UNSURE;
    else if (of->type >= 12)
        value.tag = TAG_BYTES;
    if (of->type == 0 || value.tag != TAG_NULL)
        return value;
    if (of->type >= 8)
        value.bits = of->type - 8;
    else
        value.bits = (long)get_u64(page, of->begin + of->body) >> (64 - 8 * of->width);
    if (of->type == 7) {
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

/* What is wanted of a record, the rowid if its column is below 0, or else not below the one that
   has been reached. */
INLINE scalar read_wanted(const leaf *page, record *of, const want *wanted)
{
    scalar value = {0, TAG_UNSURE};

    while (of->column < wanted->column && of->at < of->end) {
        if (!next_column(page, of))
            return value;
    }
    if (wanted->column < 0) {
        value.bits = of->rowid;
        value.tag = TAG_INTEGER;
    } else if (of->column < wanted->column) {
        value.bits = wanted->missing_bits;
        value.tag = wanted->missing_tag;
    } else {
        value = read_value(page, of, wanted->is_real != 0);
    }
    return value;
}

/* Copies a page. The group has it after a barrier. */
INLINE void copy_page(__global const uchar *bytes, uint usable, __local piece *copy)
{
    __global const piece *from = (__global const piece *)bytes;

    for (uint i = get_local_id(0); i < PIECES(usable); i += get_local_size(0))
        copy[i] = from[i];
}

/* The columns of a launch by their numbers: the arguments, and what is done with one of them. */
#define COLUMN_ARGUMENTS(k)                                                                        \
    __global long *values##k, __global uchar *tags##k, __global uint *kinds##k
#define STORE(k)                                                                                   \
    case k:                                                                                        \
        values##k[at.row + i] = value.bits;                                                        \
        tags##k[at.row + i] = (uchar)value.tag;                                                    \
        break;
#define ADD_KINDS(k)                                                                               \
    case k:                                                                                        \
        (void)atomic_or(kinds##k, kinds);                                                          \
        break;
#define FOR_COLUMNS(what) what(0) what(1) what(2) what(3) what(4) what(5) what(6) what(7)

/*
 * A stage has pages and, so many bytes from its beginning, a place for each group and what is
 * wanted: `count` of them, by ascending columns. Payloads have no more than `most` bytes. copy:
 * room for a page, if is_copied. kinds: of a column's values the tags that there are, bits 1 <<
 * tag. skipped: for each leaf whether its page is skipped, which launches only add to;
 * skipped_count: how many are.
 */
__kernel void decode_cells(__global const uchar *stage, uint places, uint wants, uint count,
                           uint usable, uint most, uint is_copied, __local piece *copy,
                           __global uchar *skipped, __global uint *skipped_count,
                           COLUMN_ARGUMENTS(0), COLUMN_ARGUMENTS(1), COLUMN_ARGUMENTS(2),
                           COLUMN_ARGUMENTS(3), COLUMN_ARGUMENTS(4), COLUMN_ARGUMENTS(5),
                           COLUMN_ARGUMENTS(6), COLUMN_ARGUMENTS(7))
{
    const place at = ((__global const place *)(stage + places))[get_group_id(0)];
    leaf page = open_leaf(stage, &at, usable, most);
    __local want wanted[MOST_WANTS];
    /* The tags of the launch's columns, a byte for each, bits 1 << tag. */
    __local uint all[MOST_WANTS / 4];
    ulong seen = 0;

    for (uint k = get_local_id(0); k < count; k += get_local_size(0))
        wanted[k] = ((__global const want *)(stage + wants))[k];
    for (uint k = get_local_id(0); k < MOST_WANTS / 4; k += get_local_size(0))
        all[k] = 0;
#if !CPU
    page.copy = (__local const uchar *)copy;
    page.is_copied = is_copied != 0;
    if (page.is_copied)
        copy_page(page.bytes, usable, copy);
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < at.cells; i += get_local_size(0)) {
        record of;
        bool is_sound = open_record(&page, i, &of);

        if (!is_sound)
            seen |= 1UL << TAG_UNSURE;
        for (uint k = 0; k < count && is_sound; k++) {
            const want one = wanted[k];
            const scalar value = read_wanted(&page, &of, &one);
            seen |= 1UL << (8 * k + value.tag);
            is_sound = value.tag != TAG_UNSURE;
            switch (k) {
                FOR_COLUMNS(STORE)
            }
        }
    }
    (void)atomic_or(&all[0], (uint)seen);
    (void)atomic_or(&all[1], (uint)(seen >> 32));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) != 0)
        return;
    if (((all[0] | all[1]) & 0x01010101U << TAG_UNSURE) != 0) {
        /* Most pages are not skipped. */
        if (skipped[at.leaf] == 0) {
            skipped[at.leaf] = 1;
            (void)atomic_inc(skipped_count);
        }
        return;
    }
    for (uint k = 0; k < count; k++) {
        const uint kinds = all[k / 4] >> 8 * (k % 4) & 0xff;
        switch (k) {
            FOR_COLUMNS(ADD_KINDS)
        }
    }
}
