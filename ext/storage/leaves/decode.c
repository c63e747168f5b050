#include "storage/leaves/decode.h"

#include "base/memory.h"
#include "numeric/values/bytes.h"

#include <stdbool.h>

/* ---- The codes that a column had lately. */

/*
 * The codes of values that a column had lately, of numbers and short TEXT and BLOBs: found with one
 * multiplication and one comparison, none of which waits for what the row before had. Whatever is
 * not there the dictionary knows.
 */

enum {
    CODE_WORDS = 3, /* of eight bytes, of which a page's slack has room for one more */
    CODE_CACHE_BITS = 13,
    CODE_CACHE_SLOTS = 1 << CODE_CACHE_BITS
};

_Static_assert((CODE_WORDS + 1) * 8 <= CLR_PAGE_SLACK, "words after a value can be read");

/* A value: its bytes, and zeros up to the last word, and what it is; and, in a slot, its code. */
struct code_key {
    uint64_t words[CODE_WORDS];
    uint32_t what; /* never 0 */
    uint32_t code;
};

/* Zeros: nothing is there. A value's slot follows from its key. */
struct clr_code_cache {
    struct code_key slots[CODE_CACHE_SLOTS];
};

/* Which of a word's bytes are a value's, that has so many from the word's first on. */
#define CODE_MASK(size)                                                                            \
    ((size) <= 0 ? 0 : (size) >= 8 ? UINT64_MAX : ~(UINT64_MAX >> (8 * ((size)&7))))
#define CODE_MASKS(size)                                                                           \
    {                                                                                              \
        CODE_MASK(size), CODE_MASK((size)-8), CODE_MASK((size)-16)                                 \
    }

/* Returns which of the two a serial type is that is TEXT or a BLOB. */
static inline enum clr_kind kind_of(uint32_t type)
{
    return type % 2 != 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB;
}

/* Returns whether a TEXT or BLOB of that one-byte serial type is short enough. */
static inline bool is_short(uint32_t type)
{
    return clr_serial_sizes[type] <= CODE_WORDS * 8;
}

/* Returns the key of a TEXT or BLOB that is. */
static inline __attribute__((always_inline)) struct code_key key_of_bytes(uint32_t type,
                                                                          const unsigned char *from)
{
    static const uint64_t masks[][CODE_WORDS] = {
        CODE_MASKS(0),  CODE_MASKS(1),  CODE_MASKS(2),  CODE_MASKS(3),  CODE_MASKS(4),
        CODE_MASKS(5),  CODE_MASKS(6),  CODE_MASKS(7),  CODE_MASKS(8),  CODE_MASKS(9),
        CODE_MASKS(10), CODE_MASKS(11), CODE_MASKS(12), CODE_MASKS(13), CODE_MASKS(14),
        CODE_MASKS(15), CODE_MASKS(16), CODE_MASKS(17), CODE_MASKS(18), CODE_MASKS(19),
        CODE_MASKS(20), CODE_MASKS(21), CODE_MASKS(22), CODE_MASKS(23), CODE_MASKS(24),
    };
    const uint64_t *mask = masks[clr_serial_sizes[type]];

    return (struct code_key){{clr_get_u64(from) & mask[0], clr_get_u64(from + 8) & mask[1],
                              clr_get_u64(from + 16) & mask[2]},
                             type + CLR_TAG_MIXED,
                             0};
}

/* Returns the key of NULL or a number. */
static inline __attribute__((always_inline)) struct code_key key_of_number(struct clr_scalar value)
{
    return (struct code_key){{(uint64_t)value.bits}, value.tag + 1u, 0};
}

/* Returns the slot where a value is, if it is there. */
static inline __attribute__((always_inline)) struct code_key *slot_of(struct clr_code_cache *cache,
                                                                      const struct code_key *key)
{
    const uint64_t hash = key->words[0] + key->words[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
                          key->words[2] * UINT64_C(0x165667b19e3779f9) + key->what;

    return &cache->slots[hash * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CODE_CACHE_BITS)];
}

static inline __attribute__((always_inline)) bool slot_has(const struct code_key *slot,
                                                           const struct code_key *key)
{
    return ((slot->words[0] ^ key->words[0]) | (slot->words[1] ^ key->words[1]) |
            (slot->words[2] ^ key->words[2]) | (slot->what ^ key->what)) == 0;
}

/* ---- Where a run of rows of one column is decoded to. */

/* Stores a row's value. */
static inline __attribute__((always_inline)) void target_put(struct clr_target *target, size_t row,
                                                             struct clr_scalar value)
{
    target->values[row] = value.bits;
    if (value.tag == target->kind)
        return;
    if (row == 0) {
        target->kind = value.tag;
        return;
    }
    if (target->kind != CLR_TAG_MIXED) {
        memset(target->tags, target->kind, row);
        target->kind = CLR_TAG_MIXED;
    }
    target->tags[row] = value.tag;
}

/* Stores a row's value whose one-byte serial type is that of a TEXT or BLOB, and adds its bytes to
   those of the column, where a failure is found later. */
static inline void target_put_bytes(struct clr_target *target, size_t row, uint32_t type,
                                    const unsigned char *from, struct clr_bytes *bytes)
{
    struct clr_scalar value = {.tag = CLR_TAG_BYTES};
    uint32_t size = clr_serial_sizes[type];
    unsigned char *to = clr_bytes_add(bytes, kind_of(type), size, &value.bits);

    if (to != NULL)
        memcpy(to, from, size);
    target_put(target, row, value);
}

/* Stores the code of a row by the number that the dictionary has found for its value, or takes note
   of why it has found none. */
static void put_number(struct clr_target *target, size_t row, uint32_t number, enum clr_code code)
{
    target->codes[row] = target->range.count + number;
    if (code != CLR_OK)
        target->code = code;
}

/* Stores the code of a row's NULL or number by the dictionary. A failure is found later. */
static void put_code(struct clr_target *target, size_t row, struct clr_scalar value)
{
    uint32_t number = 0;
    const enum clr_code code = clr_dictionary_add(target->dictionary, value, &number);

    put_number(target, row, number, code);
}

/* The same of a TEXT or BLOB. */
static __attribute__((noinline)) void put_code_of_bytes(struct clr_target *target, size_t row,
                                                        enum clr_kind kind, const void *bytes,
                                                        size_t size)
{
    uint32_t number = 0;
    const enum clr_code code =
        clr_dictionary_add_bytes(target->dictionary, kind, bytes, size, &number);

    put_number(target, row, number, code);
}

/* Keeps the code of a row, unless there is none. */
static void keep(struct clr_target *target, size_t row, struct code_key key)
{
    key.code = target->codes[row];
    if (target->code == CLR_OK)
        *slot_of(target->cache, &key) = key;
}

/* Stores the code of a row's value by the dictionary, and keeps it in the cache. */
static __attribute__((noinline)) void learn_number(struct clr_target *target, size_t row,
                                                   struct clr_scalar value)
{
    const struct code_key key = key_of_number(value);

    put_code(target, row, value);
    keep(target, row, key);
}

static __attribute__((noinline)) void learn_bytes(struct clr_target *target, size_t row,
                                                  uint32_t type, const unsigned char *from)
{
    const struct code_key key = key_of_bytes(type, from);

    put_code_of_bytes(target, row, kind_of(type), from, clr_serial_sizes[type]);
    keep(target, row, key);
}

/* The same by the hash that the dictionary has for the value. */
static __attribute__((noinline)) void learn_hashed(struct clr_target *target, size_t row,
                                                   uint32_t type, const unsigned char *from,
                                                   uint32_t hash)
{
    uint32_t number = 0;
    const enum clr_code code = clr_dictionary_find_hashed(target->dictionary, kind_of(type), from,
                                                          clr_serial_sizes[type], hash, &number);

    put_number(target, row, number, code);
    keep(target, row, key_of_bytes(type, from));
}

/* Whether a value is an INTEGER of the range: then its code is stored. */
static inline __attribute__((always_inline)) bool is_in_range(const struct clr_target *target,
                                                              size_t row, struct clr_scalar value)
{
    const uint64_t place = (uint64_t)value.bits - target->range.least;

    if (value.tag != CLR_TAG_INTEGER || place >= target->range.count)
        return false;
    if (!(target->range.met[place / 64] >> place % 64 & 1)) /* most rows write nothing */
        target->range.met[place / 64] |= (uint64_t)1 << place % 64;
    target->codes[row] = (uint32_t)place;
    return true;
}

/* Stores the code of NULL or a number that is not in the range; the cache may have it. */
static inline __attribute__((always_inline)) void find_far(struct clr_target *target, size_t row,
                                                           struct clr_scalar value)
{
    const struct code_key key = key_of_number(value);
    const struct code_key *slot = slot_of(target->cache, &key);

    if (__builtin_expect(slot_has(slot, &key), 1))
        target->codes[row] = slot->code;
    else
        learn_number(target, row, value);
}

/* Stores the code of NULL or a number. */
static inline __attribute__((always_inline)) void find_number(struct clr_target *target, size_t row,
                                                              struct clr_scalar value)
{
    if (!is_in_range(target, row, value))
        find_far(target, row, value);
}

/* Whether a row's value is a short TEXT or BLOB that the cache has: then its code is stored. */
static inline __attribute__((always_inline)) bool has_code(struct clr_target *target, size_t row,
                                                           uint32_t type, const unsigned char *from)
{
    const struct code_key *slot;
    struct code_key key;

    if (clr_serials[type].tag != CLR_TAG_BYTES || !is_short(type))
        return false;
    key = key_of_bytes(type, from);
    slot = slot_of(target->cache, &key);
    if (!slot_has(slot, &key))
        return false;
    target->codes[row] = slot->code;
    return true;
}

/* Stores the code of a row's value of a one-byte serial type in a page, whose slack can be read. */
static inline __attribute__((always_inline)) void find_serial(struct clr_target *target, size_t row,
                                                              uint32_t type,
                                                              const unsigned char *from,
                                                              bool is_real)
{
    const struct clr_serial *serial = &clr_serials[type];

    if (serial->tag != CLR_TAG_BYTES) {
        find_number(target, row, clr_serial_value(serial, from, is_real));
    } else if (is_short(type)) {
        const struct code_key key = key_of_bytes(type, from);
        const struct code_key *slot = slot_of(target->cache, &key);

        if (__builtin_expect(slot_has(slot, &key), 1))
            target->codes[row] = slot->code;
        else
            learn_bytes(target, row, type, from);
    } else {
        put_code_of_bytes(target, row, kind_of(type), from, clr_serial_sizes[type]);
    }
}

/* Stores the code of the first value of the unit that the row's value is in. */
static __attribute__((noinline)) void find_unit(struct clr_target *target, size_t row,
                                                const struct clr_field *field, uint32_t type,
                                                const unsigned char *from)
{
    const struct clr_serial *serial = &clr_serials[type];
    unsigned char first[CLR_TIMESTAMP_MOST + CLR_PAGE_SLACK];

    if (serial->tag != CLR_TAG_BYTES) {
        find_number(target, row,
                    clr_time_unit_of_number(field->unit, false,
                                            clr_serial_value(serial, from, field->is_real)));
        return;
    }
    if (type % 2 != 0 &&
        clr_time_unit_of_text(field->unit, false, from, clr_serial_sizes[type], first))
        from = first;
    find_serial(target, row, type, from, field->is_real);
}

/* Stores the number that is made of TEXT; what is no timestamp of the format ends the load. */
static void put_made(struct clr_target *target, size_t row, const struct clr_field *field,
                     const unsigned char *text, size_t size)
{
    struct clr_scalar made = {.tag = CLR_TAG_INTEGER};

    if (field->pattern_size > 0)
        made.bits =
            clr_text_is_like(field->derived + field->pattern_at, field->pattern_size, text, size);
    else if (!clr_timestamp_next(field->times, text, size, &target->date, &made.bits))
        target->code = CLR_INVALID;
    target_put(target, row, made);
}

/* The same of a value that is no TEXT: only of NULL something is made, which is NULL. */
static void put_not_made(struct clr_target *target, size_t row, struct clr_scalar value)
{
    if (value.tag != CLR_TAG_NULL)
        target->code = CLR_INVALID;
    target_put(target, row, (struct clr_scalar){.tag = CLR_TAG_NULL});
}

static __attribute__((noinline)) void put_serial_made(struct clr_target *target, size_t row,
                                                      const struct clr_field *field, uint32_t type,
                                                      const unsigned char *from)
{
    if (clr_serials[type].tag == CLR_TAG_BYTES && type % 2 != 0)
        put_made(target, row, field, from, clr_serial_sizes[type]);
    else
        put_not_made(target, row, (struct clr_scalar){.tag = clr_serials[type].tag});
}

/* Stores the value of a TEXT or BLOB of a longer serial type, if its bytes are not kept. Returns
   false if they are. */
static inline bool put_long(struct clr_target *target, size_t row, const struct clr_field *field,
                            uint32_t type, const unsigned char *from, uint32_t size)
{
    if (field->with_bytes || field->with_codes)
        return false;
    if (!clr_field_is_made(field))
        target_put(target, row, (struct clr_scalar){.tag = CLR_TAG_BYTES});
    else if (type % 2 != 0)
        put_made(target, row, field, from, size);
    else
        put_not_made(target, row, (struct clr_scalar){.tag = CLR_TAG_BYTES});
    return true;
}

/* Stores a row's value of a one-byte serial type in a page, whose slack can be read; its bytes go
   to bytes. with_bytes: the field may want bytes or codes. */
static inline __attribute__((always_inline)) void
put_serial(struct clr_target *target, size_t row, const struct clr_field *field, uint32_t type,
           const unsigned char *from, struct clr_bytes *const *bytes, bool with_bytes)
{
    if (with_bytes && field->with_codes && field->unit != CLR_TIME_NONE)
        find_unit(target, row, field, type, from);
    else if (with_bytes && field->with_codes)
        find_serial(target, row, type, from, field->is_real);
    else if (with_bytes && clr_field_is_made(field))
        put_serial_made(target, row, field, type, from);
    else if (with_bytes && field->with_bytes && clr_serials[type].tag == CLR_TAG_BYTES)
        target_put_bytes(target, row, type, from, *bytes);
    else
        target_put(target, row, clr_serial_value(&clr_serials[type], from, field->is_real));
}

/* Stores a row's value as clr_record_read() has it. */
static void target_put_record(struct clr_target *target, size_t row, const struct clr_field *field,
                              struct clr_scalar value)
{
    const bool is_bytes = value.tag == CLR_TAG_BYTES && clr_field_wants_bytes(field);
    struct clr_value bytes = {.kind = CLR_KIND_NONE};
    unsigned char first[CLR_TIMESTAMP_MOST];

    if (is_bytes)
        bytes = clr_bytes_value(value.bits);
    if (clr_field_is_made(field) && bytes.kind == CLR_KIND_TEXT) {
        put_made(target, row, field, bytes.bytes, bytes.as.size);
    } else if (clr_field_is_made(field)) {
        put_not_made(target, row, value);
    } else if (target->codes == NULL) {
        target_put(target, row, value);
    } else if (is_bytes) {
        if (field->unit != CLR_TIME_NONE && bytes.kind == CLR_KIND_TEXT &&
            clr_time_unit_of_text(field->unit, false, bytes.bytes, bytes.as.size, first))
            bytes.bytes = first;
        put_code_of_bytes(target, row, bytes.kind, bytes.bytes, bytes.as.size);
    } else {
        put_code(target, row, clr_time_unit_of_number(field->unit, false, value));
    }
}

/* ---- Simple cells. */

/*
 * A cell that is simple: a payload of less than 16,384 bytes, all in the page, whose header has one
 * byte for its own size, one or two for each serial type up to the last wanted, and mostly one for
 * those that are wanted. It is decoded in one go, in a loop over the cells of a page.
 */

/* What the loop over a page's cells needs and changes. */
struct cell_loop {
    const struct clr_field *fields;
    struct clr_target *targets;
    struct clr_bytes *const *bytes;
    const unsigned char *limit; /* the end of the page's content */
    uint32_t most;              /* bytes of a payload that is in the page */
    uint32_t longest;           /* that a value may be */
    struct clr_order order;
};

/* Rowids are long or short, as clr_order_get_key() has them, or there is none. */
enum cell_rowids { CLR_ROWIDS_SHORT, CLR_ROWIDS_LONG, CLR_ROWIDS_NONE };

/*
 * Decodes the cell, whose first byte is in the page, as that row of the targets, of which there are
 * count. with_bytes: some field wants bytes or codes. Returns false if it is not simple, not sound,
 * or does not come after those before; then the row has to be decoded anew.
 */
static inline __attribute__((always_inline)) bool
decode_simple(struct cell_loop *loop, const unsigned char *cell, int count, size_t row,
              enum cell_rowids rowids, bool with_bytes)
{
    const unsigned char *payload, *types, *types_end;
    uint32_t size = cell[0], header_size, type = 0, body, bytes = 0;
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
                find_number(&loop->targets[i], row,
                            clr_time_unit_of_number(field->unit, false, value));
            else
                target_put(&loop->targets[i], row, value);
            continue;
        }
        if (field->index > index) {
            if (types_end - types < field->index - index)
                return false;
            for (; index < field->index; index++) {
                body += bytes;
                type = *types++;
                bytes = clr_serial_sizes[type];
                if (type < CLR_SERIAL_ONE_BYTE)
                    continue;
                type = (type & 0x7f) << 7 | *types;
                if (*types++ >= 0x80 || type < CLR_SERIAL_ONE_BYTE ||
                    types_end - types < field->index - index - 1)
                    return false;
                bytes = (type - 12) / 2;
            }
            if (body + bytes > size || (types == types_end && body + bytes != size))
                return false;
        }
        if (type >= CLR_SERIAL_ONE_BYTE) {
            if (bytes > loop->longest ||
                !put_long(&loop->targets[i], row, field, type, payload + body, bytes))
                return false;
            continue;
        }
        put_serial(&loop->targets[i], row, field, type, payload + body, &loop->bytes[i],
                   with_bytes);
    }
    if (rowids == CLR_ROWIDS_LONG)
        return clr_order_take(&loop->order, rowid, row == 0);
    return rowids == CLR_ROWIDS_NONE || clr_order_take_key(&loop->order, key);
}

/* The values of a column in cells that were found many at a time. */

/* Takes REALs. Returns how many; none if one of them is not a number. */
static size_t take_reals(const struct clr_cells *cells, uint32_t at, int64_t *to)
{
    const unsigned char *values = cells->page + at;
    size_t i, rows = cells->rows;
    bool has_nan = false;

    for (i = 0; i < rows; i++) {
        to[i] = (int64_t)clr_get_u64(values + cells->payloads[i]);
        has_nan |= clr_real_is_nan((uint64_t)to[i]);
    }
    return has_nan ? 0 : rows;
}

static size_t take_integers(const struct clr_cells *cells, struct clr_place place, int64_t *to)
{
    const unsigned char *values = cells->page + place.at;
    size_t i, rows = cells->rows;
    int shift = clr_serials[place.type].shift;

    for (i = 0; i < rows; i++)
        to[i] = (int64_t)clr_get_u64(values + cells->payloads[i]) >> shift;
    return rows;
}

static void take_rowids(const struct clr_cells *cells, const struct clr_field *field,
                        struct clr_target *target, size_t row)
{
    const uint32_t bytes = cells->key_bytes;
    size_t i;

    for (i = 0; i < cells->rows; i++) {
        const unsigned char *payload = cells->page + cells->payloads[i];
        int64_t key = (int64_t)(clr_get_u64(payload - bytes) >> (64 - 8 * bytes));
        struct clr_scalar value = {.tag = CLR_TAG_INTEGER, .bits = clr_order_rowid(key)};

        if (field->with_codes)
            find_number(target, row + i, clr_time_unit_of_number(field->unit, false, value));
        else
            target_put(target, row + i, value);
    }
}

/* Values that the cache lacks. */
struct unknown {
    size_t count;
    uint32_t hashes[CLR_CELLS_MOST];
    uint16_t cells[CLR_CELLS_MOST];
};

static const unsigned char *value_of(const struct clr_cells *cells, const struct clr_place *places,
                                     size_t i)
{
    return cells->page + cells->payloads[i] + places[cells->slots[i]].at;
}

/* Takes the codes of a field whose dictionary is large: all that the cache lacks is looked for
   together, so that the processor waits for memory once and not for each. */
static __attribute__((noinline)) void take_far_codes(const struct clr_cells *cells,
                                                     const struct clr_field *field,
                                                     const struct clr_place *places,
                                                     struct clr_target *target, size_t row)
{
    const struct clr_dictionary *dictionary = target->dictionary;
    struct unknown unknown = {.count = 0};
    size_t i;

    for (i = 0; i < cells->rows; i++) {
        const uint32_t type = places[cells->slots[i]].type;
        const unsigned char *from = value_of(cells, places, i);

        if (has_code(target, row + i, type, from))
            continue;
        if (clr_serials[type].tag != CLR_TAG_BYTES || !is_short(type)) {
            find_serial(target, row + i, type, from, field->is_real);
            continue;
        }
        unknown.cells[unknown.count] = (uint16_t)i;
        unknown.hashes[unknown.count] =
            clr_dictionary_hash(dictionary, kind_of(type), from, clr_serial_sizes[type]);
        clr_dictionary_fetch_slot(dictionary, unknown.hashes[unknown.count++]);
    }
    clr_dictionary_fetch_entries(dictionary, unknown.hashes, unknown.count);
    for (i = 0; i < unknown.count; i++) {
        const size_t cell = unknown.cells[i];

        learn_hashed(target, row + cell, places[cells->slots[cell]].type,
                     value_of(cells, places, cell), unknown.hashes[i]);
    }
}

/* Takes the codes of a field. */
static __attribute__((noinline)) void take_codes(const struct clr_cells *cells,
                                                 const struct clr_field *field,
                                                 const struct clr_place *places,
                                                 struct clr_target *target, size_t row)
{
    size_t i;

    for (i = 0; i < cells->rows; i++)
        find_serial(target, row + i, places[cells->slots[i]].type, value_of(cells, places, i),
                    field->is_real);
}

/* Takes the timestamps of a page all of whose values are TEXT of the format's size, while the
   target has no others. Returns false if it is not so; then nothing is taken. */
static bool take_times(const struct clr_cells *cells, const struct clr_field *field,
                       const struct clr_place *places, struct clr_target *target, size_t row)
{
    const uint32_t type = 13 + 2 * (uint32_t)clr_timestamp_size(field->times);
    const unsigned char *texts[CLR_CELLS_MOST];
    size_t i;

    if (row > 0 && target->kind != CLR_TAG_INTEGER)
        return false;
    for (i = 0; i < cells->rows; i++) {
        const struct clr_place place = places[cells->slots[i]];

        if (place.type != type)
            return false;
        texts[i] = cells->page + cells->payloads[i] + place.at;
    }
    if (!clr_timestamps_read(field->times, texts, cells->rows, &target->date, target->values + row))
        target->code = CLR_INVALID;
    if (cells->rows > 0)
        target->kind = CLR_TAG_INTEGER;
    return true;
}

/* Takes values of a field that wants bytes. Not inlined, so that fields without are none the
   slower. */
static __attribute__((noinline)) void take_with_bytes(const struct clr_cells *cells,
                                                      const struct clr_field *field,
                                                      const struct clr_place *places,
                                                      struct clr_target *target,
                                                      struct clr_bytes *bytes, size_t row)
{
    size_t i;

    for (i = 0; i < cells->rows; i++)
        put_serial(target, row + i, field, places[cells->slots[i]].type, value_of(cells, places, i),
                   &bytes, true);
}

/* Takes values of a field without bytes. Inlined, so that is_real is known. */
static inline __attribute__((always_inline)) void take_values(const struct clr_cells *cells,
                                                              const struct clr_place *places,
                                                              bool is_real,
                                                              struct clr_target *target, size_t row)
{
    struct clr_target to = *target; /* copies, as in clr_cells_find() */
    const unsigned char *page = cells->page;
    const size_t rows = cells->rows;
    size_t i;

    for (i = 0; i < rows; i++) {
        struct clr_place place = places[cells->slots[i]];

        target_put(&to, row + i,
                   clr_serial_value(&clr_serials[place.type], page + cells->payloads[i] + place.at,
                                    is_real));
    }
    *target = to;
}

/* Stores the values of the field that is number k of the shapes', as rows from row on. Its bytes go
   to bytes, if it is with bytes. */
static void cells_take(const struct clr_cells *cells, const struct clr_shapes *shapes, int k,
                       struct clr_target *target, struct clr_bytes *bytes, size_t row)
{
    const struct clr_place *places = shapes->places + (size_t)k * CLR_SHAPES;
    const struct clr_place *place = clr_cells_place(cells, shapes, k);
    const struct clr_field *field = &shapes->fields[k];
    size_t taken = 0;

    if (field->index == CLR_FIELD_ROWID) {
        take_rowids(cells, field, target, row);
        return;
    }
    if (field->times != 0 && take_times(cells, field, places, target, row))
        return;
    if (field->with_codes && field->unit == CLR_TIME_NONE) {
        if (clr_dictionary_is_far(target->dictionary))
            take_far_codes(cells, field, places, target, row);
        else
            take_codes(cells, field, places, target, row);
        return;
    }
    if (field->with_codes || clr_field_is_made(field)) {
        take_with_bytes(cells, field, places, target, bytes, row);
        return;
    }
    if (place != NULL) {
        const struct clr_serial *serial = &clr_serials[place->type];

        if (serial->tag == CLR_TAG_REAL && target->kind == CLR_TAG_REAL)
            taken = take_reals(cells, place->at, target->values + row);
        else if (serial->tag == CLR_TAG_INTEGER && serial->mask != 0 && !field->is_real &&
                 target->kind == CLR_TAG_INTEGER)
            taken = take_integers(cells, *place, target->values + row);
    }
    if (taken == cells->rows)
        return;
    if (field->with_bytes)
        take_with_bytes(cells, field, places, target, bytes, row);
    else if (field->is_real)
        take_values(cells, places, true, target, row);
    else
        take_values(cells, places, false, target, row);
}

/* ---- Pages. */

/*
 * Most cells are simple; what is not simple, or not sound, is left to
 * clr_record_read(), which does without such conditions.
 *
 * Most simple cells are like others before: their records' shape is known, and the rowid is as long
 * as the last one. Such cells are found a block at a time, and then each column is taken from them.
 *
 * Cells of an index have no rowid, and no order that could be checked without its collations: which
 * rows there are is all that counts.
 */

enum { PAGES_WITHOUT_SHAPES = 31 }; /* once most rows of a page had none that was known */

/* Says why a row has no code, or no number is made of it. */
static enum clr_load_outcome no_code(struct clr_decoder *decoder, int k)
{
    const struct clr_target *target = &decoder->targets[k];

    if (target->code == CLR_NOMEM)
        return clr_pages_no_memory(decoder->reader.pages);
    if (target->code == CLR_LIMIT && target->dictionary->count < CLR_DICTIONARY_MOST)
        return CLR_LOAD_TOO_LARGE;
    decoder->reader.pages->code = decoder->fields[k].position;
    return CLR_LOAD_MANY_VALUES;
}

/* Whether all bytes and codes could be added so far. */
static enum clr_load_outcome check_bytes(struct clr_decoder *decoder)
{
    int k;

    for (k = 0; k < decoder->count; k++) {
        if (decoder->targets[k].code != CLR_OK)
            return no_code(decoder, k);
        if (decoder->fields[k].with_bytes && decoder->bytes[k]->code != CLR_OK)
            return clr_record_no_bytes(decoder->reader.pages, decoder->bytes[k]);
    }
    return CLR_LOAD_DONE;
}

/* Whether the rows from that one on have a NULL. A dictionary that is filled here has no entry that
   no row has. */
static bool has_null(const struct clr_target *target, size_t row, size_t rows)
{
    if (target->codes != NULL)
        return target->dictionary->has_null;
    return target->kind == CLR_TAG_NULL || (target->kind == CLR_TAG_MIXED &&
                                            memchr(target->tags + row, CLR_TAG_NULL, rows) != NULL);
}

/* Whether the rows from that one on have no NULL where there may be none. */
static enum clr_load_outcome check_nulls(const struct clr_decoder *decoder, size_t row)
{
    const size_t rows = decoder->rows - row;
    int k;

    for (k = 0; k < decoder->count && rows > 0; k++) {
        if (decoder->fields[k].never_null && has_null(&decoder->targets[k], row, rows))
            return CLR_LOAD_UNSURE;
    }
    return CLR_LOAD_DONE;
}

/* Makes what fields with codes need. */
static bool prepare_codes(struct clr_decoder *decoder)
{
    int k;

    for (k = 0; k < decoder->count; k++) {
        decoder->bytes[k] = &decoder->passing;
        if (!decoder->fields[k].with_codes)
            continue;
        decoder->caches[k] = clr_memory_alloc_zero(sizeof *decoder->caches[k]);
        if (decoder->caches[k] == NULL)
            return false;
    }
    return true;
}

bool clr_decoder_init(struct clr_decoder *decoder, struct clr_pages *pages,
                      const struct clr_field *fields, int count)
{
    int i;

    *decoder = (struct clr_decoder){.fields = fields, .count = count};
    clr_record_reader_init(&decoder->reader, pages);
    decoder->targets = clr_memory_alloc(((size_t)count + 1) * sizeof *decoder->targets);
    decoder->values = clr_memory_alloc(((size_t)count + 1) * sizeof *decoder->values);
    decoder->bytes = clr_memory_alloc(((size_t)count + 1) * sizeof(struct clr_bytes *));
    decoder->reader.bytes = decoder->bytes;
    decoder->caches = clr_memory_alloc_zero(((size_t)count + 1) * sizeof(struct clr_code_cache *));
    for (i = 0; i < count; i++) {
        decoder->with_bytes = decoder->with_bytes || clr_field_wants_bytes(&fields[i]);
        decoder->never_null = decoder->never_null || fields[i].never_null;
    }
    return clr_shapes_init(&decoder->shapes, fields, count, decoder->reader.max_local) &&
           decoder->targets != NULL && decoder->values != NULL && decoder->bytes != NULL &&
           decoder->caches != NULL && prepare_codes(decoder);
}

void clr_decoder_free(struct clr_decoder *decoder)
{
    int k;

    for (k = 0; k < decoder->count && decoder->caches != NULL; k++)
        clr_memory_free(decoder->caches[k]);
    clr_memory_free((void *)decoder->caches);
    clr_record_reader_free(&decoder->reader);
    clr_memory_free(decoder->targets);
    clr_memory_free(decoder->values);
    clr_memory_free((void *)decoder->bytes);
    clr_bytes_free(&decoder->passing);
    clr_shapes_free(&decoder->shapes);
}

void clr_decoder_begin(struct clr_decoder *decoder)
{
    decoder->rows = 0;
    clr_order_init(&decoder->order);
}

void clr_decoder_begin_columns(struct clr_decoder *decoder, struct clr_column *const *columns)
{
    int k;

    clr_decoder_begin(decoder);
    for (k = 0; k < decoder->count; k++) {
        struct clr_column *column = columns[decoder->fields[k].position];

        decoder->targets[k] = clr_target_at(column, 0);
        decoder->targets[k].cache = decoder->caches[k];
        if (decoder->fields[k].with_bytes)
            decoder->bytes[k] = &column->bytes;
    }
}

void clr_decoder_end_columns(const struct clr_decoder *decoder, struct clr_column *const *columns)
{
    int k;

    for (k = 0; k < decoder->count; k++) {
        struct clr_column *column = columns[decoder->fields[k].position];

        column->kind = decoder->targets[k].kind; /* of codes CLR_TAG_MIXED, as it was */
        column->rows = decoder->rows;
        column->with_bytes = decoder->fields[k].with_bytes;
    }
}

/* Returns what the loop over a page's cells needs. */
static struct cell_loop loop_of(const struct clr_decoder *decoder, const struct clr_page *page)
{
    const struct clr_source *source = decoder->reader.pages->source;

    return (struct cell_loop){.fields = decoder->fields,
                              .targets = decoder->targets,
                              .bytes = decoder->bytes,
                              .limit = page->data + source->usable_size,
                              .most = decoder->reader.max_local,
                              .longest = source->longest == 0 ? UINT32_MAX : source->longest,
                              .order = decoder->order};
}

/* Decodes the cell, of a table if its rowid is long, or by the general way. */
static __attribute__((noinline)) enum clr_load_outcome decode_other(struct clr_decoder *decoder,
                                                                    uint32_t number,
                                                                    const struct clr_page *page,
                                                                    uint32_t offset, size_t row)
{
    struct clr_pages *pages = decoder->reader.pages;
    struct cell_loop loop = loop_of(decoder, page);
    const bool is_index = pages->source->is_index;
    const unsigned char *cell = page->data + offset;
    enum clr_load_outcome outcome;
    int64_t rowid;
    int i;

    if (is_index
            ? decode_simple(&loop, cell, decoder->count, row, CLR_ROWIDS_NONE, decoder->with_bytes)
            : decode_simple(&loop, cell, decoder->count, row, CLR_ROWIDS_LONG,
                            decoder->with_bytes)) {
        decoder->order = loop.order;
        return CLR_LOAD_DONE;
    }
    outcome = clr_record_read(&decoder->reader, number, page->data, offset, decoder->fields,
                              decoder->count, &rowid, decoder->values);
    for (i = 0; i < decoder->count && outcome == CLR_LOAD_DONE; i++)
        target_put_record(&decoder->targets[i], row, &decoder->fields[i], decoder->values[i]);
    if (decoder->passing.blocks != NULL)
        clr_bytes_clear(&decoder->passing);
    if (outcome == CLR_LOAD_DONE && !is_index && !clr_order_take(&decoder->order, rowid, row == 0))
        return clr_page_malformed(pages, number);
    return outcome;
}

static inline __attribute__((always_inline)) enum clr_load_outcome
decode_cells(struct clr_decoder *decoder, uint32_t number, const struct clr_page *page,
             enum cell_rowids rowids, bool with_bytes)
{
    struct clr_pages *pages = decoder->reader.pages;
    struct cell_loop loop = loop_of(decoder, page);
    size_t row = decoder->rows, end = row + page->cells;
    const unsigned char *pointer = page->pointers;

    for (; row < end; row++, pointer += 2) {
        uint32_t offset = clr_get_u16(pointer);
        enum clr_load_outcome outcome;

        if (offset - page->first > page->last - page->first)
            return clr_page_malformed(pages, number);
        if (rowids == CLR_ROWIDS_NONE)
            offset += page->child;
        if (__builtin_expect(
                decode_simple(&loop, page->data + offset, decoder->count, row, rowids, with_bytes),
                1))
            continue;
        decoder->order = loop.order;
        outcome = decode_other(decoder, number, page, offset, row);
        if (outcome != CLR_LOAD_DONE)
            return outcome;
        loop.order = decoder->order;
    }
    decoder->order = loop.order;
    decoder->rows = row;
    return CLR_LOAD_DONE;
}

/* Decodes the cells of a leaf by their shapes, and learns those that it does not know. */
static enum clr_load_outcome decode_by_shape(struct clr_decoder *decoder, uint32_t number,
                                             const struct clr_page *page)
{
    const unsigned char *pointer = page->pointers;
    const bool is_index = decoder->reader.pages->source->is_index;
    size_t row = decoder->rows, end = row + page->cells, others = 0;
    struct clr_cells block;
    int k;

    while (row < end) {
        size_t most = end - row < CLR_CELLS_MOST ? end - row : CLR_CELLS_MOST;
        enum clr_load_outcome outcome;
        uint32_t offset;
        int64_t rowid;

        block.rows = 0;
        if (is_index || clr_order_has_key(&decoder->order))
            clr_cells_find(&block, &decoder->shapes, is_index ? NULL : &decoder->order, page,
                           decoder->reader.pages->source->usable_size, pointer, most);
        for (k = 0; k < decoder->count && block.rows > 0; k++)
            cells_take(&block, &decoder->shapes, k, &decoder->targets[k], decoder->bytes[k], row);
        row += block.rows;
        pointer += 2 * block.rows;
        if (block.rows == most)
            continue;
        offset = clr_get_u16(pointer);
        if (offset - page->first > page->last - page->first)
            return clr_page_malformed(decoder->reader.pages, number);
        outcome = decode_other(decoder, number, page, offset, row);
        if (outcome != CLR_LOAD_DONE)
            return outcome;
        clr_shapes_learn(&decoder->shapes, is_index ? clr_page_open_index_cell(page, offset)
                                                    : clr_page_open_cell(page, offset, &rowid));
        row++;
        pointer += 2;
        others++;
    }
    decoder->rows = row;
    if (others > page->cells / 2)
        decoder->pages_without_shapes = PAGES_WITHOUT_SHAPES;
    return CLR_LOAD_DONE;
}

/* Decodes the cells of a page, whatever way is the best. */
static enum clr_load_outcome decode_page(struct clr_decoder *decoder, uint32_t number,
                                         const struct clr_page *page)
{
    if (decoder->shapes.mask.first != 0 && decoder->pages_without_shapes == 0 && page->child == 0)
        return decode_by_shape(decoder, number, page);
    if (decoder->pages_without_shapes > 0)
        decoder->pages_without_shapes--;
    if (decoder->reader.pages->source->is_index)
        return decode_cells(decoder, number, page, CLR_ROWIDS_NONE, true);
    return decoder->with_bytes ? decode_cells(decoder, number, page, CLR_ROWIDS_SHORT, true)
                               : decode_cells(decoder, number, page, CLR_ROWIDS_SHORT, false);
}

enum clr_load_outcome clr_decode_leaf(struct clr_decoder *decoder, const struct clr_page *page,
                                      struct clr_leaf *leaf)
{
    const uint64_t followed = decoder->reader.followed, divided = decoder->reader.divided;
    const size_t row = decoder->rows;
    enum clr_load_outcome outcome = decode_page(decoder, leaf->number, page);

    if (outcome == CLR_LOAD_DONE && decoder->with_bytes)
        outcome = check_bytes(decoder);
    if (outcome == CLR_LOAD_DONE && decoder->never_null)
        outcome = check_nulls(decoder, row);
    leaf->first = leaf->last = 0;
    leaf->rows = (uint16_t)page->cells;
    leaf->is_chained = decoder->reader.followed != followed;
    leaf->is_divided = decoder->reader.divided != divided;
    if (outcome == CLR_LOAD_DONE && page->cells > 0 && !decoder->reader.pages->source->is_index) {
        clr_page_open_cell(page, clr_get_u16(page->pointers), &leaf->first); /* is sound */
        leaf->last = clr_order_last(&decoder->order);
    }
    return outcome;
}
