#include "numeric/distinct/distinct.h"

#include <string.h>

/* Numbers that are sorted into the two tables at a time. */
enum { BATCH = 256 };

void clr_distinct_init(struct clr_distinct *distinct, struct clr_budget *budget, bool typed,
                       uint64_t seed)
{
    clr_number_table_init(&distinct->whole, budget, seed);
    clr_number_table_init(&distinct->fractional, budget, seed);
    clr_number_table_init(&distinct->whole_real, budget, seed);
    clr_byte_table_init(&distinct->bytes, budget, seed);
    distinct->typed = typed;
}

void clr_distinct_clear(struct clr_distinct *distinct, bool typed)
{
    clr_number_table_clear(&distinct->whole);
    clr_number_table_clear(&distinct->fractional);
    clr_number_table_clear(&distinct->whole_real);
    clr_byte_table_clear(&distinct->bytes);
    distinct->typed = typed;
}

void clr_distinct_free(struct clr_distinct *distinct)
{
    clr_number_table_free(&distinct->whole);
    clr_number_table_free(&distinct->fractional);
    clr_number_table_free(&distinct->whole_real);
    clr_byte_table_free(&distinct->bytes);
}

enum clr_code clr_distinct_add_integers(struct clr_distinct *distinct, const int64_t *integers,
                                        size_t count)
{
    return clr_number_table_add(&distinct->whole, (const uint64_t *)integers, count);
}

enum clr_code clr_distinct_add_reals(struct clr_distinct *distinct, const clr_stored_real *reals,
                                     size_t count)
{
    uint64_t whole[BATCH], fractional[BATCH];
    enum clr_code code = CLR_OK;
    size_t wholes, n;

    for (; count > 0 && code == CLR_OK; count -= n, reals += n) {
        n = count < BATCH ? count : BATCH;
        wholes = clr_distinct_keys(reals, n, whole, fractional);
        code = clr_number_table_add(&distinct->whole, whole, wholes);
        if (code == CLR_OK)
            code = clr_number_table_add(&distinct->fractional, fractional, n - wholes);
        if (code == CLR_OK && distinct->typed)
            code = clr_number_table_add(&distinct->whole_real, whole, wholes);
    }
    return code;
}

enum clr_code clr_distinct_add_bytes(struct clr_distinct *distinct, const struct clr_value *value)
{
    return clr_byte_table_add(&distinct->bytes, value);
}

void clr_distinct_remove(struct clr_distinct *distinct, const struct clr_value *value)
{
    uint64_t key = (uint64_t)value->as.integer;
    bool real = value->kind == CLR_KIND_REAL;

    if (value->kind >= CLR_KIND_TEXT) {
        clr_byte_table_remove(&distinct->bytes, value);
    } else if (real && !clr_distinct_key(value->as.real, &key)) {
        clr_number_table_remove(&distinct->fractional, key);
    } else {
        clr_number_table_remove(&distinct->whole, key);
        if (real && distinct->typed)
            clr_number_table_remove(&distinct->whole_real, key);
    }
}

uint64_t clr_distinct_size(const struct clr_distinct *distinct)
{
    return clr_number_table_size(&distinct->whole) + clr_number_table_size(&distinct->fractional) +
           distinct->bytes.used;
}

uint64_t clr_distinct_find(const struct clr_distinct *distinct, const struct clr_value *value)
{
    const struct clr_byte_entry *entry;
    uint64_t key;

    if (value->kind >= CLR_KIND_TEXT) {
        entry = clr_byte_table_find(&distinct->bytes, value);
        return entry != NULL ? entry->count : 0;
    }
    if (value->kind == CLR_KIND_INTEGER)
        return clr_number_table_find(&distinct->whole, (uint64_t)value->as.integer);
    if (clr_distinct_key(value->as.real, &key))
        return clr_number_table_find(&distinct->whole, key);
    return clr_number_table_find(&distinct->fractional, key);
}

/* Of a value in the table of whole numbers. */
static struct clr_value whole_value(const struct clr_distinct *distinct, int64_t integer,
                                    uint64_t count)
{
    struct clr_value value = {.kind = CLR_KIND_INTEGER, .as.integer = integer};

    if (clr_number_table_find(&distinct->whole_real, (uint64_t)integer) == count) {
        value.kind = CLR_KIND_REAL;
        value.as.real = (double)integer;
    }
    return value;
}

bool clr_distinct_next(const struct clr_distinct *distinct, struct clr_distinct_cursor *cursor)
{
    const struct clr_byte_entry *entry;
    uint64_t key;

    if (cursor->table == 0) {
        if (clr_number_table_next(&distinct->whole, &cursor->position, &key, &cursor->count)) {
            cursor->value = whole_value(distinct, (int64_t)key, cursor->count);
            return true;
        }
        cursor->table = 1;
        cursor->position = 0;
    }
    if (cursor->table == 1) {
        if (clr_number_table_next(&distinct->fractional, &cursor->position, &key, &cursor->count)) {
            cursor->value = (struct clr_value){.kind = CLR_KIND_REAL};
            memcpy(&cursor->value.as.real, &key, sizeof key);
            return true;
        }
        cursor->table = 2;
        cursor->position = 0;
    }
    entry = clr_byte_table_next(&distinct->bytes, &cursor->position);
    if (entry == NULL)
        return false;
    cursor->value = (struct clr_value){.kind = entry->kind, .bytes = entry->bytes};
    cursor->value.as.size = entry->size;
    cursor->count = entry->count;
    return true;
}

void clr_distinct_type(const struct clr_distinct *distinct, struct clr_value *value)
{
    uint64_t key;

    if (value->kind == CLR_KIND_REAL && clr_distinct_key(value->as.real, &key)) {
        value->kind = CLR_KIND_INTEGER;
        value->as.integer = (int64_t)key;
    }
    if (value->kind == CLR_KIND_INTEGER)
        *value = whole_value(distinct, value->as.integer, clr_distinct_find(distinct, value));
}
