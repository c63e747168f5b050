#include "storage/load/leaves.h"

#include "base/memory.h"
#include "storage/format/page_set.h"

#include <stdlib.h>

bool clr_leaves_note(struct clr_units *units)
{
    size_t words = clr_page_set_words(units->source->page_count), i;

    units->met = clr_memory_alloc(units->leaves.count * sizeof *units->met);
    units->walked = clr_memory_alloc(words * sizeof *units->walked);
    for (i = 0; units->walked != NULL && i < words; i++)
        units->walked[i] = atomic_load(&units->visited[i]);
    return units->met != NULL && units->walked != NULL;
}

/* A unit, and where its rows begin in the columns. */
struct place {
    size_t first, unit;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *first = a, *second = b;

    /* Only an empty table has a unit without rows: no two begin at the same one. */
    return (first->first > second->first) - (first->first < second->first);
}

/* Adds the overflow pages that were read to those of the layout. Whatever led to the leaves was
   visited before them. */
static void keep_chains(struct clr_units *units, struct clr_layout *layout)
{
    size_t words = clr_page_set_words(units->source->page_count), i;

    for (i = 0; i < words; i++) {
        units->walked[i] = atomic_load(&units->visited[i]) & ~units->walked[i];
        if (i < layout->chain_words)
            units->walked[i] |= layout->chains[i];
    }
    clr_memory_free(layout->chains);
    layout->chains = units->walked;
    layout->chain_words = words;
    units->walked = NULL;
}

bool clr_leaves_keep(struct clr_units *units, const struct clr_extent *extents,
                     struct clr_layout *layout)
{
    size_t count = units->leaves.count, k = 0, i, j;
    struct place *places = clr_memory_alloc(units->count * sizeof *places);
    struct clr_leaf *leaves = clr_memory_alloc(count * sizeof *leaves);

    if (places == NULL || leaves == NULL) {
        clr_memory_free(places);
        clr_memory_free(leaves);
        return false;
    }
    for (i = 0; i < units->count; i++)
        places[i] = (struct place){.first = extents[i].first, .unit = i};
    qsort(places, units->count, sizeof *places, compare_places);
    for (i = 0; i < units->count; i++) {
        size_t first = places[i].unit * units->unit_leaves;

        for (j = first; j < first + units->unit_leaves && j < count; j++)
            leaves[k++] = units->met[j];
    }
    clr_memory_free(places);
    for (i = 0; i < layout->leaf_count; i++)
        leaves[i].is_chained |= layout->leaves[i].is_chained;
    clr_memory_free(layout->leaves);
    layout->leaves = leaves;
    layout->leaf_count = count;
    keep_chains(units, layout);
    return true;
}
