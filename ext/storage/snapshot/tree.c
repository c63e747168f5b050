#include "storage/snapshot/tree.h"

#include "base/memory.h"
#include "storage/format/varint.h"

enum { DEEPEST = 20 };    /* SQLite's cursors have 20 levels */
enum { PART_PAGES = 32 }; /* fewer are not worth a thread */

/* What one thread does of a level: pages that follow each other. */
struct part {
    struct clr_pages pages;
    unsigned char *page;
    const uint32_t *parents;
    size_t parent_count;
    uint32_t *numbers; /* of their children */
    size_t *ends;      /* of each parent, where its children end */
    size_t count;
    int64_t first, last; /* key, of a table */
    enum clr_load_outcome outcome;
};

struct walk {
    struct clr_pages *pages;
    unsigned char *page;
    struct part *parts; /* of the level; the first one's page is that of the walk */
    int part_count;
};

/* Takes the keys of an interior page and its children. Returns false if some are not sound. Keys of
   an index are rows, which are read later: in which order they are is the collations' matter. */
static bool take_cells(struct part *part, const struct clr_page *page)
{
    const struct clr_source *source = part->pages.source;
    const unsigned char *end = part->page + source->usable_size;
    uint32_t *numbers = part->numbers + part->count;
    int64_t last = part->last;
    uint64_t key;
    uint32_t i;

    for (i = 0; i < page->cells; i++) {
        const uint32_t offset = clr_page_cell(page, i);

        if (offset == 0)
            return false;
        numbers[i] = clr_get_u32(part->page + offset);
        if (source->is_index)
            continue;
        if (clr_get_varint(part->page + offset + 4, &key) > end)
            return false;
        if (part->count == 0 && i == 0)
            part->first = (int64_t)key;
        else if ((int64_t)key <= last)
            return false;
        last = (int64_t)key;
    }
    part->last = last;
    numbers[page->cells] = page->right;
    return true;
}

/* Appends the children of the interior page that has been read; there is room for them. */
static enum clr_load_outcome append_children(struct part *part, uint32_t number)
{
    struct clr_pages *pages = &part->pages;
    const int flags = pages->source->is_index ? CLR_PAGE_INDEX_INTERIOR : CLR_PAGE_TABLE_INTERIOR;
    const uint32_t *numbers = part->numbers + part->count;
    struct clr_page page;
    enum clr_load_outcome outcome;

    /* The schema's root can have a child and no cell: page 1 has less room than its child. */
    outcome = clr_page_open(pages, number, part->page, flags, number == 1, &page);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (!take_cells(part, &page))
        return clr_page_malformed(pages, number);
    part->count += (size_t)page.cells + 1;
    return clr_pages_visit(pages, numbers, (size_t)page.cells + 1);
}

/* Finds the children of a part's pages, the first of which has been read if it is the level's. */
static void descend_part(void *argument, int i, const atomic_bool *stop)
{
    struct walk *walk = argument;
    struct part *part = &walk->parts[i];
    size_t k;

    if (walk->part_count > 1)
        part->pages.stop = stop;
    for (k = 0; k < part->parent_count && part->outcome == CLR_LOAD_DONE; k++) {
        if (i > 0 || k > 0)
            part->outcome = clr_pages_read(&part->pages, part->parents[k], 1, part->page);
        if (part->outcome == CLR_LOAD_DONE)
            part->outcome = append_children(part, part->parents[k]);
        part->ends[k] = part->count;
    }
}

static int count_parts(const struct clr_pages *pages, size_t level)
{
    size_t most = level / PART_PAGES, threads = (size_t)clr_team_size();

    if (!pages->source->parallel || most < 2)
        return 1;
    return (int)(most < threads ? most : threads);
}

/* Makes the parts of a level, whose children have their places in a list, `most` for each page. */
static bool divide(struct walk *walk, const struct clr_page_list *level,
                   struct clr_page_list *children, size_t most)
{
    const size_t page_size = walk->pages->source->page_size;
    const size_t parts = (size_t)count_parts(walk->pages, level->count);
    size_t first = 0, i;

    walk->parts = clr_memory_alloc(parts * sizeof *walk->parts);
    if (walk->parts == NULL)
        return false;
    for (i = 0; i < parts; i++) {
        struct part *part = &walk->parts[i];
        size_t end = level->count * (i + 1) / parts;

        *part = (struct part){.pages = *walk->pages,
                              .page = walk->page,
                              .parents = level->numbers + first,
                              .parent_count = end - first,
                              .numbers = children->numbers + first * most,
                              .ends = children->ends + first,
                              .outcome = CLR_LOAD_DONE};
        part->pages.bytes_read = 0;
        part->last = INT64_MIN;
        if (parts > 1)
            part->pages.watch = NULL; /* is asked by whoever waits for the parts */
        if (i > 0)
            part->page = clr_memory_alloc(page_size + (size_t)CLR_PAGE_SLACK);
        walk->part_count = (int)i + 1;
        if (part->page == NULL)
            return false;
        memset(part->page + page_size, 0, CLR_PAGE_SLACK);
        first = end;
    }
    return true;
}

/* Puts the parts' children together, if keys ascend from part to part. */
static enum clr_load_outcome unite(struct walk *walk, struct clr_page_list *children)
{
    size_t k;
    int i;

    for (i = 0; i < walk->part_count; i++) {
        struct part *part = &walk->parts[i];

        walk->pages->bytes_read += part->pages.bytes_read;
        walk->pages->asked_at = part->pages.asked_at;
        if (part->outcome != CLR_LOAD_DONE) {
            walk->pages->page = part->pages.page;
            walk->pages->code = part->pages.code;
            return part->outcome;
        }
        if (i > 0 && !walk->pages->source->is_index && part->first <= part[-1].last)
            return clr_page_malformed(walk->pages, part->parents[0]);
        memmove(children->numbers + children->count, part->numbers,
                part->count * sizeof *part->numbers);
        for (k = 0; k < part->parent_count; k++)
            part->ends[k] += children->count;
        children->count += part->count;
    }
    return CLR_LOAD_DONE;
}

/* Puts page numbers behind others, of which there are so many. Returns false without memory. */
static bool append(uint32_t **numbers, size_t *count, const uint32_t *more, size_t more_count)
{
    uint32_t *all = clr_memory_realloc(*numbers, (*count + more_count + 1) * sizeof *all);

    if (all == NULL)
        return false;
    if (more_count > 0)
        memcpy(all + *count, more, more_count * sizeof *more);
    *numbers = all;
    *count += more_count;
    return true;
}

/* Makes the list of a level, the first page of which has been read, that of all its children. */
static enum clr_load_outcome descend(struct walk *walk, struct clr_page_list *level)
{
    const size_t most = (size_t)clr_page_most_cells(walk->pages->source) + 1;
    const bool raised =
        append(&level->upper, &level->upper_count, level->branches, level->branch_count);
    /* What no child takes of a long list costs addresses only. */
    struct clr_page_list children = {
        .numbers = clr_memory_alloc(level->count * most * sizeof *children.numbers),
        .branches = level->numbers,
        .ends = clr_memory_alloc(level->count * sizeof *children.ends),
        .branch_count = level->count,
        .upper = level->upper,
        .upper_count = level->upper_count};
    enum clr_load_outcome outcome;
    int i;

    walk->part_count = 0;
    if (!raised || children.numbers == NULL || children.ends == NULL ||
        !divide(walk, level, &children, most))
        outcome = clr_pages_no_memory(walk->pages);
    else if (clr_team_run(walk->part_count, descend_part, walk,
                          walk->part_count > 1 ? walk->pages->watch : NULL))
        outcome = unite(walk, &children);
    else
        outcome = CLR_LOAD_STOPPED;
    for (i = 1; i < walk->part_count; i++)
        clr_memory_free(walk->parts[i].page);
    clr_memory_free(walk->parts);
    walk->parts = NULL;
    clr_memory_free(level->branches);
    clr_memory_free(level->ends);
    *level = children;
    return outcome;
}

/* Whether the flags are of a page of an index, where a table is expected, or the other way round.
 */
static bool is_other_kind(int flags, bool is_index)
{
    const bool of_index = flags == CLR_PAGE_INDEX_INTERIOR || flags == CLR_PAGE_INDEX_LEAF;
    const bool of_table = flags == CLR_PAGE_TABLE_INTERIOR || flags == CLR_PAGE_TABLE_LEAF;

    return is_index ? of_table : of_index;
}

/* Puts an index's interior pages behind its leaves. */
static enum clr_load_outcome append_inner(struct clr_pages *pages, struct clr_page_list *leaves)
{
    size_t i = leaves->count;
    bool done;

    leaves->inner = clr_page_set_new(pages->source->page_count);
    done = leaves->inner != NULL &&
           append(&leaves->numbers, &leaves->count, leaves->upper, leaves->upper_count) &&
           append(&leaves->numbers, &leaves->count, leaves->branches, leaves->branch_count);
    for (; i < leaves->count && done; i++)
        done = clr_page_set_add(leaves->inner, leaves->numbers[i]);
    return done ? CLR_LOAD_DONE : clr_pages_no_memory(pages);
}

/* Goes down level by level, until the first page of one is a leaf. */
static enum clr_load_outcome walk_down(struct walk *walk, struct clr_page_list *level)
{
    struct clr_pages *pages = walk->pages;
    const bool is_index = pages->source->is_index;
    int depth;

    for (depth = 0; depth < DEEPEST; depth++) {
        uint32_t first = level->numbers[0];
        enum clr_load_outcome outcome = clr_pages_read(pages, first, 1, walk->page);
        int flags;

        if (outcome != CLR_LOAD_DONE)
            return outcome;
        flags = clr_page_flags(first, walk->page);
        if (flags == (is_index ? CLR_PAGE_INDEX_LEAF : CLR_PAGE_TABLE_LEAF))
            return CLR_LOAD_DONE;
        if (depth == 0 && is_other_kind(flags, is_index))
            return CLR_LOAD_UNSUPPORTED;
        outcome = descend(walk, level);
        if (outcome != CLR_LOAD_DONE)
            return outcome;
    }
    return clr_page_malformed(pages, level->numbers[0]);
}

void clr_page_list_free(struct clr_page_list *list)
{
    clr_memory_free(list->numbers);
    clr_page_set_free(list->inner);
    clr_memory_free(list->branches);
    clr_memory_free(list->ends);
    clr_memory_free(list->upper);
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
    if (outcome == CLR_LOAD_DONE && pages->source->is_index)
        outcome = append_inner(pages, leaves);
    clr_memory_free(walk.page);
    return outcome;
}

/* ---- Trees that are kept. */

static struct clr_branch *new_branch(uint32_t number, const uint32_t *leaves, size_t leaf_count)
{
    struct clr_branch *branch =
        clr_memory_alloc(sizeof *branch + leaf_count * sizeof *branch->leaves);

    if (branch == NULL)
        return NULL;
    atomic_init(&branch->references, 1);
    branch->number = number;
    branch->leaf_count = (uint32_t)leaf_count;
    memcpy(branch->leaves, leaves, leaf_count * sizeof *leaves);
    return branch;
}

static void release_branch(struct clr_branch *branch)
{
    if (branch != NULL && atomic_fetch_sub(&branch->references, 1) == 1)
        clr_memory_free(branch);
}

/* Begins a tree of so many branches, below these pages. */
static bool begin_tree(struct clr_tree *tree, const uint32_t *upper, size_t upper_count,
                       size_t branch_count)
{
    *tree = (struct clr_tree){
        .branches = clr_memory_alloc_zero((branch_count + 1) * sizeof(struct clr_branch *)),
        .upper = clr_memory_alloc((upper_count + 1) * sizeof *upper),
        .upper_count = upper_count};
    if (tree->branches == NULL || tree->upper == NULL)
        return false;
    tree->branch_count = branch_count;
    if (upper_count > 0)
        memcpy(tree->upper, upper, upper_count * sizeof *upper);
    return true;
}

bool clr_tree_make(struct clr_tree *tree, const struct clr_page_list *list,
                   const struct clr_page_set *pages)
{
    size_t first = 0, i;

    if (!begin_tree(tree, list->upper, list->upper_count, list->branch_count))
        return false;
    for (i = 0; i < list->branch_count; i++) {
        tree->branches[i] =
            new_branch(list->branches[i], list->numbers + first, list->ends[i] - first);
        if (tree->branches[i] == NULL)
            return false;
        first = list->ends[i];
    }
    tree->pages = clr_page_set_copy(pages);
    return tree->pages != NULL;
}

/* Makes a tree one of the same branches, and the same pages above them. */
static bool share(struct clr_tree *tree, const struct clr_tree *from)
{
    size_t i;

    if (!begin_tree(tree, from->upper, from->upper_count, from->branch_count))
        return false;
    for (i = 0; i < from->branch_count; i++) {
        tree->branches[i] = from->branches[i];
        atomic_fetch_add(&tree->branches[i]->references, 1);
    }
    return true;
}

bool clr_tree_copy(struct clr_tree *tree, const struct clr_tree *from)
{
    *tree = (struct clr_tree){.pages = NULL};
    if (from->pages == NULL)
        return true;
    if (!share(tree, from))
        return false;
    tree->pages = clr_page_set_copy(from->pages);
    return tree->pages != NULL;
}

void clr_tree_free(struct clr_tree *tree)
{
    size_t i;

    for (i = 0; i < tree->branch_count; i++)
        release_branch(tree->branches[i]);
    clr_memory_free((void *)tree->branches);
    clr_page_set_free(tree->pages);
    clr_memory_free(tree->upper);
    *tree = (struct clr_tree){.pages = NULL};
}

size_t clr_tree_size(const struct clr_tree *tree)
{
    size_t size, i;

    if (tree->pages == NULL)
        return 0;
    size = clr_page_set_size(tree->pages) + tree->upper_count * sizeof *tree->upper;
    for (i = 0; i < tree->branch_count; i++)
        size += sizeof(struct clr_branch *) + sizeof(struct clr_branch) +
                tree->branches[i]->leaf_count * sizeof(uint32_t);
    return size;
}

static bool is_renewable(const struct clr_tree *tree, const struct clr_page_set *changes)
{
    size_t i = 0;

    while (i < tree->upper_count && !clr_page_set_has(changes, tree->upper[i]))
        i++;
    return i > 0 && i == tree->upper_count && tree->pages->last <= changes->last;
}

/* Visits all pages of a tree but the leaves of branches that have changed. */
static enum clr_load_outcome visit_others(struct clr_pages *pages, const struct clr_tree *tree,
                                          const struct clr_page_set *changes)
{
    struct clr_page_set *all = clr_page_set_copy(tree->pages);
    struct clr_page_set *others = clr_page_set_new(tree->pages->last);
    bool done = all != NULL && others != NULL;
    size_t i;
    uint32_t k;

    for (i = 0; i < tree->branch_count && done; i++) {
        const struct clr_branch *branch = tree->branches[i];

        for (k = 0; clr_page_set_has(changes, branch->number) && k < branch->leaf_count && done;
             k++)
            done = clr_page_set_add(others, branch->leaves[k]);
    }
    if (done) {
        clr_page_set_remove(all, others);
        clr_page_set_take(pages->visited, all);
    } else {
        clr_page_set_free(all);
    }
    clr_page_set_free(others);
    return done ? CLR_LOAD_DONE : clr_pages_no_memory(pages);
}

/* Reads a branch anew. */
static enum clr_load_outcome renew_branch(struct part *part, struct clr_branch **branch)
{
    const uint32_t number = (*branch)->number;
    enum clr_load_outcome outcome = clr_pages_read(&part->pages, number, 1, part->page);
    struct clr_branch *renewed;

    part->count = 0;
    part->last = INT64_MIN;
    if (outcome == CLR_LOAD_DONE)
        outcome = append_children(part, number);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    renewed = new_branch(number, part->numbers, part->count);
    if (renewed == NULL)
        return clr_pages_no_memory(&part->pages);
    release_branch(*branch);
    *branch = renewed;
    return CLR_LOAD_DONE;
}

enum clr_load_outcome clr_tree_renew(struct clr_pages *pages, const struct clr_tree *from,
                                     const struct clr_page_set *changes, struct clr_tree *tree,
                                     bool *is_renewed)
{
    const struct clr_source *source = pages->source;
    const size_t most = (size_t)clr_page_most_cells(source) + 1;
    struct part part = {.page = NULL};
    enum clr_load_outcome outcome;
    size_t i;

    *is_renewed = is_renewable(from, changes);
    if (!*is_renewed)
        return CLR_LOAD_DONE;
    part.page = clr_memory_alloc(source->page_size + (size_t)CLR_PAGE_SLACK);
    part.numbers = clr_memory_alloc(most * sizeof *part.numbers);
    outcome = share(tree, from) && part.page != NULL && part.numbers != NULL
                  ? visit_others(pages, from, changes)
                  : clr_pages_no_memory(pages);
    part.pages = *pages;
    if (outcome == CLR_LOAD_DONE)
        memset(part.page + source->page_size, 0, CLR_PAGE_SLACK);
    for (i = 0; i < tree->branch_count && outcome == CLR_LOAD_DONE; i++) {
        if (clr_page_set_has(changes, tree->branches[i]->number))
            outcome = renew_branch(&part, &tree->branches[i]);
    }
    *pages = part.pages;
    clr_memory_free(part.page);
    clr_memory_free(part.numbers);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    tree->pages = clr_page_set_copy(pages->visited);
    return tree->pages == NULL ? clr_pages_no_memory(pages) : CLR_LOAD_DONE;
}

/* ---- All pages of a table that is small. */

/* Whether all rows of a page, whose bytes those are, lie in it. */
static enum clr_load_outcome check_local(struct clr_pages *pages, uint32_t number,
                                         const unsigned char *data)
{
    const uint32_t most = clr_page_most_local(pages->source);
    struct clr_page page;
    enum clr_load_outcome outcome =
        clr_page_open(pages, number, data, clr_page_flags(number, data), true, &page);
    uint64_t size;
    uint32_t i, offset;

    for (i = 0; i < page.cells && outcome == CLR_LOAD_DONE; i++) {
        offset = clr_page_cell(&page, i);
        if (offset == 0)
            return clr_page_malformed(pages, number);
        clr_get_varint(data + offset + page.child, &size);
        if (size > most)
            outcome = CLR_LOAD_UNSUPPORTED;
    }
    return outcome;
}

enum clr_load_outcome clr_tree_pages(struct clr_pages *pages, uint32_t root, size_t most)
{
    unsigned char *buffer = clr_memory_alloc(pages->source->page_size + (size_t)CLR_PAGE_SLACK);
    struct clr_page_list list = {.count = 0};
    enum clr_load_outcome outcome =
        buffer == NULL ? clr_pages_no_memory(pages) : clr_tree_leaves(pages, root, &list);
    size_t i;

    if (outcome == CLR_LOAD_DONE && list.count > most)
        outcome = CLR_LOAD_TOO_LARGE;
    for (i = 0; i < list.count && outcome == CLR_LOAD_DONE; i++) {
        memset(buffer + pages->source->page_size, 0, CLR_PAGE_SLACK);
        outcome = clr_pages_read(pages, list.numbers[i], 1, buffer);
        if (outcome == CLR_LOAD_DONE)
            outcome = check_local(pages, list.numbers[i], buffer);
    }
    clr_page_list_free(&list);
    clr_memory_free(buffer);
    return outcome;
}
