#include "storage/leaves/layout.h"

#include "base/memory.h"
#include "storage/format/page_set.h"

#include <string.h>

bool clr_layout_is_in_order(const struct clr_layout *layout)
{
    const struct clr_leaf *leaf, *before = NULL;

    for (leaf = layout->leaves;
         layout->leaves != NULL && leaf < layout->leaves + layout->leaf_count; leaf++) {
        if (leaf->rows == 0)
            continue;
        if (before != NULL && leaf->first <= before->last)
            return false;
        before = leaf;
    }
    return true;
}

bool clr_layout_copy(struct clr_layout *layout, const struct clr_layout *from)
{
    const size_t size = from->leaf_count * sizeof *from->leaves;

    *layout = *from;
    if (from->leaves == NULL)
        return true;
    layout->leaves = clr_memory_alloc(size + 1); /* never of no bytes */
    if (layout->leaves != NULL)
        memcpy(layout->leaves, from->leaves, size);
    layout->chains = clr_page_set_copy(from->chains);
    if (layout->leaves != NULL && layout->chains != NULL)
        return true;
    clr_layout_free(layout);
    return false;
}

void clr_layout_free(struct clr_layout *layout)
{
    clr_memory_free(layout->leaves);
    clr_page_set_free(layout->chains);
    *layout = (struct clr_layout){0};
}

void clr_layout_keep(struct clr_layout *layout, struct clr_leaf *leaves, size_t leaf_count,
                     bool is_index)
{
    size_t i;

    clr_memory_free(layout->leaves);
    layout->known = true;
    layout->is_index = is_index;
    layout->leaves = leaves;
    layout->leaf_count = leaf_count;
    layout->rows = 0;
    for (i = 0; i < leaf_count; i++)
        layout->rows += leaves[i].rows;
}

void clr_layout_drop_chains(struct clr_layout *layout)
{
    clr_page_set_free(layout->chains);
    layout->chains = NULL;
    layout->chain_bytes = 0;
}

void clr_layout_add_chains(struct clr_layout *layout, struct clr_page_set *visited,
                           const struct clr_page_set *before)
{
    clr_page_set_remove(visited, before);
    /* The database may have grown since. */
    if (layout->chains == NULL || layout->chains->last < visited->last) {
        clr_page_set_take(visited, layout->chains);
        layout->chains = visited;
    } else {
        clr_page_set_take(layout->chains, visited);
    }
    layout->chain_bytes = clr_page_set_size(layout->chains);
}

size_t clr_layout_size(const struct clr_layout *layout)
{
    return layout->leaf_count * sizeof *layout->leaves + layout->chain_bytes;
}
