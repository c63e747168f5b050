#include "storage/leaves/layout.h"

#include "base/memory.h"
#include "storage/format/page_set.h"

#include <string.h>

/* Pages whose places are side by side. */
enum { BLOCK_PAGES = 64 };

/* More leaves there is room for whenever there has to be more. */
enum { SPARE_PART = 8 };

bool clr_layout_is_in_order(const struct clr_layout *layout)
{
    const struct clr_leaf *leaf, *before = NULL;

    if (layout->descends)
        return false;
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

/* ---- The places of pages. */

size_t clr_layout_find(const struct clr_layout *layout, uint32_t page)
{
    const uint32_t *block =
        page / BLOCK_PAGES < layout->place_blocks ? layout->places[page / BLOCK_PAGES] : NULL;

    return block == NULL ? 0 : block[page % BLOCK_PAGES];
}

/* Says which of the leaves a page is, for which there is room. */
static void put_place(struct clr_layout *layout, uint32_t page, size_t place)
{
    layout->places[page / BLOCK_PAGES][page % BLOCK_PAGES] = (uint32_t)place;
}

/* Makes room for a page's place. The database may have many other pages, and say that it has more
   than there are. */
static bool make_place(struct clr_layout *layout, uint32_t page)
{
    const size_t block = page / BLOCK_PAGES, size = BLOCK_PAGES * sizeof(uint32_t);

    if (block >= layout->place_blocks) {
        uint32_t **places =
            clr_memory_realloc((void *)layout->places, (block + 1) * sizeof(uint32_t *));

        if (places == NULL)
            return false;
        memset((void *)(places + layout->place_blocks), 0,
               (block + 1 - layout->place_blocks) * sizeof(uint32_t *));
        layout->places = places;
        layout->place_blocks = block + 1;
    }
    if (layout->places[block] == NULL) {
        layout->places[block] = clr_memory_alloc_zero(size);
        layout->place_bytes += layout->places[block] == NULL ? 0 : size;
    }
    return layout->places[block] != NULL;
}

static void free_places(struct clr_layout *layout)
{
    size_t i;

    for (i = 0; i < layout->place_blocks; i++)
        clr_memory_free(layout->places[i]);
    clr_memory_free((void *)layout->places);
    layout->places = NULL;
    layout->place_blocks = layout->place_bytes = 0;
}

static bool copy_places(struct clr_layout *layout, const struct clr_layout *from)
{
    size_t i;

    for (i = 0; i < from->place_blocks; i++) {
        if (from->places[i] == NULL)
            continue;
        if (!make_place(layout, (uint32_t)(i * BLOCK_PAGES)))
            return false;
        memcpy(layout->places[i], from->places[i], BLOCK_PAGES * sizeof(uint32_t));
    }
    return true;
}

/* ---- All of it. */

bool clr_layout_copy(struct clr_layout *layout, const struct clr_layout *from)
{
    const size_t size = from->leaf_count * sizeof *from->leaves;

    *layout = *from;
    layout->leaves = NULL;
    layout->leaf_room = layout->leaf_count;
    layout->tree = (struct clr_tree){.pages = NULL};
    layout->places = NULL;
    layout->place_blocks = layout->place_bytes = 0;
    layout->chains = NULL;
    if (from->leaves == NULL)
        return true;
    layout->leaves = clr_memory_alloc(size + 1); /* never of no bytes */
    layout->chains = clr_page_set_copy(from->chains);
    if (layout->leaves != NULL && layout->chains != NULL &&
        clr_tree_copy(&layout->tree, &from->tree) && copy_places(layout, from)) {
        memcpy(layout->leaves, from->leaves, size);
        return true;
    }
    clr_layout_free(layout);
    return false;
}

void clr_layout_free(struct clr_layout *layout)
{
    clr_memory_free(layout->leaves);
    clr_tree_free(&layout->tree);
    free_places(layout);
    clr_page_set_free(layout->chains);
    *layout = (struct clr_layout){0};
}

/* Tells the leaves which branches of the tree lead to them, but for those that another tree has as
   well. */
static void find_branches(struct clr_layout *layout, const struct clr_tree *tree,
                          const struct clr_tree *other)
{
    size_t i;
    uint32_t k;

    for (i = 0; i < tree->branch_count; i++) {
        const struct clr_branch *branch = tree->branches[i];

        if (i < other->branch_count && other->branches[i] == branch)
            continue;
        for (k = 0; k < branch->leaf_count; k++)
            layout->leaves[clr_layout_find(layout, branch->leaves[k]) - 1].branch = (uint32_t)i;
    }
}

/* Counts the rows from a leaf on. */
static void count_rows(struct clr_layout *layout, size_t first)
{
    const struct clr_leaf *before = first == 0 ? NULL : &layout->leaves[first - 1];
    size_t row = before == NULL ? 0 : before->row + before->rows, i;

    for (i = first; i < layout->leaf_count; i++) {
        layout->leaves[i].row = row;
        row += layout->leaves[i].rows;
    }
    layout->rows = row;
}

/* Gives the layout a tree, or none if it is so small that it can't be renewed. */
static void take_tree(struct clr_layout *layout, struct clr_tree *tree)
{
    if (tree->upper_count == 0)
        clr_tree_free(tree);
    find_branches(layout, tree, &layout->tree);
    clr_tree_free(&layout->tree);
    layout->tree = *tree;
    *tree = (struct clr_tree){.pages = NULL};
}

bool clr_layout_keep(struct clr_layout *layout, struct clr_leaf *leaves, size_t leaf_count,
                     bool is_index, struct clr_tree *tree)
{
    size_t i;

    for (i = 0; i < leaf_count; i++) {
        if (!make_place(layout, leaves[i].number)) {
            free_places(layout);
            return false;
        }
        put_place(layout, leaves[i].number, i + 1);
    }
    layout->divided_count = 0;
    for (i = 0; i < leaf_count; i++)
        layout->divided_count += leaves[i].is_divided;
    layout->known = true;
    layout->is_index = is_index;
    layout->leaves = leaves;
    layout->leaf_count = layout->leaf_room = leaf_count;
    take_tree(layout, tree);
    count_rows(layout, 0);
    return true;
}

bool clr_layout_make_room(struct clr_layout *layout, const uint32_t *pages, size_t count)
{
    size_t room = layout->leaf_count + count, i;
    struct clr_leaf *leaves;

    for (i = 0; i < count; i++) {
        if (!make_place(layout, pages[i]))
            return false;
    }
    if (room <= layout->leaf_room)
        return true;
    room += room / SPARE_PART;
    leaves = clr_memory_realloc(layout->leaves, room * sizeof *leaves);
    if (leaves == NULL)
        return false;
    layout->leaves = leaves;
    layout->leaf_room = room;
    return true;
}

/* Takes out the leaves that are no more, whose number is 0, from the first of them on. */
static void close_gaps(struct clr_layout *layout, size_t first)
{
    size_t to = first, i;

    for (i = first; i < layout->leaf_count; i++) {
        if (layout->leaves[i].number == 0)
            continue;
        layout->leaves[to++] = layout->leaves[i];
        put_place(layout, layout->leaves[i].number, to);
    }
    layout->leaf_count = to;
}

void clr_layout_change(struct clr_layout *layout, const struct clr_leaf_change *changes,
                       size_t count, struct clr_tree *tree)
{
    struct clr_leaf *leaves = layout->leaves;
    size_t gap = SIZE_MAX, moved = layout->leaf_count, i;

    for (i = 0; i < count && changes[i].place != SIZE_MAX; i++) {
        struct clr_leaf *leaf = &leaves[changes[i].place];
        const struct clr_leaf before = *leaf;

        layout->divided_count -= before.is_divided;
        if (changes[i].now == NULL) {
            put_place(layout, leaf->number, 0);
            leaf->number = 0;
            gap = changes[i].place < gap ? changes[i].place : gap;
            continue;
        }
        *leaf = *changes[i].now;
        layout->divided_count += leaf->is_divided;
        leaf->row = before.row;
        leaf->branch = before.branch;
        if (leaf->rows != before.rows && changes[i].place < moved)
            moved = changes[i].place;
    }
    if (gap != SIZE_MAX)
        close_gaps(layout, gap);
    for (; i < count; i++) {
        put_place(layout, changes[i].now->number, layout->leaf_count + 1);
        leaves[layout->leaf_count++] = *changes[i].now;
        layout->divided_count += changes[i].now->is_divided;
    }
    count_rows(layout, gap < moved ? gap : moved);
    take_tree(layout, tree);
}

/* ---- Overflow pages. */

void clr_layout_add_chains(struct clr_layout *layout, struct clr_page_set *visited,
                           const struct clr_page_set *before, bool keeps)
{
    if (!keeps) {
        clr_page_set_free(layout->chains);
        layout->chains = NULL;
    }
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
    return layout->leaf_count * sizeof *layout->leaves + layout->place_bytes +
           clr_tree_size(&layout->tree) + layout->chain_bytes;
}
