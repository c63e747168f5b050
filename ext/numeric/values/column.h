/*
 * A column of a table, decoded: 8 bytes a row, or fewer if it is narrow, and where its values are
 * not all of one type a tag a row. The columns of one image of a table have their rows in the same
 * order. TEXT and BLOBs are known to be there, and, if the column was asked to have them, by their
 * bytes. Or a column has a dictionary of its values, and a row the code of one.
 */
#ifndef CLR_NUMERIC_COLUMN_H
#define CLR_NUMERIC_COLUMN_H

#include "numeric/dictionary/dictionary.h"
#include "numeric/values/bytes.h"
#include "numeric/values/narrow.h"
#include "numeric/values/value.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Zones: the least and the greatest value of each block of a column's rows, by which a scan knows
   of blocks that hold nothing for it, and the sum, for blocks of which it takes all rows. */

/* Rows of a zone, and zones that have a coarse one together. */
enum { CLR_ZONE_ROWS = 1024, CLR_COARSE_ZONES = 64 };

struct clr_zone {
    /* Of a column of codes: codes. Else, if the block's numbers are all of one type, bits of these;
       defined where there are any. */
    int64_t least, greatest;
    uint8_t types; /* bits 1 << tag of the values there are; of a column of codes 0 */
};

/* The exact sum of the numbers of a block, which are all of one type. The other rows are NULL. */
struct clr_zone_sum {
    bool is_known;
    uint32_t numbers; /* how many they are */
    int64_t
        parts[2]; /* the sum of INTEGERs; or the bits of two doubles, of which REALs' is the sum */
};

/* Constant from the time on that a column has them, until a refresh changes the column in place. */
struct clr_zones {
    uint8_t types;             /* those of all blocks together */
    size_t rows, count;        /* of the column; of blocks, the last of which may have fewer rows */
    struct clr_zone_sum *sums; /* of the blocks, behind the zones; NULL for a column of codes */
    struct clr_zone zones[];   /* of the blocks; behind them the coarse ones */
};

/* Returns how many zones so many rows have. */
static inline size_t clr_zones_of(size_t rows)
{
    return (rows + CLR_ZONE_ROWS - 1) / CLR_ZONE_ROWS;
}

/* Returns how many coarse zones so many zones have. */
static inline size_t clr_zones_coarse(size_t zones)
{
    return (zones + CLR_COARSE_ZONES - 1) / CLR_COARSE_ZONES;
}

/* Returns how many rows that zone of so many rows has. */
static inline size_t clr_zone_rows(size_t rows, size_t zone)
{
    const size_t rest = rows - zone * CLR_ZONE_ROWS;

    return rest < CLR_ZONE_ROWS ? rest : CLR_ZONE_ROWS;
}

/* Values, codes and tags begin at multiples of so many bytes, the largest pages that are common, so
   that a device can use them where they lie. */
enum { CLR_COLUMN_ALIGNMENT = 16384 };

struct clr_column {
    atomic_int references;
    /* One of the references is a device's, which reads nothing until its holder asks it to. For who
       alone can get at the column: see clr_column_is_free(). */
    bool is_lent;
    size_t capacity; /* rows there is address space for; pages never touched cost nothing else */
    size_t rows;
    uint8_t kind;    /* the tag of all rows, or CLR_TAG_MIXED */
    int64_t *values; /* bits, 0 for NULL and BYTES; NULL: it is narrow */
    uint8_t *tags;   /* defined where kind is CLR_TAG_MIXED */
    /* Of a narrow column: what is kept of its values, in frame.bytes bytes for a row. */
    void *words;
    struct clr_frame frame;
    /* If it was asked to have the bytes: those of its TEXT and BLOBs, whose values are their
       addresses, and what they took when all of the column was read. */
    bool with_bytes;
    struct clr_bytes bytes;
    size_t bytes_read;
    /*
     * If it was asked to have codes: the dictionary, with a reference, and each row's code in
     * code_bytes bytes (1, 2 or 4). Then there are no values and no tags, and kind is
     * CLR_TAG_MIXED: what the rows are is what the entries are.
     */
    struct clr_dictionary *dictionary;
    void *codes;
    uint8_t code_bytes;
    uint32_t entries_read; /* of the dictionary, when all of the column was read */
    /* What blocks of its rows have: clr_column_zones(). */
    _Atomic(struct clr_zones *) zones;
    /* The number of its content, which no other content of the process has; and of another one's,
       which has the same rows before that one. */
    uint64_t version, previous;
    size_t same_rows;
};

/* Gives a column whose rows have changed a version. It is the same as another one, which may be the
   column's own, in its first rows, so many. */
void clr_column_renew_version(struct clr_column *column, uint64_t previous, size_t same_rows);

/* Returns a column with room for capacity rows and one reference, or NULL without memory. */
struct clr_column *clr_column_new(size_t capacity);

/* The same, of a column that is narrow if the frame is. */
struct clr_column *clr_column_new_framed(size_t capacity, const struct clr_frame *frame);

/*
 * Returns a narrow column, with one reference, that is to take the place of a column of values.
 * NULL if the column had better stay as it is: its values need all bytes, or are addresses, or
 * there is no memory.
 */
struct clr_column *clr_column_new_narrow(const struct clr_column *column);

/*
 * Returns a column with room for the codes of capacity rows, in code_bytes bytes each, and one
 * reference, or NULL without memory. It takes a reference to the dictionary, which may be NULL if
 * the caller sets it later, or needs none.
 */
struct clr_column *clr_column_new_codes(struct clr_dictionary *dictionary, size_t capacity,
                                        uint8_t code_bytes);

/* Returns in how many bytes the codes of so many entries are kept: 1, 2 or 4. */
static inline uint8_t clr_column_code_bytes(uint32_t count)
{
    return count <= UINT8_MAX + 1 ? 1 : count <= UINT16_MAX + 1 ? 2 : 4;
}

/* Whether rows of a column of values have TEXT or BLOBs; false of one of codes, which its
   dictionary tells of. */
static inline bool clr_column_has_text(const struct clr_column *column)
{
    if (column->kind != CLR_TAG_MIXED)
        return column->kind == CLR_TAG_BYTES;
    return column->tags != NULL && memchr(column->tags, CLR_TAG_BYTES, column->rows) != NULL;
}

/* Returns the code of a row of a column of codes. */
static inline uint32_t clr_column_code(const struct clr_column *column, size_t row)
{
    switch (column->code_bytes) {
    case 1:
        return ((const uint8_t *)column->codes)[row];
    case 2:
        return ((const uint16_t *)column->codes)[row];
    default:
        return ((const uint32_t *)column->codes)[row];
    }
}

/*
 * Puts the codes of rows from row `first` on of a column of codes, which may be `to` itself, from
 * row `at` of `to` on, in that one's size, which they must fit into. map has the new code of each
 * old one; NULL: they stay as they are, and the runs may overlap if both are of one size.
 */
void clr_column_map_codes(struct clr_column *to, size_t at, const struct clr_column *from,
                          size_t first, size_t rows, const uint32_t *map);

/* Returns the bits of a row of a column of values. */
static inline int64_t clr_column_value(const struct clr_column *column, size_t row)
{
    return column->words == NULL ? column->values[row]
                                 : clr_frame_value(&column->frame, column->words, row);
}

/* Returns the bits of count rows of such a column from row `first` on: the column's own, or put
   into the room, which has place for so many. */
static inline const int64_t *clr_column_values(const struct clr_column *column, size_t first,
                                               size_t count, int64_t *room)
{
    if (column->words == NULL)
        return column->values + first;
    clr_frame_widen(&column->frame, column->words, first, count, room);
    return room;
}

/* Puts the bits of count rows from row `first` on. If the column is narrow its frame has them. */
static inline void clr_column_put_values(struct clr_column *column, size_t first,
                                         const int64_t *values, size_t count)
{
    if (column->words == NULL)
        memcpy(column->values + first, values, count * sizeof *values);
    else
        clr_frame_keep(&column->frame, values, count, column->words, first);
}

/* Returns how many bytes a row's value, or code, takes on the host. */
static inline size_t clr_column_width(const struct clr_column *column)
{
    return column->codes != NULL   ? column->code_bytes
           : column->words != NULL ? column->frame.bytes
                                   : sizeof *column->values;
}

/* Any thread may take and drop references; the last one frees. NULL is fine for the second. */
struct clr_column *clr_column_retain(struct clr_column *column);
void clr_column_release(struct clr_column *column);

/* Whether nobody but the caller reads the column, or can get at it: then it may be changed. */
static inline bool clr_column_is_free(const struct clr_column *column)
{
    return atomic_load(&column->references) == 1 + column->is_lent;
}

/* Returns the column's zones, or NULL while it has none. They go with the column. */
static inline const struct clr_zones *clr_column_zones(const struct clr_column *column)
{
    return atomic_load_explicit(&column->zones, memory_order_acquire);
}

/* Returns zones for a column of so many rows, whose content is not set, or NULL without memory.
   Free with clr_memory_free(). */
struct clr_zones *clr_zones_new(const struct clr_column *column, size_t rows);

/* Returns the sum of a block of the column, or NULL if it is not known. */
static inline const struct clr_zone_sum *clr_column_zone_sum(const struct clr_column *column,
                                                             size_t zone)
{
    const struct clr_zones *zones = clr_column_zones(column);

    return zones != NULL && zones->sums != NULL && zones->sums[zone].is_known ? &zones->sums[zone]
                                                                              : NULL;
}

/* Gives a column whose rows do not change any more its zones, unless another thread was sooner:
   then, or if they are NULL, these are freed. */
void clr_column_set_zones(struct clr_column *column, struct clr_zones *zones);

/* Whether values of its rows are addresses, which mean something in this process alone, and not to
   a device. */
static inline bool clr_column_has_addresses(const struct clr_column *column)
{
    return column->bytes.blocks != NULL;
}

/*
 * Returns what a copy of the column is on a device: of codes, CLR_TAG_CODES plus the bytes of each;
 * else the column's kind, or, if it has values and is narrow, CLR_TAG_NARROW, CLR_TAG_NARROW_MIXED
 * or CLR_TAG_NARROW_REAL plus the frame's bytes, and CLR_TAG_DECIMALS if the frame has a power.
 */
static inline uint8_t clr_column_device_kind(const struct clr_column *column)
{
    const struct clr_frame *frame = &column->frame;
    const int narrow = column->kind == CLR_TAG_INTEGER ? CLR_TAG_NARROW
                       : column->kind == CLR_TAG_REAL  ? CLR_TAG_NARROW_REAL
                                                       : CLR_TAG_NARROW_MIXED;

    if (column->codes != NULL)
        return (uint8_t)(CLR_TAG_CODES + column->code_bytes);
    if (frame->bytes == 0 || !clr_kind_has_values(column->kind))
        return column->kind;
    return (uint8_t)(narrow + frame->bytes + (frame->power != 0.0 ? CLR_TAG_DECIMALS : 0));
}

/* Returns how many bytes a code takes in a column of that kind on a device; 0: it has none. */
static inline size_t clr_kind_code_bytes(uint8_t kind)
{
    const size_t bytes = (size_t)kind - CLR_TAG_CODES;

    return bytes == 1 || bytes == 2 || bytes == 4 ? bytes : 0;
}

/* Returns what a column of that kind on a device would be with all bytes of its values. */
static inline uint8_t clr_kind_wide(uint8_t kind)
{
    const uint8_t bytes = 7;

    switch (kind & ~(bytes | CLR_TAG_DECIMALS)) {
    case CLR_TAG_NARROW:
        return CLR_TAG_INTEGER;
    case CLR_TAG_NARROW_MIXED:
        return CLR_TAG_MIXED;
    case CLR_TAG_NARROW_REAL:
        return CLR_TAG_REAL;
    default:
        return kind;
    }
}

/* Returns how many bytes a row's value takes in such a column if it is narrow, or else 0. */
static inline size_t clr_kind_narrow_bytes(uint8_t kind)
{
    return clr_kind_wide(kind) == kind ? 0 : kind & 7;
}

/* Whether what is kept of the values of such a column is that of decimals. */
static inline bool clr_kind_has_decimals(uint8_t kind)
{
    return clr_kind_wide(kind) != kind && (kind & CLR_TAG_DECIMALS) != 0;
}

/* Returns how many bytes a row's value, or code, takes in such a column. */
static inline size_t clr_kind_value_bytes(uint8_t kind)
{
    if (clr_kind_wide(kind) != kind)
        return clr_kind_narrow_bytes(kind);
    return clr_kind_has_values(kind) ? sizeof(int64_t) : clr_kind_code_bytes(kind);
}

/* Returns the size of the longest TEXT or BLOB whose bytes the column has, in bytes; 0: none. */
static inline size_t clr_column_longest(const struct clr_column *column)
{
    return column->dictionary != NULL ? column->dictionary->bytes.longest : column->bytes.longest;
}

/* Returns the memory that the column's rows, their zones, and their bytes or the dictionary take,
   in bytes. */
size_t clr_column_size(const struct clr_column *column);

#endif
