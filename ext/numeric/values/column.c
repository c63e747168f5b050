#include "numeric/values/column.h"

#include "base/memory.h"
#include "base/system.h"

static size_t find_size(size_t count, bool has_sums)
{
    return sizeof(struct clr_zones) + (count + clr_zones_coarse(count)) * sizeof(struct clr_zone) +
           (has_sums ? count * sizeof(struct clr_zone_sum) : 0);
}

struct clr_zones *clr_zones_new(const struct clr_column *column, size_t rows)
{
    const bool has_sums = column->codes == NULL;
    const size_t count = clr_zones_of(rows);
    struct clr_zones *zones = clr_memory_alloc(find_size(count, has_sums));

    if (zones == NULL)
        return NULL;
    zones->rows = rows;
    zones->count = count;
    zones->sums =
        has_sums ? (struct clr_zone_sum *)(void *)((char *)zones + find_size(count, false)) : NULL;
    return zones;
}

static const size_t tag_bytes = 1, value_bytes = 8;

/* Returns where tags lie behind so many values of that width, or the first byte after them. */
static size_t tags_at(size_t capacity, size_t width)
{
    return (capacity * width + CLR_COLUMN_ALIGNMENT - 1) & ~((size_t)CLR_COLUMN_ALIGNMENT - 1);
}

/* Returns a column whose rows take width bytes each in *area, and then a tag if it has tags; or
   NULL. */
static struct clr_column *new_column(size_t capacity, size_t width, bool has_tags, void **area)
{
    struct clr_column *column;

    if (capacity > (SIZE_MAX - CLR_COLUMN_ALIGNMENT) / (width + tag_bytes))
        return NULL;
    column = clr_memory_alloc(sizeof *column);
    if (column == NULL)
        return NULL;
    *area = clr_system_map(tags_at(capacity, width) + (has_tags ? capacity : 0));
    if (*area == NULL) {
        clr_memory_free(column);
        return NULL;
    }
    memset(column, 0, sizeof *column);
    atomic_init(&column->references, 1);
    column->capacity = capacity;
    clr_column_renew_version(column, 0, 0);
    return column;
}

void clr_column_renew_version(struct clr_column *column, uint64_t previous, size_t same_rows)
{
    static atomic_uint_least64_t versions;

    column->version = atomic_fetch_add(&versions, 1) + 1;
    column->previous = previous;
    column->same_rows = same_rows;
}

struct clr_column *clr_column_new(size_t capacity)
{
    return clr_column_new_framed(capacity, &(struct clr_frame){.bytes = 0});
}

struct clr_column *clr_column_new_framed(size_t capacity, const struct clr_frame *frame)
{
    const size_t width = frame->bytes == 0 ? value_bytes : frame->bytes;
    struct clr_column *column;
    void *area;

    if (capacity == 0)
        capacity = 1;
    column = new_column(capacity, width, true, &area);
    if (column == NULL)
        return NULL;
    if (frame->bytes == 0) {
        column->values = area;
    } else {
        column->words = area;
        column->frame = *frame;
    }
    column->tags = (uint8_t *)area + tags_at(capacity, width);
    return column;
}

struct clr_column *clr_column_new_narrow(const struct clr_column *column)
{
    const struct clr_frame bounds = clr_frame_find(NULL, column->values, column->rows);
    const struct clr_frame frame = clr_frame_choose(&bounds, 1);
    struct clr_column *narrow;

    if (frame.bytes == 0 || clr_column_has_addresses(column))
        return NULL;
    narrow = clr_column_new_framed(column->rows, &frame);
    if (narrow == NULL)
        return NULL;
    narrow->rows = column->rows;
    narrow->kind = column->kind;
    narrow->with_bytes = column->with_bytes;
    clr_column_put_values(narrow, 0, column->values, column->rows);
    if (column->kind == CLR_TAG_MIXED)
        memcpy(narrow->tags, column->tags, column->rows);
    return narrow;
}

struct clr_column *clr_column_new_codes(struct clr_dictionary *dictionary, size_t capacity,
                                        uint8_t code_bytes)
{
    struct clr_column *column;
    void *area;

    if (capacity == 0)
        capacity = 1;
    column = new_column(capacity, code_bytes, false, &area);
    if (column == NULL)
        return NULL;
    column->kind = CLR_TAG_MIXED;
    column->codes = area;
    column->code_bytes = code_bytes;
    column->dictionary = clr_dictionary_retain(dictionary);
    return column;
}

struct clr_column *clr_column_retain(struct clr_column *column)
{
    atomic_fetch_add(&column->references, 1);
    return column;
}

void clr_column_release(struct clr_column *column)
{
    if (column == NULL || atomic_fetch_sub(&column->references, 1) > 1)
        return;
    clr_memory_free(atomic_load(&column->zones));
    clr_bytes_free(&column->bytes);
    clr_dictionary_release(column->dictionary);
    if (column->codes != NULL)
        clr_system_unmap(column->codes, tags_at(column->capacity, column->code_bytes));
    else
        clr_system_unmap(column->words != NULL ? column->words : column->values,
                         tags_at(column->capacity, clr_column_width(column)) + column->capacity);
    clr_memory_free(column);
}

/* Inlined for each pair of sizes. */
static inline __attribute__((always_inline)) void map_codes(void *to, size_t to_bytes,
                                                            const void *from, size_t from_bytes,
                                                            size_t rows, const uint32_t *map)
{
    size_t i;

    for (i = 0; i < rows; i++) {
        uint32_t code = from_bytes == 1   ? ((const uint8_t *)from)[i]
                        : from_bytes == 2 ? ((const uint16_t *)from)[i]
                                          : ((const uint32_t *)from)[i];

        if (map != NULL)
            code = map[code];
        if (to_bytes == 1)
            ((uint8_t *)to)[i] = (uint8_t)code;
        else if (to_bytes == 2)
            ((uint16_t *)to)[i] = (uint16_t)code;
        else
            ((uint32_t *)to)[i] = code;
    }
}

/* Likewise, for each size that codes are kept in. */
static inline __attribute__((always_inline)) void map_codes_from(void *to, size_t to_bytes,
                                                                 const void *from,
                                                                 size_t from_bytes, size_t rows,
                                                                 const uint32_t *map)
{
    if (to_bytes == 1)
        map_codes(to, 1, from, from_bytes, rows, map);
    else if (to_bytes == 2)
        map_codes(to, 2, from, from_bytes, rows, map);
    else
        map_codes(to, 4, from, from_bytes, rows, map);
}

void clr_column_map_codes(struct clr_column *to, size_t at, const struct clr_column *from,
                          size_t first, size_t rows, const uint32_t *map)
{
    const size_t to_bytes = to->code_bytes, from_bytes = from->code_bytes;
    void *target = (unsigned char *)to->codes + at * to_bytes;
    const void *source = (const unsigned char *)from->codes + first * from_bytes;

    if (map == NULL && to_bytes == from_bytes)
        memmove(target, source, rows * to_bytes);
    else if (from_bytes == 1)
        map_codes_from(target, to_bytes, source, 1, rows, map);
    else if (from_bytes == 2)
        map_codes_from(target, to_bytes, source, 2, rows, map);
    else
        map_codes_from(target, to_bytes, source, 4, rows, map);
}

void clr_column_set_zones(struct clr_column *column, struct clr_zones *zones)
{
    struct clr_zones *none = NULL;

    if (!atomic_compare_exchange_strong(&column->zones, &none, zones))
        clr_memory_free(zones);
}

size_t clr_column_size(const struct clr_column *column)
{
    const struct clr_zones *found = clr_column_zones(column);
    const size_t zones = found == NULL ? 0 : find_size(found->count, found->sums != NULL);

    if (column->codes != NULL)
        return zones + column->rows * column->code_bytes +
               (column->dictionary == NULL ? 0 : clr_dictionary_size(column->dictionary));
    return zones +
           column->rows *
               (clr_column_width(column) + (column->kind == CLR_TAG_MIXED ? tag_bytes : 0)) +
           column->bytes.size;
}
