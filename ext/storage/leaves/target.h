/* Where a run of rows of one column is decoded to: values and tags, or codes of a dictionary. */
#ifndef CLR_STORAGE_TARGET_H
#define CLR_STORAGE_TARGET_H

#include "storage/leaves/code_cache.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct clr_target {
    int64_t *values;
    uint8_t *tags;   /* written from the first row on whose tag differs from those before */
    uint8_t kind;    /* of the rows so far, CLR_TAG_MIXED if they differ */
    uint32_t *codes; /* NULL: values */
    struct clr_dictionary *dictionary; /* of the codes */
    struct clr_code_cache *cache;      /* the same */
    enum clr_code code;                /* CLR_OK, or why a row has no code */
};

/* Returns the target for rows of a column from that one on. Codes, with the column's dictionary,
   are those of four bytes. */
static inline struct clr_target clr_target_at(struct clr_column *column, size_t row)
{
    if (column->codes != NULL)
        return (struct clr_target){.codes = (uint32_t *)column->codes + row,
                                   .dictionary = column->dictionary,
                                   .kind = CLR_TAG_MIXED};
    return (struct clr_target){
        .values = column->values + row, .tags = column->tags + row, .kind = CLR_TAG_NULL};
}

/* Stores a row's value. */
static inline __attribute__((always_inline)) void
clr_target_put(struct clr_target *target, size_t row, struct clr_scalar value)
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
static inline void clr_target_put_bytes(struct clr_target *target, size_t row, uint32_t type,
                                        const unsigned char *from, struct clr_bytes *bytes)
{
    struct clr_scalar value = {.tag = CLR_TAG_BYTES};
    uint32_t size = clr_serial_sizes[type];
    unsigned char *to =
        clr_bytes_add(bytes, type % 2 != 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB, size, &value.bits);

    if (to != NULL)
        memcpy(to, from, size);
    clr_target_put(target, row, value);
}

/* Stores the code of a row's TEXT or BLOB by the dictionary. A failure is found later. */
void clr_target_put_code_of_bytes(struct clr_target *target, size_t row, enum clr_kind kind,
                                  const void *bytes, size_t size);

/* The same, and keep the code in the cache. */
void clr_target_learn_number(struct clr_target *target, size_t row, struct clr_scalar value);
void clr_target_learn_bytes(struct clr_target *target, size_t row, uint32_t type,
                            const unsigned char *from);

/* The second by the hash that the dictionary has for the value. */
void clr_target_learn_hashed(struct clr_target *target, size_t row, uint32_t type,
                             const unsigned char *from, uint32_t hash);

/* Stores the code of NULL or a number, which the cache may have. */
static inline __attribute__((always_inline)) void
clr_target_find_number(struct clr_target *target, size_t row, struct clr_scalar value)
{
    const struct clr_code_key key = clr_code_key_of_number(value);
    const struct clr_code_key *slot = clr_code_cache_slot(target->cache, &key);

    if (__builtin_expect(clr_code_slot_has(slot, &key), 1))
        target->codes[row] = slot->code;
    else
        clr_target_learn_number(target, row, value);
}

/* Whether a row's value is a short TEXT or BLOB that the cache has: then its code is stored. */
static inline __attribute__((always_inline)) bool
clr_target_has_code(struct clr_target *target, size_t row, uint32_t type, const unsigned char *from)
{
    const struct clr_code_key *slot;
    struct clr_code_key key;

    if (clr_serials[type].tag != CLR_TAG_BYTES || !clr_code_is_short(type))
        return false;
    key = clr_code_key_of_bytes(type, from);
    slot = clr_code_cache_slot(target->cache, &key);
    if (!clr_code_slot_has(slot, &key))
        return false;
    target->codes[row] = slot->code;
    return true;
}

/* Stores the code of a row's value of a one-byte serial type in a page, whose slack can be read. */
static inline __attribute__((always_inline)) void clr_target_find_serial(struct clr_target *target,
                                                                         size_t row, uint32_t type,
                                                                         const unsigned char *from,
                                                                         bool is_real)
{
    const struct clr_serial *serial = &clr_serials[type];

    if (serial->tag != CLR_TAG_BYTES) {
        clr_target_find_number(target, row, clr_serial_value(serial, from, is_real));
    } else if (clr_code_is_short(type)) {
        const struct clr_code_key key = clr_code_key_of_bytes(type, from);
        const struct clr_code_key *slot = clr_code_cache_slot(target->cache, &key);

        if (__builtin_expect(clr_code_slot_has(slot, &key), 1))
            target->codes[row] = slot->code;
        else
            clr_target_learn_bytes(target, row, type, from);
    } else {
        clr_target_put_code_of_bytes(target, row, type % 2 != 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB,
                                     from, clr_serial_sizes[type]);
    }
}

/* Stores a row's value as clr_record_read() has it. */
void clr_target_put_record(struct clr_target *target, size_t row, struct clr_scalar value);

#endif
