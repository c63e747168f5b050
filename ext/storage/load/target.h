/* Where a run of rows of one column is decoded to. */
#ifndef CLR_STORAGE_TARGET_H
#define CLR_STORAGE_TARGET_H

#include "storage/format/record.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct clr_target {
    int64_t *values;
    uint8_t *tags; /* written from the first row on whose tag differs from those before */
    uint8_t kind;  /* of the rows so far, CLR_TAG_MIXED if they differ */
};

/* Returns the target for rows of a column from that one on. */
static inline struct clr_target clr_target_at(struct clr_column *column, size_t row)
{
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

#endif
