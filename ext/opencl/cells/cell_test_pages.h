/* Pages to try a decoder of cells with, and what is in them. For ext/opencl alone. */
#ifndef CLR_OPENCL_CELL_TEST_PAGES_H
#define CLR_OPENCL_CELL_TEST_PAGES_H

#include "opencl/cells/cell_decoder.h"

#include <stdint.h>

enum {
    CLR_TEST_USABLE = 4090, /* bytes of a page of 4096 */
    CLR_TEST_SOUND = 6,     /* pages; after them come skipped ones */
    CLR_TEST_SKIPPED = 16,
    CLR_TEST_PAGES = CLR_TEST_SOUND + CLR_TEST_SKIPPED,
    CLR_TEST_SOUND_ROWS = CLR_TEST_SOUND * 40,
    CLR_TEST_ROWS = CLR_TEST_SOUND_ROWS + CLR_TEST_SKIPPED * 2,
    CLR_TEST_FIELDS = 6
};

/* What is wanted of the pages. */
extern const struct clr_field clr_test_fields[CLR_TEST_FIELDS];

/* What a column has in the rows of skipped pages is not there: any values, for the host to write.
 */
struct clr_test_pages {
    unsigned char bytes[CLR_TEST_PAGES * 4096];
    struct clr_leaf_place places[CLR_TEST_PAGES];
    int64_t values[CLR_TEST_FIELDS][CLR_TEST_ROWS];
    uint8_t tags[CLR_TEST_FIELDS][CLR_TEST_ROWS];
};

/*
 * Makes pages, all bytes of which are 0, with values of every serial type, rowids of every length,
 * short records and payloads that do not end in the page; and skipped ones of each sort.
 */
void clr_test_pages_make(struct clr_test_pages *pages);

#endif
