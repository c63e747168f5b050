/* Decodes the cells of leaf pages into columns. */
#ifndef CLR_STORAGE_DECODE_H
#define CLR_STORAGE_DECODE_H

#include "storage/format/cells.h"
#include "storage/format/order.h"
#include "storage/format/record.h"
#include "storage/leaves/layout.h"

#include <stddef.h>
#include <stdint.h>

struct clr_code_cache; /* the codes that a column had lately */

/*
 * INTEGERs that are close to each other, as keys are: the codes of so many from the least one on
 * are their distances from it, and those of the dictionary come behind. So nothing is looked up.
 */
struct clr_code_range {
    uint64_t least; /* modulo 2^64 */
    uint32_t count; /* 0: there are none */
    uint64_t *met;  /* a bit for each: whether a row has it */
};

/* Where a run of rows of one column is decoded to: values and tags, or codes of a dictionary. */
struct clr_target {
    int64_t *values;
    uint8_t *tags;   /* written from the first row on whose tag differs from those before */
    uint8_t kind;    /* of the rows so far, CLR_TAG_MIXED if they differ */
    uint32_t *codes; /* NULL: values */
    struct clr_dictionary *dictionary; /* of the codes */
    struct clr_code_range range;       /* of other codes */
    struct clr_code_cache *cache;      /* the same */
    enum clr_code code; /* CLR_OK, or why a row has no code; INVALID: it has another value than
                           a time of the field's format, or TEXT where a pattern is asked for */
    struct clr_timestamp_date date; /* of the last of such times */
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

/* A thread's state. Its rows go to targets from 0 on, in the order of the pages. */
struct clr_decoder {
    struct clr_record_reader reader;
    const struct clr_field *fields; /* ascending by index */
    int count;
    struct clr_target *targets; /* one for each field */
    struct clr_scalar *values;  /* of one record; one for each field */
    bool with_bytes;            /* a field wants bytes: clr_field_wants_bytes() */
    bool never_null;            /* the same */
    struct clr_bytes **bytes;   /* one for each field: where those go that it wants */
    struct clr_bytes passing; /* those of one record that codes and numbers are made of; the caller
                                 may limit them */
    struct clr_code_cache **caches; /* one for each field with codes, else NULL */
    size_t rows;                    /* decoded since it began */
    struct clr_order order;         /* of those */
    struct clr_shapes shapes;
    int pages_without_shapes; /* to come, since records had too many */
};

/*
 * fields are those of clr_record_fields(), and stay with the caller, who sets bytes for those with
 * bytes. Returns false without memory; free in any case.
 */
bool clr_decoder_init(struct clr_decoder *decoder, struct clr_pages *pages,
                      const struct clr_field *fields, int count);
void clr_decoder_free(struct clr_decoder *decoder);

/* Begins with row 0; the caller then sets the targets. */
void clr_decoder_begin(struct clr_decoder *decoder);

/* The same, with targets that are the columns at the fields' positions, from their first row on,
   and with their bytes. */
void clr_decoder_begin_columns(struct clr_decoder *decoder, struct clr_column *const *columns);

/* Tells the columns what has been decoded since. */
void clr_decoder_end_columns(const struct clr_decoder *decoder, struct clr_column *const *columns);

/*
 * Decodes all cells of a leaf, whose number the caller has set, and describes it. Rowids must
 * ascend since the decoder began. CLR_LOAD_TOO_LARGE: bytes take more than is left
 * for them. CLR_LOAD_MANY_VALUES: a dictionary has no room for more, or times have a value of
 * another format. CLR_LOAD_UNSURE: a NULL is
 * there that may not be, or a value is longer than may be.
 */
enum clr_load_outcome clr_decode_leaf(struct clr_decoder *decoder, const struct clr_page *page,
                                      struct clr_leaf *leaf);

#endif
