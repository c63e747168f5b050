#include "storage/stream/rowids.h"

#include "base/memory.h"
#include "numeric/filter/bounds.h"
#include "numeric/scan/register.h"

/* Any rowid; none: the least is more than the greatest. */
static const struct clr_rowids any = {INT64_MIN, INT64_MAX};

/* Whether the filter has what SQLite reports an error for. */
static bool may_fail(const struct clr_scan *scan)
{
    const struct clr_tally none = {.x = -1, .y = -1, .filter = -1};
    bool used[CLR_MOST_INSTRUCTIONS];
    int i;

    clr_scan_find_used(scan, &none, used);
    for (i = 0; i <= scan->filter; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];

        if (used[i] && (instruction->opcode == CLR_OP_ABSOLUTE ||
                        (instruction->opcode == CLR_OP_LOOKUP &&
                         (scan->lookups[instruction->b].types & CLR_TYPE(CLR_TAG_UNSURE)) != 0)))
            return true;
    }
    return false;
}

static struct clr_rowids intersect(struct clr_rowids a, struct clr_rowids b)
{
    return (struct clr_rowids){a.least > b.least ? a.least : b.least,
                               a.greatest < b.greatest ? a.greatest : b.greatest};
}

static struct clr_rowids unite(struct clr_rowids a, struct clr_rowids b)
{
    if (a.least > a.greatest || b.least > b.greatest)
        return a.least > a.greatest ? b : a;
    return (struct clr_rowids){a.least < b.least ? a.least : b.least,
                               a.greatest > b.greatest ? a.greatest : b.greatest};
}

bool clr_rowids_find(const struct clr_scan *scan, const struct clr_field *fields,
                     struct clr_rowids *rowids)
{
    struct clr_rowids found[CLR_MOST_INSTRUCTIONS]; /* for which an instruction can be true */
    struct clr_bounds bounds;
    int i, column;

    if (scan->filter < 0 || may_fail(scan))
        return false;
    for (i = 0; i <= scan->filter; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];

        found[i] = any;
        if (instruction->opcode == CLR_OP_AND)
            found[i] = intersect(found[instruction->a], found[instruction->b]);
        else if (instruction->opcode == CLR_OP_OR)
            found[i] = unite(found[instruction->a], found[instruction->b]);
        else if (clr_bounds_find(scan, i, &column, &bounds) &&
                 fields[scan->instructions[column].a].index == CLR_FIELD_ROWID)
            found[i] = (struct clr_rowids){bounds.least, bounds.greatest};
    }
    *rowids = found[scan->filter];
    if (rowids->least > rowids->greatest)
        rowids->greatest = rowids->least;
    return rowids->least != any.least || rowids->greatest != any.greatest;
}

enum clr_load_outcome clr_rowids_leaves(const struct clr_source *source, uint32_t root,
                                        const struct clr_rowids *rowids,
                                        const struct clr_watch *watch, struct clr_page_list *leaves)
{
    struct clr_pages pages = {
        .source = source, .visited = clr_pages_new_visits(source), .watch = watch};
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;

    *leaves = (struct clr_page_list){.count = 0};
    if (pages.visited != NULL)
        outcome = clr_tree_leaves(&pages, root, rowids, leaves);
    clr_memory_free(pages.visited);
    return outcome;
}
