#include "storage/refresh/refresh.h"

#include "base/memory.h"
#include "numeric/values/column.h"
#include "storage/format/page_set.h"
#include "storage/leaves/layout.h"
#include "storage/leaves/units.h"
#include "storage/refresh/spliced_columns.h"
#include "storage/snapshot/tree.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Leaves. */

/*
 * A leaf is kept if the columns have its rows, its page has not changed, and neither has any
 * overflow page that was read for this table, unless its values came from the leaf alone. Then a
 * load would find in it just what it found before. Its rowids are known, so that those of all
 * leaves can be compared.
 */

struct numbers {
    uint32_t *list;
    size_t count, room;
};

/* The leaves that can't be kept, decoded one by one into columns of their own. */
struct fresh_leaves {
    int count;
    struct clr_column **columns; /* one for each field, at its position; those of SQLite follow */
    int decoded;                 /* so many are decoded */
    atomic_int_least64_t left;   /* bytes that TEXT, BLOBs and dictionaries may still take */
    size_t leaf_count;
    struct clr_leaf *leaves;
    size_t *at; /* where their rows begin */
    struct clr_leaf_reader reader;
};

struct refresh {
    const struct clr_source *source;
    const struct clr_page_set *changes;
    struct clr_layout *layout;
    struct clr_pages pages;
    struct clr_tree tree;        /* the table's now */
    bool is_renewed;             /* the tree shares branches with the layout's */
    struct clr_page_set *leaves; /* its pages that have rows */
    struct clr_page_set *inner;  /* of an index: its interior pages */
    size_t leaf_count;
    struct numbers gone;       /* places of leaves that are no more */
    struct numbers added;      /* pages that were no leaves */
    struct numbers changed;    /* pages that are to be decoded: these and changed ones, ascending */
    struct clr_field *fields;  /* as clr_record_fields() has them */
    struct fresh_leaves fresh; /* the leaves of those pages */
    struct clr_leaf_change *fates; /* of leaves that are not kept, ascending by their places */
    size_t fate_count;
    bool keeps_chains; /* no overflow page that was read has changed */
    struct clr_page_set *unvalued;
    struct clr_splice splice;
    bool has_moved;
};

/* Allocates an array, never of no elements. */
static void *new_array(size_t count, size_t size)
{
    return clr_memory_alloc((count + 1) * size);
}

static bool add_number(struct numbers *numbers, uint32_t number)
{
    uint32_t *list =
        clr_memory_make_room(numbers->list, &numbers->room, numbers->count + 1, sizeof *list);

    if (list == NULL)
        return false;
    numbers->list = list;
    numbers->list[numbers->count++] = number;
    return true;
}

/* Takes note of a page that was a leaf: whether it is none any more. */
static bool note_before(struct refresh *refresh, uint32_t page)
{
    return clr_page_set_has(refresh->leaves, page) ||
           add_number(&refresh->gone, (uint32_t)clr_layout_find(refresh->layout, page) - 1);
}

/* Takes note of a page that is a leaf: whether it was none. */
static bool note_now(struct refresh *refresh, uint32_t page)
{
    return clr_layout_find(refresh->layout, page) > 0 || add_number(&refresh->added, page);
}

/* Walks through all interior pages. */
static enum clr_load_outcome walk_anew(struct refresh *refresh, uint32_t root)
{
    const struct clr_layout *layout = refresh->layout;
    struct clr_pages *pages = &refresh->pages;
    struct clr_page_list list;
    enum clr_load_outcome outcome = clr_tree_leaves(pages, root, &list);
    bool done = outcome == CLR_LOAD_DONE;
    size_t i;

    refresh->leaves = done ? clr_page_set_new(refresh->source->page_count) : NULL;
    done = refresh->leaves != NULL && clr_tree_make(&refresh->tree, &list, pages->visited);
    for (i = 0; i < list.count && done; i++)
        done = clr_page_set_add(refresh->leaves, list.numbers[i]) &&
               note_now(refresh, list.numbers[i]);
    for (i = 0; i < layout->leaf_count && done; i++)
        done = note_before(refresh, layout->leaves[i].number);
    clr_page_list_free(&list);
    return done || outcome != CLR_LOAD_DONE ? outcome : clr_pages_no_memory(pages);
}

/* Returns the set of a tree's interior pages, or NULL without memory. */
static struct clr_page_set *inner_pages(const struct clr_tree *tree)
{
    struct clr_page_set *inner = clr_page_set_new(tree->pages->last);
    bool done = inner != NULL;
    size_t i;

    for (i = 0; i < tree->upper_count && done; i++)
        done = clr_page_set_add(inner, tree->upper[i]);
    for (i = 0; i < tree->branch_count && done; i++)
        done = clr_page_set_add(inner, tree->branches[i]->number);
    if (done)
        return inner;
    clr_page_set_free(inner);
    return NULL;
}

/* Takes note of the leaves of branches that have changed. */
static bool note_branches(struct refresh *refresh)
{
    const struct clr_tree *before = &refresh->layout->tree, *now = &refresh->tree;
    bool done;
    size_t i;
    uint32_t k;

    /* No interior page has a place among the leaves of a table. */
    refresh->leaves = clr_page_set_copy(now->pages);
    done = refresh->leaves != NULL;
    for (i = 0; i < now->branch_count && done; i++) {
        const struct clr_branch *old = before->branches[i], *branch = now->branches[i];

        for (k = 0; branch != old && k < old->leaf_count && done; k++)
            done = note_before(refresh, old->leaves[k]);
        for (k = 0; branch != old && k < branch->leaf_count && done; k++)
            done = note_now(refresh, branch->leaves[k]);
    }
    return done;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

    return (first > second) - (first < second);
}

/* Whether the layout's leaf, which is still one, can't be kept. */
static bool has_changed(const struct refresh *refresh, const struct clr_leaf *leaf)
{
    return clr_page_set_has(refresh->leaves, leaf->number) &&
           (clr_page_set_has(refresh->changes, leaf->number) ||
            (leaf->is_chained && !refresh->keeps_chains));
}

/* Lists the pages that are to be decoded. */
static bool find_changed(struct refresh *refresh)
{
    const struct clr_layout *layout = refresh->layout;
    struct numbers *changed = &refresh->changed;
    bool done = true;
    uint32_t page;
    size_t i;

    for (i = 0; i < refresh->added.count && done; i++)
        done = add_number(changed, refresh->added.list[i]);
    if (refresh->keeps_chains) {
        for (page = 0; (page = clr_page_set_next(refresh->changes, page)) != 0 && done;) {
            const size_t place = clr_layout_find(layout, page);

            if (place > 0 && has_changed(refresh, &layout->leaves[place - 1]))
                done = add_number(changed, page);
        }
    } else {
        for (i = 0; i < layout->leaf_count && done; i++) {
            if (has_changed(refresh, &layout->leaves[i]))
                done = add_number(changed, layout->leaves[i].number);
        }
    }
    if (done && changed->count > 1)
        qsort(changed->list, changed->count, sizeof *changed->list, compare_numbers);
    return done;
}

/* Returns a column for codes of a dictionary of its own, or NULL. */
static struct clr_column *new_codes(struct fresh_leaves *fresh, size_t rows, uint64_t seed)
{
    struct clr_dictionary *dictionary = clr_dictionary_new(seed, &fresh->left);
    struct clr_column *column =
        dictionary == NULL ? NULL : clr_column_new_codes(dictionary, rows, sizeof(uint32_t));

    clr_dictionary_release(dictionary);
    return column;
}

static bool make_columns(struct fresh_leaves *fresh, size_t rows, uint64_t seed)
{
    const struct clr_field *fields = fresh->reader.decoder.fields;
    size_t size = ((size_t)fresh->count + 1) * sizeof(struct clr_column *);
    int i;

    fresh->columns = clr_memory_alloc(size);
    if (fresh->columns == NULL)
        return false;
    memset((void *)fresh->columns, 0, size);
    for (i = 0; i < fresh->decoded; i++) {
        struct clr_column *column =
            fields[i].with_codes ? new_codes(fresh, rows, seed) : clr_column_new(rows);

        if (column == NULL)
            return false;
        column->bytes.left = &fresh->left;
        fresh->columns[fields[i].position] = column;
    }
    fresh->reader.decoder.passing.left = &fresh->left;
    clr_decoder_begin_columns(&fresh->reader.decoder, fresh->columns);
    return true;
}

/* Begins with columns for the fields, of which so many are decoded and count are wanted in all, and
   with room for so many leaves. fresh_free() is due in any case; it may be zeros then. */
static enum clr_load_outcome fresh_init(struct fresh_leaves *fresh, struct clr_pages *pages,
                                        const struct clr_field *fields, int decoded, int count,
                                        size_t room, size_t most_bytes, uint64_t seed)
{
    *fresh = (struct fresh_leaves){.count = count, .decoded = decoded};
    atomic_init(&fresh->left,
                most_bytes == 0 || most_bytes > INT64_MAX ? INT64_MAX : (int64_t)most_bytes);
    fresh->leaves = clr_memory_alloc(room * sizeof *fresh->leaves);
    fresh->at = clr_memory_alloc(room * sizeof *fresh->at);
    if (fresh->leaves == NULL || fresh->at == NULL ||
        clr_leaf_reader_init(&fresh->reader, pages, fields, decoded, 1) != CLR_LOAD_DONE)
        return clr_pages_no_memory(pages);
    /* What no row touches costs addresses only. */
    return make_columns(fresh, room * clr_page_most_cells(pages->source), seed)
               ? CLR_LOAD_DONE
               : clr_pages_no_memory(pages);
}

static void fresh_free(struct fresh_leaves *fresh)
{
    int i;

    for (i = 0; i < fresh->count && fresh->columns != NULL; i++)
        clr_column_release(fresh->columns[i]);
    clr_memory_free((void *)fresh->columns);
    clr_leaf_reader_free(&fresh->reader);
    clr_memory_free(fresh->leaves);
    clr_memory_free(fresh->at);
}

/* Decodes a leaf, in whatever order; only if it is the table's only one it may be empty. (If its
   first row has the least rowid of all that is taken for an error.) */
static enum clr_load_outcome fresh_add(struct fresh_leaves *fresh, uint32_t number, bool is_only)
{
    struct clr_leaf_reader *reader = &fresh->reader;
    enum clr_load_outcome outcome;
    size_t rows;

    outcome = clr_leaf_reader_read(reader, &number, 1, is_only, &rows);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    fresh->at[fresh->leaf_count] = reader->decoder.rows;
    clr_order_init(&reader->decoder.order);
    outcome = clr_leaf_reader_decode(reader);
    fresh->leaves[fresh->leaf_count++] = reader->leaves[0];
    return outcome;
}

/* Returns a column of so many rows, of values that the old column has, or, of codes, none. */
static struct clr_column *new_stand_in(struct fresh_leaves *fresh, const struct clr_column *old,
                                       size_t rows, uint64_t seed)
{
    struct clr_column *column =
        old->codes != NULL ? new_codes(fresh, rows, seed) : clr_column_new(rows);
    size_t i;

    if (column == NULL)
        return NULL;
    column->rows = rows;
    if (old->codes != NULL) {
        memset(column->codes, 0, rows * sizeof(uint32_t));
        return column;
    }
    column->kind = old->rows == 0               ? CLR_TAG_NULL
                   : old->kind == CLR_TAG_MIXED ? old->tags[0]
                                                : old->kind;
    for (i = 0; i < rows; i++)
        column->values[i] = old->rows == 0 ? 0 : clr_column_value(old, 0);
    return column;
}

/* Completes the columns, and makes those that are not decoded, with anything that those of the
   table may have for values. Returns false without memory. */
static bool fresh_end(struct fresh_leaves *fresh, struct clr_column *const *columns, uint64_t seed)
{
    int i;

    clr_decoder_end_columns(&fresh->reader.decoder, fresh->columns);
    for (i = fresh->decoded; i < fresh->count; i++) {
        fresh->columns[i] = new_stand_in(fresh, columns[i], fresh->reader.decoder.rows, seed);
        if (fresh->columns[i] == NULL)
            return false;
    }
    return true;
}

/* Decodes the leaves that can't be kept. */
static enum clr_load_outcome decode(struct refresh *refresh, const struct clr_field *fields,
                                    int count, struct clr_column *const *columns)
{
    const struct clr_layout *layout = refresh->layout;
    const struct numbers *changed = &refresh->changed;
    struct fresh_leaves *fresh = &refresh->fresh;
    enum clr_load_outcome outcome;
    int decoded = 0;
    size_t i;

    if (changed->count > clr_refresh_most_leaves(refresh->leaf_count))
        return CLR_LOAD_TOO_LARGE;
    while (decoded < count && !clr_field_is_evaluated(&fields[decoded]))
        decoded++;
    refresh->fields = clr_record_fields(fields, decoded);
    if (refresh->fields == NULL)
        return clr_pages_no_memory(&refresh->pages);
    outcome = fresh_init(fresh, &refresh->pages, refresh->fields, decoded, count,
                         changed->count + 1, layout->most_bytes, layout->seed);
    for (i = 0; i < changed->count && outcome == CLR_LOAD_DONE; i++)
        outcome = fresh_add(fresh, changed->list[i], refresh->leaf_count == 1);
    if (outcome == CLR_LOAD_DONE && !fresh_end(fresh, columns, layout->seed))
        outcome = clr_pages_no_memory(&refresh->pages);
    return outcome;
}

/* ---- Whether rowids ascend from leaf to leaf. */

/* Returns the table's leaf that a page is now. */
static const struct clr_leaf *find_leaf(const struct refresh *refresh, uint32_t page)
{
    const struct numbers *changed = &refresh->changed;
    const uint32_t *found = NULL;

    if (changed->count > 0)
        found =
            bsearch(&page, changed->list, changed->count, sizeof *changed->list, compare_numbers);
    return found != NULL ? &refresh->fresh.leaves[found - changed->list]
                         : &refresh->layout->leaves[clr_layout_find(refresh->layout, page) - 1];
}

static bool follows(const struct clr_leaf *leaf, const struct clr_leaf *before)
{
    return before == NULL || leaf->first > before->last;
}

static const struct clr_leaf *last_leaf(const struct refresh *refresh, size_t branch)
{
    const struct clr_branch *last = refresh->tree.branches[branch];

    return find_leaf(refresh, last->leaves[last->leaf_count - 1]);
}

/* Whether a branch is one that the table had before, with the same leaves. */
static bool is_shared(const struct refresh *refresh, size_t branch)
{
    return refresh->is_renewed &&
           refresh->tree.branches[branch] == refresh->layout->tree.branches[branch];
}

/* Checks the leaves of branches that have other ones than before, and those beside them. */
static enum clr_load_outcome check_branches(struct refresh *refresh)
{
    const struct clr_tree *tree = &refresh->tree;
    const struct clr_leaf *before = NULL, *leaf;
    size_t i;
    uint32_t k;

    for (i = 0; i < tree->branch_count; i++) {
        const struct clr_branch *branch = tree->branches[i];
        const bool shared = is_shared(refresh, i);

        if (shared && before == NULL)
            continue;
        if (before == NULL && i > 0)
            before = last_leaf(refresh, i - 1);
        for (k = 0; k < (shared ? 1 : branch->leaf_count); k++) {
            leaf = find_leaf(refresh, branch->leaves[k]);
            if (!follows(leaf, before))
                return clr_page_malformed(&refresh->pages, leaf->number);
            before = leaf;
        }
        if (shared)
            before = NULL;
    }
    return CLR_LOAD_DONE;
}

/* Checks a leaf that has changed, of a branch that has not. */
static enum clr_load_outcome check_leaf(struct refresh *refresh, const struct clr_leaf *leaf,
                                        size_t i)
{
    const struct clr_tree *tree = &refresh->tree;
    const struct clr_branch *branch = tree->branches[i];
    const struct clr_leaf *before = NULL, *after = NULL;
    uint32_t k = 0;

    while (branch->leaves[k] != leaf->number)
        k++;
    if (k > 0)
        before = find_leaf(refresh, branch->leaves[k - 1]);
    else if (i > 0)
        before = last_leaf(refresh, i - 1);
    if (k + 1 < branch->leaf_count)
        after = find_leaf(refresh, branch->leaves[k + 1]);
    else if (i + 1 < tree->branch_count)
        after = find_leaf(refresh, tree->branches[i + 1]->leaves[0]);
    return follows(leaf, before) && (after == NULL || follows(after, leaf))
               ? CLR_LOAD_DONE
               : clr_page_malformed(&refresh->pages, leaf->number);
}

/* Checks all leaves that have changed, or come beside other ones: if there are several leaves none
   is empty. */
static enum clr_load_outcome check_order(struct refresh *refresh)
{
    const struct clr_layout *layout = refresh->layout;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;

    if (refresh->source->is_index || refresh->leaf_count == 1)
        return CLR_LOAD_DONE;
    outcome = check_branches(refresh);
    for (i = 0; i < refresh->fresh.leaf_count && outcome == CLR_LOAD_DONE; i++) {
        const struct clr_leaf *leaf = &refresh->fresh.leaves[i];
        const size_t place = clr_layout_find(layout, leaf->number);
        const size_t branch = place == 0 ? 0 : layout->leaves[place - 1].branch;

        if (place > 0 && refresh->is_renewed && is_shared(refresh, branch))
            outcome = check_leaf(refresh, leaf, branch);
    }
    return outcome;
}

/* ---- Rows whose expressions have to be evaluated again. */

/* Whether pages have changed that are none of the tree's, and may be overflow pages. */
static bool has_other_changes(const struct refresh *refresh)
{
    uint32_t page = 1; /* which is none */

    do
        page = clr_page_set_next(refresh->changes, page);
    while (page != 0 && clr_page_set_has(refresh->tree.pages, page));
    return page != 0;
}

/* Finds the leaves whose rows may be other ones in whatever column: those that are decoded, and, as
   a page may be one of their overflow pages, those that have some. */
static enum clr_load_outcome find_unvalued(struct refresh *refresh)
{
    const struct clr_layout *layout = refresh->layout;
    const bool looks = layout->divided_count > 0 && has_other_changes(refresh);
    struct clr_page_set *set = clr_page_set_new(refresh->source->page_count);
    bool done = set != NULL;
    size_t i;

    refresh->unvalued = set;
    for (i = 0; i < refresh->changed.count && done; i++)
        done = clr_page_set_add(set, refresh->changed.list[i]);
    for (i = 0; i < layout->leaf_count && looks && done; i++) {
        const struct clr_leaf *leaf = &layout->leaves[i];

        if (leaf->is_divided && clr_page_set_has(refresh->leaves, leaf->number))
            done = clr_page_set_add(set, leaf->number);
    }
    return done ? CLR_LOAD_DONE : clr_pages_no_memory(&refresh->pages);
}

/* ---- Where the rows go. */

/* Leaves that were none before come last, in the order of their rowids. */
static int compare_fates(const void *a, const void *b)
{
    const struct clr_leaf_change *first = a, *second = b;

    if (first->place != second->place)
        return first->place < second->place ? -1 : 1;
    if (first->now->first != second->now->first)
        return first->now->first < second->now->first ? -1 : 1;
    return compare_numbers(&first->now->number, &second->now->number);
}

/* Says what becomes of leaves that are not kept. */
static bool find_fates(struct refresh *refresh)
{
    const struct numbers *gone = &refresh->gone;
    const struct fresh_leaves *fresh = &refresh->fresh;
    struct clr_leaf_change *fates = new_array(gone->count + fresh->leaf_count, sizeof *fates);
    size_t count = 0, i;

    refresh->fates = fates;
    if (fates == NULL)
        return false;
    for (i = 0; i < gone->count; i++)
        fates[count++] = (struct clr_leaf_change){.place = gone->list[i]};
    for (i = 0; i < fresh->leaf_count; i++) {
        const size_t place = clr_layout_find(refresh->layout, fresh->leaves[i].number);

        fates[count++] = (struct clr_leaf_change){.place = place == 0 ? SIZE_MAX : place - 1,
                                                  .now = &fresh->leaves[i]};
    }
    qsort(fates, count, sizeof *fates, compare_fates);
    refresh->fate_count = count;
    return true;
}

/* Rows that the columns have stay, from one on. */
static void add_old(struct clr_splice *splice, size_t from, size_t rows)
{
    if (rows == 0)
        return;
    splice->old[splice->old_count++] =
        (struct clr_row_run){.from = from, .to = splice->rows, .rows = rows};
    splice->rows += rows;
}

static void add_fresh(struct refresh *refresh, const struct clr_leaf *leaf)
{
    const size_t from = refresh->fresh.at[leaf - refresh->fresh.leaves];
    struct clr_splice *splice = &refresh->splice;

    splice->fresh[splice->fresh_count++] =
        (struct clr_row_run){.from = from, .to = splice->rows, .rows = leaf->rows};
    splice->rows += leaf->rows;
}

/* Says where all rows go: those of changed leaves where they were, those of new ones to the end. */
static bool plan_rows(struct refresh *refresh)
{
    const struct clr_layout *layout = refresh->layout;
    struct clr_splice *splice = &refresh->splice;
    size_t from = 0, i;

    splice->old = new_array(refresh->fate_count, sizeof *splice->old);
    splice->fresh = new_array(refresh->fresh.leaf_count, sizeof *splice->fresh);
    if (splice->old == NULL || splice->fresh == NULL)
        return false;
    for (i = 0; i < refresh->fate_count && refresh->fates[i].place != SIZE_MAX; i++) {
        const struct clr_leaf *before = &layout->leaves[refresh->fates[i].place];

        add_old(splice, from, before->row - from);
        if (refresh->fates[i].now != NULL)
            add_fresh(refresh, refresh->fates[i].now);
        from = before->row + before->rows;
    }
    add_old(splice, from, layout->rows - from);
    for (; i < refresh->fate_count; i++)
        add_fresh(refresh, refresh->fates[i].now);
    return true;
}

/* Makes the columns those of the leaves that are kept and of those that were decoded. */
static enum clr_load_outcome change_columns(struct refresh *refresh, struct clr_column **columns,
                                            bool *changed)
{
    struct clr_layout *layout = refresh->layout;
    struct clr_pages *pages = &refresh->pages;
    enum clr_load_outcome outcome;

    if (!find_fates(refresh) || !plan_rows(refresh) ||
        !clr_layout_make_room(layout, refresh->added.list, refresh->added.count))
        return clr_pages_no_memory(pages);
    outcome = clr_columns_splice(&refresh->splice, layout, pages, refresh->fresh.columns,
                                 refresh->fresh.count, columns, changed);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    clr_layout_add_chains(layout, pages->visited, refresh->tree.pages, refresh->keeps_chains);
    pages->visited = NULL;
    refresh->has_moved = true;
    return CLR_LOAD_DONE;
}

static enum clr_load_outcome refresh_table(struct refresh *refresh, uint32_t root,
                                           const struct clr_field *fields, int count,
                                           struct clr_column **columns, bool *changed)
{
    struct clr_pages *pages = &refresh->pages;
    struct clr_layout *layout = refresh->layout;
    enum clr_load_outcome outcome;
    bool changes_rows;

    pages->visited = clr_page_set_new(refresh->source->page_count);
    if (pages->visited == NULL)
        return clr_pages_no_memory(pages);
    outcome = clr_tree_renew(pages, &layout->tree, refresh->changes, &refresh->tree,
                             &refresh->is_renewed);
    if (outcome == CLR_LOAD_DONE && !refresh->is_renewed)
        outcome = walk_anew(refresh, root);
    else if (outcome == CLR_LOAD_DONE && !note_branches(refresh))
        outcome = clr_pages_no_memory(pages);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (refresh->source->is_index)
        pages->inner = refresh->inner = inner_pages(&refresh->tree);
    if (refresh->source->is_index && refresh->inner == NULL)
        return clr_pages_no_memory(pages);
    refresh->leaf_count = layout->leaf_count - refresh->gone.count + refresh->added.count;
    refresh->keeps_chains = !clr_page_set_meets(layout->chains, refresh->changes);
    if (!find_changed(refresh))
        return clr_pages_no_memory(pages);
    changes_rows = refresh->changed.count + refresh->gone.count > 0;
    if (changes_rows)
        outcome = decode(refresh, fields, count, columns);
    if (outcome == CLR_LOAD_DONE)
        outcome = check_order(refresh);
    if (outcome == CLR_LOAD_DONE && count > 0 && clr_field_is_evaluated(&fields[count - 1]))
        outcome = find_unvalued(refresh);
    if (outcome == CLR_LOAD_DONE && changes_rows)
        outcome = change_columns(refresh, columns, changed);
    if (outcome == CLR_LOAD_DONE)
        clr_layout_change(layout, refresh->fates, refresh->fate_count, &refresh->tree);
    return outcome;
}

/* Adds rows behind those that there are. If there would be too many ranges, the two with the fewest
   rows between them become one. */
static void add_range(struct clr_row_ranges *ranges, const struct clr_row_run *run)
{
    struct clr_row_range all[CLR_MOST_ROW_RANGES + 1];
    size_t gap, least = SIZE_MAX;
    int i, at = 0;

    memcpy(all, ranges->ranges, sizeof ranges->ranges);
    all[ranges->count] = (struct clr_row_range){run->to, run->rows};
    for (i = 0; i < ranges->count; i++) {
        gap = all[i + 1].first - (all[i].first + all[i].rows);
        if (gap < least) {
            least = gap;
            at = i;
        }
    }
    if (ranges->count == CLR_MOST_ROW_RANGES || least == 0) {
        all[at].rows = all[at + 1].first + all[at + 1].rows - all[at].first;
        memmove(&all[at + 1], &all[at + 2], (size_t)(ranges->count - at - 1) * sizeof *all);
    } else {
        ranges->count++;
    }
    memcpy(ranges->ranges, all, sizeof ranges->ranges);
}

/* Reports which rows are fresh, if the others are where they were. */
static void report_rows(const struct clr_splice *splice, struct clr_refresh_report *report)
{
    size_t i;

    report->rows_stay = true;
    for (i = 0; i < splice->old_count; i++)
        report->rows_stay = report->rows_stay && splice->old[i].from == splice->old[i].to;
    for (i = 0; i < splice->fresh_count; i++)
        add_range(&report->fresh, &splice->fresh[i]);
}

static void refresh_free(struct refresh *refresh)
{
    fresh_free(&refresh->fresh);
    clr_tree_free(&refresh->tree);
    clr_page_set_free(refresh->pages.visited);
    clr_page_set_free(refresh->leaves);
    clr_page_set_free(refresh->inner);
    clr_page_set_free(refresh->unvalued);
    clr_memory_free(refresh->gone.list);
    clr_memory_free(refresh->added.list);
    clr_memory_free(refresh->changed.list);
    clr_memory_free(refresh->fields);
    clr_memory_free(refresh->fates);
    clr_memory_free(refresh->splice.old);
    clr_memory_free(refresh->splice.fresh);
}

enum clr_load_outcome clr_refresh(const struct clr_source *source, uint32_t root,
                                  const struct clr_page_set *changes,
                                  const struct clr_field *fields, int count,
                                  struct clr_layout *layout, struct clr_column **columns,
                                  bool *changed, const struct clr_watch *watch,
                                  struct clr_refresh_report *report)
{
    struct refresh refresh = {.source = source, .changes = changes, .layout = layout};
    enum clr_load_outcome outcome;

    refresh.pages = (struct clr_pages){.source = source, .watch = watch};
    outcome = refresh_table(&refresh, root, fields, count, columns, changed);
    *report = (struct clr_refresh_report){.bytes_read = refresh.pages.bytes_read,
                                          .leaves_read = refresh.fresh.leaf_count,
                                          .leaves = refresh.leaf_count,
                                          .has_moved = refresh.has_moved};
    if (refresh.has_moved)
        report_rows(&refresh.splice, report);
    if (outcome == CLR_LOAD_DONE) {
        report->unvalued = refresh.unvalued;
        refresh.unvalued = NULL;
    }
    refresh_free(&refresh);
    return outcome;
}

enum clr_load_outcome clr_refresh_values(const struct clr_layout *layout, const size_t *places,
                                         size_t place_count, struct clr_column **fresh, int count,
                                         struct clr_column **columns, bool *changed,
                                         struct clr_refresh_report *report)
{
    struct clr_splice splice = {.old = new_array(place_count, sizeof *splice.old),
                                .fresh = new_array(place_count, sizeof *splice.fresh)};
    struct clr_pages pages = {.source = NULL};
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    size_t done = 0, i;

    for (i = 0; i < place_count && splice.old != NULL && splice.fresh != NULL; i++) {
        const struct clr_leaf *leaf = &layout->leaves[places[i]];

        add_old(&splice, splice.rows, leaf->row - splice.rows);
        splice.fresh[splice.fresh_count++] =
            (struct clr_row_run){.from = done, .to = leaf->row, .rows = leaf->rows};
        splice.rows += leaf->rows;
        done += leaf->rows;
    }
    if (splice.old != NULL && splice.fresh != NULL) {
        add_old(&splice, splice.rows, layout->rows - splice.rows);
        outcome = clr_columns_splice(&splice, layout, &pages, fresh, count, columns, changed);
    }
    *report = (struct clr_refresh_report){.has_moved = outcome == CLR_LOAD_DONE};
    if (outcome == CLR_LOAD_DONE)
        report_rows(&splice, report);
    clr_memory_free(splice.old);
    clr_memory_free(splice.fresh);
    return outcome;
}
