/*
 * The cells of a leaf page whose records have shapes that are known, found many at a time. File
 * format, section 1.6, "Table B-Tree Leaf Cell" and "Index B-Tree Leaf Cell".
 */
#ifndef CLR_STORAGE_CELLS_H
#define CLR_STORAGE_CELLS_H

#include "storage/format/order.h"
#include "storage/format/page.h"
#include "storage/format/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
