/* Leaf pages that one thread reads, as many at a time as there is room for, and decodes. */
#ifndef CLR_STORAGE_LEAF_READER_H
#define CLR_STORAGE_LEAF_READER_H

#include "storage/leaves/decode.h"

#include <stddef.h>

struct clr_leaf_reader {
    struct clr_decoder decoder;
    struct clr_leaf *leaves; /* those that were read last; described when they are decoded */
    size_t count;            /* of them */
    struct clr_page *pages;  /* of these */
    size_t room;             /* pages in the buffer */
    unsigned char *buffer;
    const unsigned char **where;
};

/*
 * Begins to read `most` leaves at a time at most, by way of pages, for fields that are those of
 * clr_record_fields(); both stay with the caller. Returns CLR_LOAD_DONE or CLR_LOAD_FAILED. Free in
 * any case.
 */
enum clr_load_outcome clr_leaf_reader_init(struct clr_leaf_reader *reader, struct clr_pages *pages,
                                           const struct clr_field *fields, int field_count,
                                           size_t most);
void clr_leaf_reader_free(struct clr_leaf_reader *reader);

/*
 * Reads the pages of those numbers, and stores how many rows they have. Only if a leaf is the
 * table's only one it may be empty. The buffer has room for more pages than `most`: it serves to
 * read over holes, pages not asked for between two that are.
 */
enum clr_load_outcome clr_leaf_reader_read(struct clr_leaf_reader *reader, const uint32_t *numbers,
                                           size_t count, bool is_only, size_t *rows);

/* Decodes the leaves that have been read last, after the rows that the decoder has. */
enum clr_load_outcome clr_leaf_reader_decode(struct clr_leaf_reader *reader);

#endif
