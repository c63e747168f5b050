/* The walk from the root page of a table, or of an index, to its leaves. File format, section 1.6.
 */
#ifndef CLR_STORAGE_TREE_H
#define CLR_STORAGE_TREE_H

#include "storage/format/page.h"

#include <stddef.h>

/* Page numbers; to be freed with clr_page_list_free(). */
struct clr_page_list {
    uint32_t *numbers;
    size_t count;
    struct clr_page_set *inner; /* of an index: those that are interior pages; else NULL */
};

/* Frees what a list has. */
void clr_page_list_free(struct clr_page_list *list);

/*
 * Lists the leaf pages of the table whose root page is root, in the order of their keys; one leaf
 * at least. Of an index, if the pages' source says that it is one, all other pages follow. The
 * leaves have been visited, but not read; the walk takes them to be as deep as the first one, which
 * whoever reads them has to check. An empty table has one leaf, without cells. The caller frees the
 * list whatever the outcome. CLR_LOAD_UNSUPPORTED: the root page is one of the other kind.
 */
enum clr_load_outcome clr_tree_leaves(struct clr_pages *pages, uint32_t root,
                                      struct clr_page_list *leaves);

/*
 * Finds all pages of the b-tree whose root page is root, a table's or, if the pages' source says
 * so, an index's, and adds them to the pages' visited set. CLR_LOAD_TOO_LARGE: it has more than
 * `most` pages of rows. CLR_LOAD_UNSUPPORTED: some of its rows have overflow pages, too, or the
 * root page is one of the other kind. Others as above.
 */
enum clr_load_outcome clr_tree_pages(struct clr_pages *pages, uint32_t root, size_t most);

#endif
