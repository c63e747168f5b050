/*
 * The cells of a leaf page whose records have shapes that are known, found many at a time. File
 * format, section 1.6, "Table B-Tree Leaf Cell" and "Index B-Tree Leaf Cell".
 */
#ifndef CLR_STORAGE_CELLS_H
#define CLR_STORAGE_CELLS_H

#include "storage/format/order.h"
#include "storage/format/page.h"
#include "storage/format/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Shapes of records: what the beginning of a record's header tells about where the wanted columns
 * are. Records of one table have few shapes, so that they can be looked up.
 */
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
    struct clr_place *common; /* of each field, that of all shapes learnt; at 0: they differ */
    bool has_learnt;
    uint32_t slot;   /* of the last row whose shape was found, or learnt */
    int long_blocks; /* a guess: to come, of payloads that are not short */
};

/* most: the bytes of a payload that a leaf can hold. Returns false without memory. Free in any
 * case.
 */
bool clr_shapes_init(struct clr_shapes *shapes, const struct clr_field *fields, int count,
                     uint32_t most);
void clr_shapes_free(struct clr_shapes *shapes);

/* Puts the shape of the payload into its slot, if it is one of a simple payload: all in the leaf,
   and its header has one byte for its own size and for each serial type up to the last wanted. */
void clr_shapes_learn(struct clr_shapes *shapes, const unsigned char *payload);

enum { CLR_CELLS_MOST = 256 };

/* Rows that follow each other. */
struct clr_cells {
    size_t rows;
    const unsigned char *page;         /* the page's first byte */
    uint16_t payloads[CLR_CELLS_MOST]; /* their offsets in the page */
    uint32_t key_bytes;                /* of each rowid, right before the payload; 0: none */
    uint16_t slots[CLR_CELLS_MOST];    /* of their shapes */
    bool is_uniform;                   /* all have that in the shapes' slot */
};

/* Returns where all cells have a field, or NULL if that is not known. */
static inline const struct clr_place *clr_cells_place(const struct clr_cells *cells,
                                                      const struct clr_shapes *shapes, int field)
{
    if (cells->is_uniform)
        return &shapes->places[(size_t)field * CLR_SHAPES + shapes->slot];
    return shapes->common[field].at != 0 ? &shapes->common[field] : NULL;
}

/*
 * Finds, of the cells at `count` pointers, at most CLR_CELLS_MOST, those whose shape is known, up
 * to the first that is not as simple as that, or not sound, or not after the rows so far. The order
 * must have a key (clr_order_has_key()), and the shapes a mask; both are brought up to date. order
 * NULL: the page is an index's, whose cells have no rowids.
 */
void clr_cells_find(struct clr_cells *cells, struct clr_shapes *shapes, struct clr_order *order,
                    const struct clr_page *page, uint32_t usable_size,
                    const unsigned char *pointers, size_t count);

#endif
