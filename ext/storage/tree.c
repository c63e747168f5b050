#include "storage/tree.h"

#include "base/memory.h"
#include "storage/order.h"

enum { DEEPEST = 20 }; /* SQLite's cursors have 20 levels */
enum { INDEX_INTERIOR = 2, INDEX_LEAF = 10 };

struct walk {
    struct clr_pages *pages;
    unsigned char *page;
    struct clr_order order; /* of the level's keys */
};

/* Takes the key that is at bytes. Returns where it ends, or NULL if it does not come after those
   before. */
static inline const unsigned char *take_key(struct clr_order *order, const unsigned char *bytes,
                                            bool is_first)
{
    struct clr_order other = *order; /* a copy, so that *order can be in a register */
    const unsigned char *end;
    uint64_t rowid;
    int64_t key;

    end = clr_order_get_key(bytes, &key);
    if (end != NULL)
        return clr_order_take_key(order, key) ? end : NULL;
    end = clr_get_varint(bytes, &rowid);
    if (!clr_order_take(&other, (int64_t)rowid, is_first))
        return NULL;
    *order = other;
    return end;
}

/* Appends the children of the interior page that has been read; there is room for them. */
static enum clr_load_outcome append_children(struct walk *walk, uint32_t number,
                                             struct clr_page_list *children)
{
    struct clr_pages *pages = walk->pages;
    const unsigned char *end = walk->page + pages->source->usable_size;
    uint32_t *numbers = children->numbers + children->count;
    bool is_first = children->count == 0;
    struct clr_order order = walk->order;
    struct clr_page page;
    enum clr_load_outcome outcome;
    uint32_t i;

    /* The schema's root can have a child and no cell: page 1 has less room than its child. */
    outcome = clr_page_open(pages, number, walk->page, CLR_PAGE_TABLE_INTERIOR, number == 1, &page);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    for (i = 0; i < page.cells; i++) {
        uint32_t offset = clr_page_cell(&page, i);
        const unsigned char *after;

        if (offset == 0)
            return clr_page_malformed(pages, number);
        after = take_key(&order, walk->page + offset + 4, is_first && i == 0);
        if (after == NULL || after > end)
            return clr_page_malformed(pages, number);
        numbers[i] = clr_get_u32(walk->page + offset);
    }
    walk->order = order;
    numbers[page.cells] = page.right;
    children->count += page.cells + 1;
    return clr_pages_visit(pages, numbers, page.cells + 1);
}

/* Appends the children of all pages of a level, the first of which has been read. */
static enum clr_load_outcome descend(struct walk *walk, const struct clr_page_list *level,
                                     struct clr_page_list *children)
{
    size_t most = (size_t)clr_page_most_cells(walk->pages->source) + 1, i;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    /* What no child takes of a long list costs addresses only. */
    *children = (struct clr_page_list){
        .numbers = clr_memory_alloc(level->count * most * sizeof *children->numbers)};
    if (children->numbers == NULL)
        return clr_pages_no_memory(walk->pages);
    clr_order_init(&walk->order);
    for (i = 0; i < level->count && outcome == CLR_LOAD_DONE; i++) {
        if (i > 0)
            outcome = clr_pages_read(walk->pages, level->numbers[i], 1, walk->page);
        if (outcome == CLR_LOAD_DONE)
            outcome = append_children(walk, level->numbers[i], children);
    }
    return outcome;
}

/* Goes down level by level, until the first page of one is a leaf. */
static enum clr_load_outcome walk_down(struct walk *walk, struct clr_page_list *level)
{
    struct clr_pages *pages = walk->pages;
    int depth;

    for (depth = 0; depth < DEEPEST; depth++) {
        struct clr_page_list children;
        uint32_t first = level->numbers[0];
        enum clr_load_outcome outcome = clr_pages_read(pages, first, 1, walk->page);
        int flags;

        if (outcome != CLR_LOAD_DONE)
            return outcome;
        flags = clr_page_flags(first, walk->page);
        if (flags == CLR_PAGE_TABLE_LEAF)
            return CLR_LOAD_DONE;
        if (depth == 0 && (flags == INDEX_INTERIOR || flags == INDEX_LEAF))
            return CLR_LOAD_UNSUPPORTED;
        outcome = descend(walk, level, &children);
        clr_memory_free(level->numbers);
        *level = children;
        if (outcome != CLR_LOAD_DONE)
            return outcome;
    }
    return clr_page_malformed(pages, level->numbers[0]);
}

enum clr_load_outcome clr_tree_leaves(struct clr_pages *pages, uint32_t root,
                                      struct clr_page_list *leaves)
{
    struct walk walk = {.pages = pages};
    enum clr_load_outcome outcome;

    *leaves =
        (struct clr_page_list){.numbers = clr_memory_alloc(sizeof *leaves->numbers), .count = 1};
    if (leaves->numbers == NULL)
        return clr_pages_no_memory(pages);
    leaves->numbers[0] = root;
    walk.page = clr_memory_alloc(pages->source->page_size + (size_t)CLR_PAGE_SLACK);
    if (walk.page == NULL)
        return clr_pages_no_memory(pages);
    memset(walk.page + pages->source->page_size, 0, CLR_PAGE_SLACK);
    outcome = clr_pages_visit(pages, leaves->numbers, 1);
    if (outcome == CLR_LOAD_DONE)
        outcome = walk_down(&walk, leaves);
    clr_memory_free(walk.page);
    return outcome;
}
