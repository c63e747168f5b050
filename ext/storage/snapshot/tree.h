/* The walk from a table's root page to its leaves. File format, section 1.6. */
#ifndef CLR_STORAGE_TREE_H
#define CLR_STORAGE_TREE_H

#include "storage/format/page.h"

#include <stddef.h>

/* Page numbers; free numbers with clr_memory_free(). */
struct clr_page_list {
    uint32_t *numbers;
    size_t count;
};

/*
 * Lists the leaf pages of the table whose root page is root, in the order of their keys. The leaves
 * have been visited, but not read; the walk takes them to be as deep as the first one, which
 * whoever reads them has to check. An empty table has one leaf, without cells. The caller frees the
 * list whatever the outcome.
 */
enum clr_load_outcome clr_tree_leaves(struct clr_pages *pages, uint32_t root,
                                      struct clr_page_list *leaves);

#endif
