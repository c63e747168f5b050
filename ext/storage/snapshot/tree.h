/* The walk from the root page of a table, or of an index, to its leaves. File format, section 1.6.
 */
#ifndef CLR_STORAGE_TREE_H
#define CLR_STORAGE_TREE_H

#include "storage/format/page.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The leaves of a b-tree by their page numbers, and the way to them; to be freed with
   clr_page_list_free(). */
struct clr_page_list {
    uint32_t *numbers;
    size_t count;
    struct clr_page_set *inner; /* of an index: those that are interior pages; else NULL */
    /* The interior pages right above the leaves, in the order of keys, and where the leaves of each
       one end among the numbers; none if the root is a leaf. */
    uint32_t *branches;
    size_t *ends;
    size_t branch_count;
    uint32_t *upper; /* the interior pages above those */
    size_t upper_count;
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

/* ---- Trees that are kept from one snapshot to the next. */

/* An interior page whose children are leaves: these in the order of keys. It never changes, and
   several trees can share it. */
struct clr_branch {
    atomic_int references;
    uint32_t number, leaf_count;
    uint32_t leaves[];
};

/* The pages of a b-tree. Zeros: none. */
struct clr_tree {
    struct clr_page_set *pages;   /* all of them */
    struct clr_branch **branches; /* with a reference each, in the order of keys */
    size_t branch_count;
    uint32_t *upper; /* as of a list */
    size_t upper_count;
};

/* Makes a tree of a list, whose pages, all that were visited, are those. Returns false without
   memory; the tree is to be freed in any case. */
bool clr_tree_make(struct clr_tree *tree, const struct clr_page_list *list,
                   const struct clr_page_set *pages);

/* Makes a tree a copy of another one, which may be none, likewise. */
bool clr_tree_copy(struct clr_tree *tree, const struct clr_tree *from);

void clr_tree_free(struct clr_tree *tree);

/* Returns the memory that a tree takes, in bytes. */
size_t clr_tree_size(const struct clr_tree *tree);

/*
 * Makes the tree that another one has become, if the pages of that set have changed since: reads
 * its branches that have, and visits all pages, none of which has been. *is_renewed is false, and
 * nothing is done, where that can't be told: there have to be pages above the branches, none of
 * which has changed, and the database has to be as large as it was, or larger. So its branches are
 * the same pages, and those that have not changed have the same leaves. The tree, which is zeros
 * before, is to be freed whatever the outcome.
 */
enum clr_load_outcome clr_tree_renew(struct clr_pages *pages, const struct clr_tree *from,
                                     const struct clr_page_set *changes, struct clr_tree *tree,
                                     bool *is_renewed);

/*
 * Finds all pages of the b-tree whose root page is root, a table's or, if the pages' source says
 * so, an index's, and adds them to the pages' visited set. CLR_LOAD_TOO_LARGE: it has more than
 * `most` pages of rows. CLR_LOAD_UNSUPPORTED: some of its rows have overflow pages, too, or the
 * root page is one of the other kind. Others as above.
 */
enum clr_load_outcome clr_tree_pages(struct clr_pages *pages, uint32_t root, size_t most);

#endif
