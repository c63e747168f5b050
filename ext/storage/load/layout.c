#include "storage/load/layout.h"

#include "base/memory.h"

void clr_layout_free(struct clr_layout *layout)
{
    clr_memory_free(layout->extents);
    clr_memory_free(layout->leaves);
    clr_memory_free(layout->chains);
    *layout = (struct clr_layout){0};
}

size_t clr_layout_size(const struct clr_layout *layout)
{
    return layout->units * sizeof *layout->extents + layout->leaf_count * sizeof *layout->leaves +
           layout->chain_words * sizeof *layout->chains;
}
