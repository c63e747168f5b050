#include "storage/leaves/cell_values.h"

typedef double reals __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t masks __attribute__((vector_size(16)));

/* Returns whether one of the REALs is not a number: such a one differs from itself. */
static bool has_nan(const int64_t *values, size_t count)
{
    masks differ = {0, 0};
    size_t i;

    for (i = 0; i + 2 <= count; i += 2) {
        reals two = *(const reals *)(values + i);

        differ |= two != two;
    }
    return (differ[0] | differ[1]) != 0 || (i < count && clr_real_is_nan((uint64_t)values[i]));
}

/* Takes REALs. Returns how many; none if one of them is not a number. */
static size_t take_reals(const struct clr_cells *cells, uint32_t at, int64_t *to)
{
    const unsigned char *values = cells->page + at;
    size_t i, rows = cells->rows;

    for (i = 0; i + 2 <= rows; i += 2) {
        to[i] = (int64_t)clr_get_u64(values + cells->payloads[i]);
        to[i + 1] = (int64_t)clr_get_u64(values + cells->payloads[i + 1]);
    }
    if (i < rows)
        to[i] = (int64_t)clr_get_u64(values + cells->payloads[i]);
    return has_nan(to, rows) ? 0 : rows;
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

static void take_rowids(const struct clr_cells *cells, struct clr_target *target, size_t row,
                        bool with_codes)
{
    const uint32_t bytes = cells->key_bytes;
    size_t i;

    for (i = 0; i < cells->rows; i++) {
        const unsigned char *payload = cells->page + cells->payloads[i];
        int64_t key = (int64_t)(clr_get_u64(payload - bytes) >> (64 - 8 * bytes));
        struct clr_scalar value = {.tag = CLR_TAG_INTEGER, .bits = clr_order_rowid(key)};

        if (with_codes)
            clr_target_find_number(target, row + i, value);
        else
            clr_target_put(target, row + i, value);
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
        const enum clr_kind kind = type % 2 != 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB;

        if (clr_target_has_code(target, row + i, type, from))
            continue;
        if (clr_serials[type].tag != CLR_TAG_BYTES || !clr_code_is_short(type)) {
            clr_target_find_serial(target, row + i, type, from, field->is_real);
            continue;
        }
        unknown.cells[unknown.count] = (uint16_t)i;
        unknown.hashes[unknown.count] =
            clr_dictionary_hash(dictionary, kind, from, clr_serial_sizes[type]);
        clr_dictionary_fetch_slot(dictionary, unknown.hashes[unknown.count++]);
    }
    for (i = 0; i < unknown.count; i++)
        clr_dictionary_fetch_entry(dictionary, unknown.hashes[i]);
    for (i = 0; i < unknown.count; i++)
        clr_dictionary_fetch_bytes(dictionary, unknown.hashes[i]);
    for (i = 0; i < unknown.count; i++) {
        const size_t cell = unknown.cells[i];

        clr_target_learn_hashed(target, row + cell, places[cells->slots[cell]].type,
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

    for (i = 0; i < cells->rows; i++) {
        struct clr_place place = places[cells->slots[i]];

        clr_target_find_serial(target, row + i, place.type,
                               cells->page + cells->payloads[i] + place.at, field->is_real);
    }
}

/* Takes values of a field with bytes. Not inlined, so that fields without are none the slower. */
static __attribute__((noinline)) void take_with_bytes(const struct clr_cells *cells,
                                                      const struct clr_field *field,
                                                      const struct clr_place *places,
                                                      struct clr_target *target,
                                                      struct clr_bytes *bytes, size_t row)
{
    size_t i;

    for (i = 0; i < cells->rows; i++) {
        struct clr_place place = places[cells->slots[i]];
        const unsigned char *from = cells->page + cells->payloads[i] + place.at;

        if (clr_serials[place.type].tag == CLR_TAG_BYTES)
            clr_target_put_bytes(target, row + i, place.type, from, bytes);
        else
            clr_target_put(target, row + i,
                           clr_serial_value(&clr_serials[place.type], from, field->is_real));
    }
}

/* Takes numbers of which the column has had no others yet: those before the first that is none, or
   that has another type, and returns how many. Inlined, so that is_real is known. */
static inline __attribute__((always_inline)) size_t take_numbers(const struct clr_cells *cells,
                                                                 const struct clr_place *places,
                                                                 bool is_real, int64_t *to)
{
    const unsigned char *page = cells->page;
    const size_t rows = cells->rows;
    size_t i;

    for (i = 0; i < rows; i++) {
        const struct clr_place place = places[cells->slots[i]];
        struct clr_scalar value = {.bits =
                                       (int64_t)clr_get_u64(page + cells->payloads[i] + place.at)};
        const struct clr_serial *serial;

        if (is_real && place.type == CLR_SERIAL_REAL) {
            if (clr_real_is_nan((uint64_t)value.bits))
                break;
            to[i] = value.bits;
            continue;
        }
        serial = &clr_serials[place.type];
        if (serial->tag != CLR_TAG_INTEGER)
            break;
        value.tag = CLR_TAG_INTEGER;
        value.bits = ((value.bits >> serial->shift) & (int64_t)serial->mask) + serial->one;
        to[i] = is_real ? clr_scalar_to_real(value).bits : value.bits;
    }
    return i;
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
    size_t i = 0;

    if (to.kind == (is_real ? CLR_TAG_REAL : CLR_TAG_INTEGER))
        i = take_numbers(cells, places, is_real, to.values + row);
    for (; i < rows; i++) {
        struct clr_place place = places[cells->slots[i]];

        clr_target_put(&to, row + i,
                       clr_serial_value(&clr_serials[place.type],
                                        page + cells->payloads[i] + place.at, is_real));
    }
    *target = to;
}

void clr_cells_take(const struct clr_cells *cells, const struct clr_shapes *shapes, int k,
                    struct clr_target *target, struct clr_bytes *bytes, size_t row)
{
    const struct clr_place *places = shapes->places + (size_t)k * CLR_SHAPES;
    const struct clr_field *field = &shapes->fields[k];
    size_t taken = 0;

    if (field->index == CLR_FIELD_ROWID) {
        take_rowids(cells, target, row, field->with_codes);
        return;
    }
    if (field->with_codes && clr_dictionary_is_far(target->dictionary)) {
        take_far_codes(cells, field, places, target, row);
        return;
    }
    if (field->with_codes) {
        take_codes(cells, field, places, target, row);
        return;
    }
    if (cells->is_uniform) {
        struct clr_place place = places[shapes->slot];
        const struct clr_serial *serial = &clr_serials[place.type];

        if (serial->tag == CLR_TAG_REAL && target->kind == CLR_TAG_REAL)
            taken = take_reals(cells, place.at, target->values + row);
        else if (serial->tag == CLR_TAG_INTEGER && serial->mask != 0 && !field->is_real &&
                 target->kind == CLR_TAG_INTEGER)
            taken = take_integers(cells, place, target->values + row);
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
