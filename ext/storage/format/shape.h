/*
 * Shapes of records: what the beginning of a record's header tells about where the wanted columns
 * are. Records of one table have few shapes, so that they can be looked up.
 */
#ifndef CLR_STORAGE_SHAPE_H
#define CLR_STORAGE_SHAPE_H

#include "storage/format/record.h"

#include <stdbool.h>
#include <stddef.h>

enum { CLR_SHAPE_BITS = 10, CLR_SHAPES = 1 << CLR_SHAPE_BITS };

/* The first bytes of a record's header, as far as they matter. */
struct clr_header {
    uint64_t first, second;
};

struct clr_shape {
    struct clr_header header;
    uint32_t least, range; /* a sound payload has size - least <= range, unsigned */
};

/* Where a wanted column is, and its serial type. */
struct clr_place {
    uint16_t at; /* from the payload's first byte */
    uint8_t type;
};

/* A cache. Its slots are found by a hash of the header. */
struct clr_shapes {
    struct clr_header mask; /* of the bytes that matter; zeros: these fields can't have shapes */
    uint32_t most;          /* bytes of a payload that is simple */
    const struct clr_field *fields;
    int count;
    struct clr_shape *shapes;
    struct clr_place *places; /* CLR_SHAPES for each field */
    uint32_t slot;            /* of the last row whose shape was found, or learnt */
    /* A guess: so many times the rows to come are not taken to be of that shape, and their payloads
       not to be short. */
    int unlike;
    bool are_long;
};

/* most: the bytes of a payload that a leaf can hold. Returns false without memory. Free in any
 * case.
 */
bool clr_shapes_init(struct clr_shapes *shapes, const struct clr_field *fields, int count,
                     uint32_t most);
void clr_shapes_free(struct clr_shapes *shapes);

/* Returns the beginning of the header of the payload, of which 16 bytes must be readable. */
static inline struct clr_header clr_shapes_header(const unsigned char *payload,
                                                  struct clr_header mask)
{
    struct clr_header header;

    memcpy(&header, payload, sizeof header);
    header.first &= mask.first;
    header.second &= mask.second;
    return header;
}

/* Returns the slot for a header. */
static inline uint32_t clr_shapes_slot(struct clr_header header)
{
    return (uint32_t)((header.first * UINT64_C(0x9e3779b97f4a7c15) +
                       header.second * UINT64_C(0xd6e8feb86659fd93)) >>
                      (64 - CLR_SHAPE_BITS));
}

/* Puts the shape of the payload into its slot, if it is one of a simple payload: all in the leaf,
   and its header has one byte for its own size and for each serial type up to the last wanted. */
void clr_shapes_learn(struct clr_shapes *shapes, const unsigned char *payload);

#endif
