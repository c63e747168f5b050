#include "storage/format/record.h"

#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>

enum { HEADER_MOST = 98307 }; /* bytes of a record's header that SQLite takes for possible */

/* A payload: what the leaf holds of it, and one page of what it does not. */
struct payload {
    const unsigned char *local;
    uint32_t size, local_size;
    uint32_t at, next;   /* overflow pages: the one in the reader's chain, or 0 */
    uint32_t begin, end; /* of the bytes that are in the reader's chain */
    uint32_t leaf;       /* number of the leaf */
};

#define INTEGER(bytes)                                                                             \
    {                                                                                              \
        CLR_TAG_INTEGER, 64 - 8 * (bytes), 0, UINT64_MAX                                           \
    }
#define BYTES                                                                                      \
    {                                                                                              \
        CLR_TAG_BYTES, 0, 0, 0                                                                     \
    }
#define OTHER_4 BYTES, BYTES, BYTES, BYTES
#define OTHER_20 OTHER_4, OTHER_4, OTHER_4, OTHER_4, OTHER_4

/* Section 2.1, "Serial Type Codes Of The Record Format". */
const struct clr_serial clr_serials[256] = {
    {CLR_TAG_NULL, 0, 0, 0},
    INTEGER(1),
    INTEGER(2),
    INTEGER(3),
    INTEGER(4),
    INTEGER(6),
    INTEGER(8),
    {CLR_TAG_REAL, 0, 0, 0},
    {CLR_TAG_INTEGER, 0, 0, 0},
    {CLR_TAG_INTEGER, 0, 1, 0},
    {CLR_TAG_NULL, 0, 0, 0},
    {CLR_TAG_NULL, 0, 0, 0},
    OTHER_4,
    OTHER_4,
    OTHER_4,
    OTHER_4,
    OTHER_20,
    OTHER_20,
    OTHER_20,
    OTHER_20,
    OTHER_20,
};

#define TWICE_4(bytes)                                                                             \
    (bytes), (bytes), (bytes) + 1, (bytes) + 1, (bytes) + 2, (bytes) + 2, (bytes) + 3, (bytes) + 3
#define INVALID CLR_SERIAL_INVALID_SIZE
#define INVALID_8 INVALID, INVALID, INVALID, INVALID, INVALID, INVALID, INVALID, INVALID
#define INVALID_32 INVALID_8, INVALID_8, INVALID_8, INVALID_8

const uint16_t clr_serial_sizes[256] = {
    0,           1,           2,           3,           4,           6,           8,
    8,           0,           0,           INVALID,     INVALID,     0,           0,
    1,           1,           TWICE_4(2),  TWICE_4(6),  TWICE_4(10), TWICE_4(14), TWICE_4(18),
    TWICE_4(22), TWICE_4(26), TWICE_4(30), TWICE_4(34), TWICE_4(38), TWICE_4(42), TWICE_4(46),
    TWICE_4(50), TWICE_4(54), INVALID_32,  INVALID_32,  INVALID_32,  INVALID_32,
};

static int compare_fields(const void *a, const void *b)
{
    const struct clr_field *first = a, *second = b;

    if (first->index != second->index)
        return first->index < second->index ? -1 : 1;
    /* Bytes come from a chain of pages that leads one way: whoever wants them is first. */
    return clr_field_wants_bytes(second) - clr_field_wants_bytes(first);
}

struct clr_field *clr_record_fields(const struct clr_field *fields, int count)
{
    struct clr_field *sorted = clr_memory_alloc(((size_t)count + 1) * sizeof *sorted);
    int i;

    if (sorted == NULL)
        return NULL;
    for (i = 0; i < count; i++) {
        sorted[i] = fields[i];
        sorted[i].position = i;
        sorted[i].with_bytes = fields[i].with_bytes && fields[i].index != CLR_FIELD_ROWID;
    }
    qsort(sorted, (size_t)count, sizeof *sorted, compare_fields);
    return sorted;
}

void clr_record_reader_init(struct clr_record_reader *reader, struct clr_pages *pages)
{
    const uint32_t usable = pages->source->usable_size;

    /* Section 1.6, "Cell Payload Overflow Pages": M. */
    *reader = (struct clr_record_reader){.pages = pages,
                                         .max_local = clr_page_most_local(pages->source),
                                         .min_local = (usable - 12) * 32 / 255 - 23};
}

void clr_record_reader_free(struct clr_record_reader *reader)
{
    clr_memory_free(reader->chain);
    clr_memory_free(reader->header);
    clr_memory_free(reader->map.page);
}

static enum clr_load_outcome open_payload(struct clr_record_reader *reader, uint32_t number,
                                          const unsigned char *page, uint32_t offset,
                                          int64_t *rowid, struct payload *payload)
{
    const struct clr_source *source = reader->pages->source;
    const unsigned char *end = page + source->usable_size, *cell = page + offset;
    uint64_t size, key = 0;
    size_t needed;

    cell = clr_get_varint(cell, &size);
    if (!source->is_index)
        cell = clr_get_varint(cell, &key);
    /* SQLite's payloads have less than 2^31 bytes, and are in the database. */
    if (cell > end || size > INT32_MAX || size > (uint64_t)source->page_count * source->page_size)
        return clr_page_malformed(reader->pages, number);
    *rowid = (int64_t)key;
    payload->leaf = number;
    payload->local = cell;
    payload->size = payload->local_size = (uint32_t)size;
    payload->at = payload->next = 0;
    if (size > reader->max_local) {
        uint32_t k =
            reader->min_local + (payload->size - reader->min_local) % (source->usable_size - 4);

        payload->local_size = k <= reader->max_local ? k : reader->min_local;
    }
    payload->begin = payload->end = payload->local_size;
    needed = payload->local_size + (size > payload->local_size ? 4 : 0);
    if ((size_t)(end - cell) < needed)
        return clr_page_malformed(reader->pages, number);
    if (size > payload->local_size) {
        payload->next = clr_get_u32(cell + payload->local_size);
        reader->divided++;
    }
    return CLR_LOAD_DONE;
}

/*
 * The pointer map of databases with auto_vacuum. SQLite takes short cuts along overflow chains by
 * it, so where it is damaged SQLite reads other pages than the chain has. File format, section 1.8.
 */
enum { AUTO_VACUUM_AT = 52, ENTRY_SIZE = 5, LEAST_TYPE = 1, OVERFLOW_LATER = 4, MOST_TYPE = 5 };

static enum clr_load_outcome read_map_page(struct clr_pointer_map *map, struct clr_pages *pages,
                                           uint32_t number)
{
    enum clr_load_outcome outcome;

    if (map->number == number)
        return CLR_LOAD_DONE;
    if (map->page == NULL)
        map->page = clr_memory_alloc(pages->source->page_size);
    if (map->page == NULL)
        return clr_pages_no_memory(pages);
    map->number = 0;
    outcome = clr_pages_read(pages, number, 1, map->page);
    if (outcome == CLR_LOAD_DONE)
        map->number = number;
    return outcome;
}

/* Returns the page of the map that has a page's entry, or is that page. */
static uint32_t map_page_of(const struct clr_source *source, uint32_t number)
{
    uint32_t each = source->usable_size / ENTRY_SIZE + 1;
    uint32_t page = (number - 2) / each * each + 2;

    return page == clr_lock_page(source) ? page + 1 : page;
}

/*
 * Checks that the short cut from an overflow page leads where the chain does, to next.
 * CLR_LOAD_MALFORMED if not, or if the map is damaged there.
 */
static enum clr_load_outcome check_short_cut(struct clr_pointer_map *map, struct clr_pages *pages,
                                             uint32_t from, uint32_t next)
{
    const struct clr_source *source = pages->source;
    const unsigned char *entry;
    uint32_t guess = from + 1, number;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    if (!map->known) {
        outcome = read_map_page(map, pages, 1);
        if (outcome != CLR_LOAD_DONE)
            return outcome;
        map->known = true;
        map->used = clr_get_u32(map->page + AUTO_VACUUM_AT) != 0;
    }
    if (!map->used)
        return CLR_LOAD_DONE;
    /* The short cut is to the page behind, whose entry tells whether it follows in the chain. */
    while (guess == clr_lock_page(source) || map_page_of(source, guess) == guess)
        guess++;
    if (guess > source->page_count)
        return CLR_LOAD_DONE;
    number = map_page_of(source, guess);
    outcome =
        number < guess ? read_map_page(map, pages, number) : clr_page_malformed(pages, number);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    entry = map->page + ENTRY_SIZE * (size_t)(guess - number - 1);
    if (entry[0] < LEAST_TYPE || entry[0] > MOST_TYPE ||
        (entry[0] == OVERFLOW_LATER && clr_get_u32(entry + 1) == from && next != guess))
        return clr_page_malformed(pages, number);
    return CLR_LOAD_DONE;
}

/* Reads the next page of the chain. Section 1.6, "Cell Payload Overflow Pages". */
static enum clr_load_outcome follow(struct clr_record_reader *reader, struct payload *payload)
{
    uint32_t page_size = reader->pages->source->page_size;
    uint32_t content = reader->pages->source->usable_size - 4;
    enum clr_load_outcome outcome;

    if (reader->chain == NULL)
        reader->chain = clr_memory_alloc(page_size);
    if (reader->chain == NULL)
        return clr_pages_no_memory(reader->pages);
    if (payload->next == 0) /* the chain is too short */
        return clr_page_malformed(reader->pages, payload->leaf);
    outcome = clr_pages_visit(reader->pages, &payload->next, 1);
    if (outcome == CLR_LOAD_DONE && payload->at != 0)
        outcome = check_short_cut(&reader->map, reader->pages, payload->at, payload->next);
    if (outcome == CLR_LOAD_DONE)
        outcome = clr_pages_read(reader->pages, payload->next, 1, reader->chain);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    reader->followed++;
    payload->at = payload->next;
    payload->next = clr_get_u32(reader->chain);
    payload->begin = payload->end;
    payload->end +=
        payload->size - payload->begin < content ? payload->size - payload->begin : content;
    return CLR_LOAD_DONE;
}

/*
 * Copies a part of the payload, which must have it. Parts are asked for in their order, since the
 * chain leads one way.
 */
static enum clr_load_outcome copy_payload(struct clr_record_reader *reader, struct payload *payload,
                                          uint32_t offset, uint32_t size, unsigned char *target)
{
    while (size > 0) {
        const unsigned char *from;
        uint32_t there;

        if (offset < payload->local_size) {
            from = payload->local + offset;
            there = payload->local_size - offset;
        } else if (offset < payload->end) {
            from = reader->chain + 4 + (offset - payload->begin);
            there = payload->end - offset;
        } else {
            enum clr_load_outcome outcome = follow(reader, payload);

            if (outcome != CLR_LOAD_DONE)
                return outcome;
            continue;
        }
        if (there > size)
            there = size;
        memcpy(target, from, there);
        target += there;
        offset += there;
        size -= there;
    }
    return CLR_LOAD_DONE;
}

/* Stores where a record's header is, and the offsets of its first serial type and of its end. */
static enum clr_load_outcome open_header(struct clr_record_reader *reader, struct payload *payload,
                                         const unsigned char **header, uint32_t *first,
                                         uint32_t *end)
{
    uint64_t size;
    enum clr_load_outcome outcome;

    /* A page holds more than nine bytes of any payload that it does not hold whole. */
    *first = (uint32_t)(clr_get_varint(payload->local, &size) - payload->local);
    if (size <= *first || size > payload->size || size > HEADER_MOST)
        return clr_page_malformed(reader->pages, payload->leaf);
    *end = (uint32_t)size;
    *header = payload->local;
    if (size <= payload->local_size)
        return CLR_LOAD_DONE;
    if (reader->header == NULL)
        reader->header = clr_memory_alloc(HEADER_MOST + CLR_PAGE_SLACK);
    if (reader->header == NULL)
        return clr_pages_no_memory(reader->pages);
    outcome = copy_payload(reader, payload, 0, *end, reader->header);
    memset(reader->header + *end, 0, CLR_PAGE_SLACK);
    *header = reader->header;
    return outcome;
}

/* Reads the body of a number or NULL. The bytes after it are of no concern. */
static enum clr_load_outcome read_body(struct clr_record_reader *reader, struct payload *payload,
                                       uint64_t type, uint32_t offset, unsigned char bytes[8])
{
    return copy_payload(reader, payload, offset, clr_serial_sizes[type], bytes);
}

/* Reads the chain as far as it has bytes before an offset. */
static enum clr_load_outcome pass(struct clr_record_reader *reader, struct payload *payload,
                                  uint32_t offset)
{
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    while (payload->end < offset && outcome == CLR_LOAD_DONE)
        outcome = follow(reader, payload);
    return outcome;
}

/* Reads a TEXT or BLOB, which the payload has room for. bytes may be NULL, and so may be what a
   field of the same column has read of it. */
static enum clr_load_outcome read_other(struct clr_record_reader *reader, struct payload *payload,
                                        uint64_t type, uint32_t offset, struct clr_bytes *bytes,
                                        const struct clr_scalar *same, struct clr_scalar *value)
{
    const uint32_t size = (uint32_t)((type - 12) / 2), longest = reader->pages->source->longest;
    unsigned char *to;

    *value = (struct clr_scalar){.tag = CLR_TAG_BYTES};
    if (longest > 0 && size > longest) {
        reader->pages->page = payload->leaf;
        return CLR_LOAD_UNSURE;
    }
    if (bytes == NULL)
        return size == 0 ? CLR_LOAD_DONE : pass(reader, payload, offset + size);
    to = clr_bytes_add(bytes, type % 2 != 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB, size, &value->bits);
    if (to == NULL)
        return clr_record_no_bytes(reader->pages, bytes);
    if (same != NULL) {
        memcpy(to, clr_bytes_value(same->bits).bytes, size);
        return CLR_LOAD_DONE;
    }
    return copy_payload(reader, payload, offset, size, to);
}

/* The value of a column that the record is too short for. */
static enum clr_load_outcome take_missing(struct clr_record_reader *reader, uint32_t leaf,
                                          const struct clr_field *field, struct clr_scalar *value)
{
    *value = field->missing;
    if (value->tag == CLR_TAG_UNSURE ||
        (clr_field_wants_bytes(field) && value->tag == CLR_TAG_BYTES)) {
        reader->pages->page = leaf;
        return CLR_LOAD_UNSUPPORTED;
    }
    if (field->is_real)
        *value = clr_scalar_to_real(*value);
    return CLR_LOAD_DONE;
}

enum clr_load_outcome clr_record_read(struct clr_record_reader *reader, uint32_t number,
                                      const unsigned char *page, uint32_t offset,
                                      const struct clr_field *fields, int count, int64_t *rowid,
                                      struct clr_scalar *values)
{
    static const struct clr_serial other = BYTES;
    const struct clr_serial *serial = &other;
    const unsigned char *header;
    unsigned char bytes[8] = {0};
    struct payload payload;
    uint32_t at, end;
    uint64_t body, size = 0, type = 0;
    enum clr_load_outcome outcome = open_payload(reader, number, page, offset, rowid, &payload);
    int i, index = -1, read = -1; /* the columns that the serial type and the bytes are of */

    if (outcome == CLR_LOAD_DONE)
        outcome = open_header(reader, &payload, &header, &at, &end);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    body = end;
    for (i = 0; i < count && outcome == CLR_LOAD_DONE; i++) {
        if (fields[i].index == CLR_FIELD_ROWID) {
            values[i] = (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = *rowid};
            continue;
        }
        while (index < fields[i].index && at < end) {
            body += size;
            at = (uint32_t)(clr_get_varint(header + at, &type) - header);
            serial = type < CLR_SERIAL_ONE_BYTE ? &clr_serials[type] : &other;
            size = type < CLR_SERIAL_ONE_BYTE ? clr_serial_sizes[type] : (type - 12) / 2;
            index++;
            /* As OP_Column has it: a header ends with a whole serial type, no value lies beyond the
               payload, and the last one ends with it. */
            if (at > end || type == 10 || type == 11 || size > payload.size - body ||
                (at == end && size != payload.size - body))
                return clr_page_malformed(reader->pages, number);
        }
        if (index < fields[i].index) {
            outcome = take_missing(reader, number, &fields[i], &values[i]);
            continue;
        }
        if (serial->tag == CLR_TAG_BYTES) {
            const bool wanted = clr_field_wants_bytes(&fields[i]);
            const bool again = i > 0 && fields[i - 1].index == index;

            outcome =
                read_other(reader, &payload, type, (uint32_t)body, wanted ? reader->bytes[i] : NULL,
                           again && wanted ? &values[i - 1] : NULL, &values[i]);
            continue;
        }
        if (read != index)
            outcome = read_body(reader, &payload, type, (uint32_t)body, bytes);
        read = index;
        values[i] = clr_serial_value(serial, bytes, fields[i].is_real);
    }
    return outcome;
}
