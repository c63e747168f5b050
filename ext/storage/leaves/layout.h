/* How the rows of a table lie in the columns that were loaded from it. */
#ifndef CLR_STORAGE_LAYOUT_H
#define CLR_STORAGE_LAYOUT_H

#include "storage/snapshot/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_page_set;

/* A leaf page of a table, or any page of an index, as it was when its rows were decoded. */
struct clr_leaf {
    int64_t first, last; /* rowids, where there are rows that have any, else 0 */
    size_t row;          /* its first one in the columns, once the layout has it */
    uint32_t number;     /* of the page */
    uint32_t branch;     /* of a layout's leaf: the tree's that leads to it; of others undefined */
    uint16_t rows;       /* no page has room for more than 10,921 */
    bool is_chained;     /* overflow pages were read for some of its values */
    bool is_divided;     /* some of its rows have overflow pages, whether read or not */
};

/*
 * Which leaf pages have the rows of an image: columns that are loaded later match those that are
 * there, and clr_refresh() knows what to keep. Zeros: none yet.
 */
struct clr_layout {
    bool known;
    bool is_index;  /* the leaves are those of an index */
    bool descends;  /* the columns are not from pages, and have the last row first */
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
    size_t leaf_count, leaf_room;
    size_t divided_count; /* leaves that are divided */
    struct clr_tree tree; /* that has these leaves, and no others; or none */
    /* By page number, in blocks, or NULL: 1 + its place among the leaves, or 0. */
    uint32_t **places;
    size_t place_blocks, place_bytes;
    struct clr_page_set *chains; /* overflow pages that were read */
    size_t chain_bytes;          /* that these take */
};

/* Returns the memory that the layout takes, in bytes. */
size_t clr_layout_size(const struct clr_layout *layout);

/*
 * Makes the layout, which is not known, that of a table or an index, with leaves and a tree that
 * are its own from now on, in the order of their rows, and without overflow pages. Returns false
 * without memory: nothing has changed.
 */
bool clr_layout_keep(struct clr_layout *layout, struct clr_leaf *leaves, size_t leaf_count,
                     bool is_index, struct clr_tree *tree);

/* Returns 1 + the place of a page among the leaves, or 0: it is none of them. */
size_t clr_layout_find(const struct clr_layout *layout, uint32_t page);

/* What has become of a leaf. */
struct clr_leaf_change {
    size_t place;               /* SIZE_MAX: it is new */
    const struct clr_leaf *now; /* NULL: it is no more */
};

/* Makes room for new leaves, which are these pages. Returns false without memory. */
bool clr_layout_make_room(struct clr_layout *layout, const uint32_t *pages, size_t count);

/*
 * Changes leaves, with changes ascending by their places: the rows of those that are as they were,
 * and of those that have changed, stay in order, and those of new ones, for which there is room,
 * follow. The tree is the table's now, and the layout's own from now on.
 */
void clr_layout_change(struct clr_layout *layout, const struct clr_leaf_change *changes,
                       size_t count, struct clr_tree *tree);

/* Adds the overflow pages among those that were visited, which are the layout's own from now on, to
   those that it has, if it keeps them: all but those visited before, which led to the leaves. */
void clr_layout_add_chains(struct clr_layout *layout, struct clr_page_set *visited,
                           const struct clr_page_set *before, bool keeps);

/* Whether the columns' rows are in the order of the table's: a load keeps it, unless SQLite fills
 * them in another one, and a refresh puts the rows of leaves that have come between others behind
 * them. */
bool clr_layout_is_in_order(const struct clr_layout *layout);

/* Makes a layout, which has nothing yet, a copy of another one. Returns false without memory. */
bool clr_layout_copy(struct clr_layout *layout, const struct clr_layout *from);

/* Frees what the layout has and leaves it unknown. */
void clr_layout_free(struct clr_layout *layout);

#endif
