/* How the rows of a table lie in the columns that were loaded from it. */
#ifndef CLR_STORAGE_LAYOUT_H
#define CLR_STORAGE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_page_set;

/* A leaf page of a table, or any page of an index, as it was when its rows were decoded. */
struct clr_leaf {
    int64_t first, last; /* rowids, where there are rows that have any, else 0 */
    uint32_t number;     /* of the page */
    uint16_t rows;       /* no page has room for more than 10,921 */
    bool is_chained;     /* overflow pages were read for some of its values */
};

/*
 * Which leaf pages have the rows of an image: columns that are loaded later match those that are
 * there, and clr_refresh() knows what to keep. Zeros: none yet.
 */
struct clr_layout {
    bool known;
    bool is_index;  /* the leaves are those of an index */
    bool may_guess; /* CLR_LOAD_TOO_LARGE as soon as that is likely */
    size_t rows;
    size_t most_rows; /* more end the load with CLR_LOAD_TOO_LARGE; 0: no limit */
    /* So does what a load's rows, of row_bytes each, and the bytes of TEXT and BLOBs or the
       dictionaries take together, if it is more than this; 0: no limit. */
    size_t most_bytes, row_bytes;
    uint64_t seed; /* of dictionaries: any number that who chooses the values does not know */
    /* All leaves of the table, in the order of their rows in the columns. NULL if the columns are
       not from pages. */
    struct clr_leaf *leaves;
    size_t leaf_count;
    struct clr_page_set *chains; /* overflow pages that were read */
    size_t chain_bytes;          /* that these take */
};

/* Returns the memory that the layout takes, in bytes. */
size_t clr_layout_size(const struct clr_layout *layout);

/*
 * Makes the layout known, of a table or an index, with leaves that are its own from now on, in the
 * order of their rows, and without overflow pages.
 */
void clr_layout_keep(struct clr_layout *layout, struct clr_leaf *leaves, size_t leaf_count,
                     bool is_index);

/* Adds the overflow pages among those that were visited, which are the layout's own from now on:
   all but those visited before, which led to the leaves. */
void clr_layout_add_chains(struct clr_layout *layout, struct clr_page_set *visited,
                           const struct clr_page_set *before);

/* Forgets the overflow pages. */
void clr_layout_drop_chains(struct clr_layout *layout);

/* Whether the columns' rows are in the order of the table's: a load keeps it, and a refresh puts
 * the rows of leaves that have come between others behind them. */
bool clr_layout_is_in_order(const struct clr_layout *layout);

/* Makes a layout, which has nothing yet, a copy of another one. Returns false without memory. */
bool clr_layout_copy(struct clr_layout *layout, const struct clr_layout *from);

/* Frees what the layout has and leaves it unknown. */
void clr_layout_free(struct clr_layout *layout);

#endif
