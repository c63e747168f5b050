#include "storage/leaves/layout.h"

#include "base/memory.h"
#include "storage/format/page.h"

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

/* Returns a copy of an array, never of no bytes, or NULL. */
static void *copy_array(const void *array, size_t size)
{
    void *copy = clr_memory_alloc(size + 1);

    if (copy != NULL)
        memcpy(copy, array, size);
    return copy;
}

bool clr_layout_copy(struct clr_layout *layout, const struct clr_layout *from)
{
    *layout = *from;
    if (from->leaves == NULL)
        return true;
    layout->leaves = copy_array(from->leaves, from->leaf_count * sizeof *from->leaves);
    layout->chains = copy_array(from->chains, from->chain_words * sizeof *from->chains);
    if (layout->leaves != NULL && layout->chains != NULL)
        return true;
    clr_layout_free(layout);
    return false;
}

void clr_layout_free(struct clr_layout *layout)
{
    clr_memory_free(layout->leaves);
    clr_memory_free(layout->chains);
    *layout = (struct clr_layout){0};
}

void clr_layout_keep(struct clr_layout *layout, struct clr_leaf *leaves, size_t leaf_count,
                     const struct clr_pages *pages, uint32_t *before, bool keeps_chains)
{
    size_t words = clr_page_set_words(pages->source->page_count), i;

    for (i = 0; i < words; i++) {
        before[i] = atomic_load(&pages->visited[i]) & ~before[i];
        if (keeps_chains && i < layout->chain_words)
            before[i] |= layout->chains[i];
    }
    clr_memory_free(layout->leaves);
    clr_memory_free(layout->chains);
    layout->known = true;
    layout->is_index = pages->source->is_index;
    layout->leaves = leaves;
    layout->leaf_count = leaf_count;
    layout->chains = before;
    layout->chain_words = words;
    layout->rows = 0;
    for (i = 0; i < leaf_count; i++)
        layout->rows += leaves[i].rows;
}

size_t clr_layout_size(const struct clr_layout *layout)
{
    return layout->leaf_count * sizeof *layout->leaves +
           layout->chain_words * sizeof *layout->chains;
}
