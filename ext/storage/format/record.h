/*
 * Records: the cells with rows, their payload with its overflow pages, and the values of some
 * columns in it. File format, sections 1.6, 2.1 and 2.5.
 */
#ifndef CLR_STORAGE_RECORD_H
#define CLR_STORAGE_RECORD_H

#include "numeric/values/field.h"
#include "storage/format/page.h"

/* A serial type of one byte. */
struct clr_serial {
    uint8_t tag;
    uint8_t shift; /* takes the bytes after an INTEGER out of eight that were read */
    uint8_t one;   /* what serial type 9 stands for */
    uint64_t mask; /* of an INTEGER's bits */
};
enum { CLR_SERIAL_REAL = 7, CLR_SERIAL_ONE_BYTE = 128, CLR_SERIAL_INVALID_SIZE = UINT16_MAX };

/*
 * What serial types are, and their sizes in the body: CLR_SERIAL_INVALID_SIZE, more than a page
 * has, for those that are not valid, and for bytes from CLR_SERIAL_ONE_BYTE on, which begin
 * a longer serial type.
 */
extern const struct clr_serial clr_serials[256];
extern const uint16_t clr_serial_sizes[256];

/* Whether a double is not a number: SQLite has none, and reads one as NULL. */
static inline bool clr_real_is_nan(uint64_t bits)
{
    return bits << 1 > UINT64_C(0xffe0000000000000);
}

/* Returns the value of a column's eight bytes; those beyond the value's own do not matter. */
static inline __attribute__((always_inline)) struct clr_scalar
clr_serial_value(const struct clr_serial *serial, const unsigned char *bytes, bool is_real)
{
    struct clr_scalar value = {.tag = serial->tag, .bits = (int64_t)clr_get_u64(bytes)};

    if (value.tag == CLR_TAG_REAL) {
        if (clr_real_is_nan((uint64_t)value.bits))
            value = (struct clr_scalar){.tag = CLR_TAG_NULL};
        return value;
    }
    value.bits = ((value.bits >> serial->shift) & (int64_t)serial->mask) + serial->one;
    return is_real ? clr_scalar_to_real(value) : value;
}

/* Says why a value's bytes could not be added. */
static inline enum clr_load_outcome clr_record_no_bytes(struct clr_pages *pages,
                                                        const struct clr_bytes *bytes)
{
    return bytes->code == CLR_LIMIT ? CLR_LOAD_TOO_LARGE : clr_pages_no_memory(pages);
}

/*
 * Returns the fields as records are read: ascending by index, of one index those first that want
 * bytes, with their numbers as positions, and no bytes of the rowid. To be freed with
 * clr_memory_free(). NULL without memory.
 */
struct clr_field *clr_record_fields(const struct clr_field *fields, int count);

/* A thread's view of the pointer map of a database with auto_vacuum. Zeros at first. */
struct clr_pointer_map {
    bool known, used; /* whether the database has a map, once that is known */
    unsigned char *page;
    uint32_t number; /* of the page of the map that is in page, or 0 */
};

/* What a thread needs to read records whose payload is not all in the leaf. */
struct clr_record_reader {
    struct clr_pages *pages;
    uint32_t max_local, min_local; /* bytes of a payload that a page can hold, and holds at least */
    unsigned char *chain;          /* an overflow page; allocated when there is one */
    unsigned char *header;         /* a record's header; the same */
    uint64_t followed;             /* overflow pages that have been read */
    uint64_t divided;              /* payloads that are not all in their leaf */
    struct clr_pointer_map map;
    struct clr_bytes **bytes; /* where those of each field go; NULL if no field wants them */
};
void clr_record_reader_init(struct clr_record_reader *reader, struct clr_pages *pages);
void clr_record_reader_free(struct clr_record_reader *reader);

/*
 * Reads count columns of the cell at an offset of a leaf, or, of an index, the offset of its
 * payload's size; fields ascend by index, and none is the rowid of an index. Stores the rowid, or
 * 0, and values at 0 .. count-1, those of fields with bytes or codes as columns with bytes have
 * them. Refuses whatever SQLite finds corrupt when it reads the same columns, of TEXT and BLOBs all
 * bytes, whether these are wanted or not: SQLite does so even for count(x), if not everywhere.
 * CLR_LOAD_UNSURE: a value is longer than may be.
 */
enum clr_load_outcome clr_record_read(struct clr_record_reader *reader, uint32_t number,
                                      const unsigned char *page, uint32_t offset,
                                      const struct clr_field *fields, int count, int64_t *rowid,
                                      struct clr_scalar *values);

#endif
