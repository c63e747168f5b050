/* A leaf page of a table, as it was when its rows were decoded. */
#ifndef CLR_STORAGE_LEAF_H
#define CLR_STORAGE_LEAF_H

#include <stdbool.h>
#include <stdint.h>

struct clr_leaf {
    int64_t first, last; /* rowids, where there are rows */
    uint32_t number;     /* of the page */
    uint16_t rows;       /* no page has room for more than 10,921 */
    bool is_chained;     /* overflow pages were read for some of its values */
};

#endif
