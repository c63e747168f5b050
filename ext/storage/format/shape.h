/*
 * Shapes of records: what the beginning of a record's header tells about where the wanted columns
 * are. Records of one table have few shapes, so that they can be looked up.
 */
#ifndef CLR_STORAGE_SHAPE_H
#define CLR_STORAGE_SHAPE_H

#include "storage/format/record.h"

#include <stdbool.h>
#include <stddef.h>

enum { CLR_SHAPES = 256 };

struct clr_shape {
    uint64_t header;       /* its first bytes, as far as they matter */
    uint32_t least, range; /* a sound payload has size - least <= range, unsigned */
};

/* Where a wanted column is, and its serial type. */
struct clr_place {
    uint8_t at; /* from the payload's first byte */
    uint8_t type;
};

/* A cache. Its slots are found by a hash of the header. */
struct clr_shapes {
    uint64_t mask; /* of the header's bytes that matter; 0: shapes can't be had for these fields */
    const struct clr_field *fields;
    int count;
    struct clr_shape *shapes;
    struct clr_place *places; /* CLR_SHAPES for each field */
    uint32_t slot;            /* of the last row whose shape was found */
};

/* Returns false without memory. Free in any case. */
bool clr_shapes_init(struct clr_shapes *shapes, const struct clr_field *fields, int count);
void clr_shapes_free(struct clr_shapes *shapes);

/* Returns the beginning of the header of the payload, of which eight bytes must be readable. */
static inline uint64_t clr_shapes_header(const unsigned char *payload, uint64_t mask)
{
    uint64_t header;

    memcpy(&header, payload, sizeof header);
    return header & mask;
}

/* Returns the slot for a header. */
static inline uint32_t clr_shapes_slot(uint64_t header)
{
    return (uint32_t)(header * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/* Puts the shape of the payload into its slot, if it is one of a simple payload: below 128 bytes,
   whose header has one byte for its own size and for each serial type up to the last wanted. */
void clr_shapes_learn(struct clr_shapes *shapes, const unsigned char *payload);

#endif
