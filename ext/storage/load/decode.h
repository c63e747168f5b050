/* Decodes the cells of leaf pages into columns. */
#ifndef CLR_STORAGE_DECODE_H
#define CLR_STORAGE_DECODE_H

#include "storage/format/order.h"
#include "storage/format/record.h"
#include "storage/format/shape.h"
#include "storage/load/leaf.h"

#include <stddef.h>

/* Where a run of rows of one column goes. */
struct clr_target {
    int64_t *values;
    uint8_t *tags; /* written from the first row on whose tag differs from those before */
    uint8_t kind;  /* of the rows so far, CLR_TAG_MIXED if they differ */
};

/* A thread's state. The rows of a unit go to targets from 0 on, in the order of its pages. */
struct clr_decoder {
    struct clr_record_reader reader;
    const struct clr_want *wants; /* ascending by index */
    int count;
    struct clr_target *targets; /* one for each want */
    struct clr_scalar *values;  /* of one record; one for each want */
    bool with_bytes;            /* of some want */
    bool never_null;            /* the same */
    struct clr_bytes **bytes;   /* one for each want: where those go that it wants */
    size_t rows;                /* decoded of the unit */
    int64_t first;              /* rowid of the unit, where rows > 0 */
    struct clr_order order;
    struct clr_shapes shapes;
    int plain_pages; /* to be decoded without shapes, since records had too many */
};

/*
 * wants ascend by index, and stay with the caller, who sets bytes for those that want them. Returns
 * false without memory; free in any case.
 */
bool clr_decoder_init(struct clr_decoder *decoder, struct clr_pages *pages,
                      const struct clr_want *wants, int count);
void clr_decoder_free(struct clr_decoder *decoder);

/* Begins a unit; the caller then sets the targets. */
void clr_decoder_begin(struct clr_decoder *decoder);

/* Decodes all cells of a leaf whose number is given. Rowids must ascend within the unit.
   CLR_LOAD_TOO_LARGE: bytes take more than is left for them. CLR_LOAD_UNSURE: a NULL is there
   that may not be, or a value is longer than may be. */
enum clr_load_outcome clr_decode_page(struct clr_decoder *decoder, uint32_t number,
                                      const struct clr_page *page);

/* The same, and describes the leaf. */
enum clr_load_outcome clr_decode_leaf(struct clr_decoder *decoder, uint32_t number,
                                      const struct clr_page *page, struct clr_leaf *leaf);

#endif
