#include "sqlite/schema/walk.h"

/* Returns the operation that opens a cursor, or NULL. */
static const struct clr_vdbe_op *find_open(const struct clr_bytecode *program, int cursor)
{
    const struct clr_vdbe_op *operation;

    for (operation = program->operations; operation < clr_bytecode_end(program); operation++) {
        if (operation->p1 == cursor && CLR_VDBE_OP_IN(operation, CLR_VDBE_OPENS, "OpenEphemeral",
                                                      "OpenDup", "OpenPseudo", "VOpen"))
            return operation;
    }
    return NULL;
}

/* Whether an operation is in a loop over a cursor: so are the cursors of subqueries that SQLite
   evaluates for each row. */
static bool is_in_loop(const struct clr_bytecode *program, const struct clr_vdbe_op *operation)
{
    const int address = (int)(operation - program->operations);
    const struct clr_vdbe_op *next;

    for (next = operation + 1; next < clr_bytecode_end(program); next++) {
        if (next->p2 <= address && CLR_VDBE_OP_IN(next, "Next", "Prev"))
            return true;
    }
    return false;
}

/* Whether a cursor is one of the table's b-trees. */
static bool is_of_table(const struct clr_bytecode *program, const struct clr_vdbe_op *open)
{
    return open != NULL && !open->runs_once && clr_vdbe_op_is(open, "OpenRead") &&
           !is_in_loop(program, open);
}

/* Whether it has the values of an IN. */
static bool is_list(const struct clr_vdbe_op *open)
{
    return open != NULL && open->runs_once && clr_vdbe_op_is(open, "OpenEphemeral");
}

/* Whether it has what passes on the way to the result: for DISTINCT or ORDER BY. */
static bool is_of_result(const struct clr_vdbe_op *open)
{
    return open != NULL && !open->runs_once && clr_vdbe_op_is(open, "OpenEphemeral");
}

/* Whether ORDER BY brings what a cursor has into its order. */
static bool is_sorted(const struct clr_bytecode *program, int cursor)
{
    const struct clr_vdbe_op *operation = NULL;

    do
        operation = CLR_BYTECODE_NEXT(program, operation, "Sort");
    while (operation != NULL && operation->p1 != cursor);
    return operation != NULL;
}

/* Whether a loop, by the operation at its end, compares keys. */
static bool compares(const struct clr_bytecode *program, const struct clr_vdbe_op *next)
{
    const struct clr_vdbe_op *operation = program->operations + next->p2;

    while (operation < next && !clr_vdbe_op_is(operation, "Compare"))
        operation++;
    return operation < next;
}

/* The sorter that has equal keys compared as rows leave it. Stores whether there are several. */
static const struct clr_vdbe_op *find_sorter(const struct clr_bytecode *program, bool *are_several)
{
    const struct clr_vdbe_op *found = NULL, *next = NULL, *open;

    *are_several = false;
    while ((next = CLR_BYTECODE_NEXT(program, next, "SorterNext")) != NULL) {
        if (next->runs_once || !compares(program, next))
            continue;
        open = find_open(program, next->p1);
        if (open == NULL || is_in_loop(program, open))
            continue;
        *are_several = *are_several || found != NULL;
        found = open;
    }
    return *are_several ? NULL : found;
}

/* The loops over a b-tree of the table, and over values of IN around it. */
struct loops {
    int walk, walks; /* the address of the last Next or Prev, and how many there are */
    int lists, lists_begin, lists_end; /* where what all of these have inside begins and ends */
    bool are_known, lists_descend;
};

static struct loops find_loops(const struct clr_bytecode *program)
{
    struct loops loops = {.walk = -1, .lists_end = program->count, .are_known = true};
    int i;

    for (i = 0; i < program->count; i++) {
        const struct clr_vdbe_op *operation = &program->operations[i], *open;
        const bool descends = clr_vdbe_op_is(operation, "Prev");

        if (operation->runs_once)
            continue;
        if (CLR_VDBE_OP_IN(operation, "InitCoroutine", "OpenAutoindex", "OpenDup", "Program",
                           "RowSetRead", "RowSetTest", "VNext", "VOpen"))
            loops.are_known = false;
        if (!descends && !clr_vdbe_op_is(operation, "Next"))
            continue;
        open = find_open(program, operation->p1);
        if (open != NULL && is_in_loop(program, open))
            continue;
        if (is_of_table(program, open)) {
            loops.walk = i;
            loops.walks++;
        } else if (is_list(open)) {
            loops.lists++;
            if (operation->p2 > loops.lists_begin)
                loops.lists_begin = operation->p2;
            if (i < loops.lists_end)
                loops.lists_end = i;
            loops.lists_descend = loops.lists_descend || descends;
        } else if (!is_of_result(open) || !is_sorted(program, operation->p1)) {
            loops.are_known = false;
        }
    }
    return loops;
}

/* Whether an operation leads to the next different value of an index's first columns, which are
   gone over in order, from one end on, where a search asks for others: a skip-scan
   (https://sqlite.org/optoverview.html). */
static bool skips(const struct clr_bytecode *program, const struct clr_vdbe_op *operation)
{
    return operation - program->operations > 1 && clr_vdbe_op_is(operation - 1, "Goto") &&
           operation[-2].p1 == operation->p1 && CLR_VDBE_OP_IN(operation - 2, "Rewind", "Last");
}

/* Counts the searches in b-trees of the table but for those within a loop, in which each row's
   others are looked up, and those that skip; stores the address of the last one. */
static int count_searches(const struct clr_bytecode *program, const struct clr_vdbe_op *loop,
                          int *search)
{
    int i, count = 0;

    for (i = 0; i < program->count; i++) {
        const struct clr_vdbe_op *operation = &program->operations[i];
        const bool is_inside = loop != NULL && i >= loop->p2 && operation < loop;

        if (operation->runs_once || is_inside || !CLR_VDBE_OP_IN(operation, CLR_VDBE_SEARCHES) ||
            skips(program, operation) || !is_of_table(program, find_open(program, operation->p1)))
            continue;
        *search = i;
        count++;
    }
    return count;
}

static bool has(const struct clr_bytecode *program, const char *opcode)
{
    const struct clr_vdbe_op *operation = NULL;

    do
        operation = CLR_BYTECODE_NEXT(program, operation, opcode);
    while (operation != NULL && operation->runs_once);
    return operation != NULL;
}

static bool finds_values(const struct clr_bytecode *program)
{
    const struct clr_vdbe_op *operation = NULL;

    do
        operation = CLR_BYTECODE_NEXT(program, operation, "Found");
    while (operation != NULL &&
           (operation->runs_once || !is_of_result(find_open(program, operation->p1))));
    return operation != NULL;
}

/* Whether a program may end by LIMIT before all rows were gone over. */
static bool has_early_limit(const struct clr_bytecode *program)
{
    return has(program, "DecrJumpZero") && !has(program, "Sort") && !has(program, "SorterSort");
}

/* Whether a loop ends before its last row: where the first one is min() or max(), the operation
   before its end leaves it. */
static bool ends_early(const struct clr_bytecode *program, int loop)
{
    const struct clr_vdbe_op *last = &program->operations[loop - 1];

    return (clr_vdbe_op_is(last, "Goto") && last->p2 > loop) || has_early_limit(program);
}

/* Where a b-tree is gone over: from one end on, or from where a search leads, and without a loop
   to the one row there. */
struct clr_walk clr_bytecode_walk(const struct clr_bytecode *program)
{
    const struct loops loops = find_loops(program);
    struct clr_walk walk = {.kind = CLR_WALK_UNKNOWN,
                            .has_lists = loops.lists > 0,
                            .ends_early = has_early_limit(program)};
    const struct clr_vdbe_op *next = loops.walks == 0 ? NULL : &program->operations[loops.walk];
    int search = 0, searches = count_searches(program, next, &search), first;
    bool are_several;

    walk.sorter = find_sorter(program, &are_several);
    walk.has_sorter = walk.sorter != NULL;
    walk.finds_values = finds_values(program);
    first = next == NULL ? search : next->p2;
    if (!loops.are_known || are_several || loops.walks > 1 || searches > 1 ||
        loops.walks + searches == 0 || loops.lists_descend || first < loops.lists_begin ||
        first >= loops.lists_end || (next != NULL && first >= loops.walk))
        return walk;
    walk.kind = next == NULL && loops.lists == 0 ? CLR_WALK_ONE : CLR_WALK_TREE;
    walk.tree = clr_vdbe_op_tree(
        find_open(program, program->operations[next == NULL ? search : loops.walk].p1));
    /* What is looked up for groups, by a correlated subquery, is no search for where they begin. */
    walk.is_whole = searches == 0 || (next != NULL && program->operations[search].p1 != next->p1);
    if (next != NULL) {
        walk.descends = clr_vdbe_op_is(next, "Prev");
        walk.ends_early = ends_early(program, loops.walk);
    }
    return walk;
}

/* The loops of a join are in each other, and the outermost one is where a cursor is placed first:
   returns that operation, and stores what has opened the cursor. NULL: that is not known. */
static const struct clr_vdbe_op *find_outermost(const struct clr_bytecode *program,
                                                const struct loops *loops,
                                                const struct clr_vdbe_op **open)
{
    const struct clr_vdbe_op *first = NULL;

    do {
        first = CLR_BYTECODE_NEXT(program, first, "Rewind", "Last", CLR_VDBE_SEARCHES);
        *open = first == NULL ? NULL : find_open(program, first->p1);
    } while (first != NULL && (first->runs_once || !is_of_table(program, *open)));
    return loops->are_known ? first : NULL;
}

/* Whether an operation stands before all loops over the values of IN. */
static bool is_before_lists(const struct clr_bytecode *program, const struct loops *loops,
                            const struct clr_vdbe_op *operation)
{
    return loops->lists == 0 || operation - program->operations < loops->lists_begin;
}

int64_t clr_bytecode_outermost_tree(const struct clr_bytecode *program)
{
    const struct loops loops = find_loops(program);
    const struct clr_vdbe_op *open, *first = find_outermost(program, &loops, &open);

    return first != NULL && clr_vdbe_op_is(first, "Rewind") &&
                   is_before_lists(program, &loops, first)
               ? clr_vdbe_op_tree(open)
               : 0;
}

bool clr_bytecode_join_in_order(const struct clr_bytecode *program, int64_t tree, bool are_listed)
{
    const struct loops loops = find_loops(program);
    const struct clr_vdbe_op *open, *first = find_outermost(program, &loops, &open);
    int place;

    if (!are_listed)
        return tree != 0 && clr_bytecode_outermost_tree(program) == tree;
    if (first == NULL || clr_vdbe_op_tree(open) != tree)
        return false;
    place = (int)(first - program->operations);
    return (clr_vdbe_op_is(first, "SeekRowid") || clr_vdbe_op_is(first, "NotExists")) &&
           loops.lists == 1 && !loops.lists_descend && place >= loops.lists_begin &&
           place < loops.lists_end;
}

int64_t clr_bytecode_grouping_tree(const struct clr_bytecode *program)
{
    const struct loops loops = find_loops(program);
    const struct clr_vdbe_op *open, *first = find_outermost(program, &loops, &open);
    const struct clr_vdbe_op *next = NULL;
    bool are_several;

    if (first == NULL || !CLR_VDBE_OP_IN(first, "Rewind", "SeekGE", "SeekGT") ||
        !is_before_lists(program, &loops, first) || find_sorter(program, &are_several) != NULL ||
        are_several)
        return 0;
    do
        next = CLR_BYTECODE_NEXT(program, next, "Next");
    while (next != NULL && (next->p1 != first->p1 || !compares(program, next)));
    return next != NULL ? clr_vdbe_op_tree(open) : 0;
}

/* Returns the loop around an operation in which a list's values are gone over from the least one
   on, if it is the only loop around it that no coroutine has; else NULL. */
static const struct clr_vdbe_op *find_list_loop(const struct clr_bytecode *program,
                                                const struct clr_vdbe_op *operation)
{
    const int address = (int)(operation - program->operations);
    const struct clr_vdbe_op *found = NULL, *next = operation;

    while ((next = CLR_BYTECODE_NEXT(program, next, "Next", "Prev")) != NULL) {
        if (next->p2 > address)
            continue;
        if (found != NULL || clr_vdbe_op_is(next, "Prev") || !is_list(find_open(program, next->p1)))
            return NULL;
        found = next;
    }
    return found;
}

bool clr_bytecode_feeds_in_order(const struct clr_bytecode *program, int64_t tree, bool are_listed)
{
    const struct clr_vdbe_op *open = NULL, *place = NULL, *operation = NULL;

    while ((operation = CLR_BYTECODE_NEXT(program, operation, "OpenRead")) != NULL) {
        if (open != NULL || operation->runs_once || clr_vdbe_op_tree(operation) != tree)
            return false;
        open = operation;
    }
    while ((operation = CLR_BYTECODE_NEXT(program, operation, "Rewind", "Last", "Prev",
                                          CLR_VDBE_SEARCHES)) != NULL) {
        if (open == NULL || operation->p1 != open->p1)
            continue;
        if (place != NULL)
            return false;
        place = operation;
    }
    if (place == NULL)
        return false;
    if (!are_listed)
        return clr_vdbe_op_is(place, "Rewind");
    return (clr_vdbe_op_is(place, "SeekRowid") || clr_vdbe_op_is(place, "NotExists")) &&
           find_list_loop(program, place) != NULL;
}

int64_t clr_bytecode_feeding_index(const struct clr_bytecode *program, int64_t tree)
{
    const struct clr_vdbe_op *index = NULL, *operation = NULL;
    int table = -1, rewinds = 0;

    while ((operation = CLR_BYTECODE_NEXT(program, operation, "OpenRead")) != NULL) {
        if (operation->runs_once)
            return 0;
        if (clr_vdbe_op_tree(operation) == tree && table < 0)
            table = operation->p1;
        else if (clr_vdbe_op_tree(operation) != tree && index == NULL)
            index = operation;
        else
            return 0;
    }
    if (index == NULL)
        return 0;
    while ((operation = CLR_BYTECODE_NEXT(program, operation, "Rewind", "Last", "Prev",
                                          CLR_VDBE_SEARCHES)) != NULL) {
        if (operation->p1 != index->p1 && operation->p1 != table)
            continue;
        if (!clr_vdbe_op_is(operation, "Rewind") || operation->p1 == table)
            return 0;
        rewinds++;
    }
    return rewinds == 1 ? clr_vdbe_op_tree(index) : 0;
}

bool clr_bytecode_leaves_loops(const struct clr_bytecode *program)
{
    int last = 0, i;

    for (i = 0; i < program->count; i++) {
        if (clr_vdbe_op_is(&program->operations[i], "Next"))
            last = i;
    }
    for (i = 0; i < last; i++) {
        if (clr_vdbe_op_is(&program->operations[i], "Goto") && program->operations[i].p2 > last)
            return true;
    }
    return false;
}

bool clr_bytecode_repeats_walks(const struct clr_bytecode *program)
{
    const struct clr_vdbe_op *open, *operation = NULL;

    while ((operation = CLR_BYTECODE_NEXT(program, operation, "Rewind", "Last")) != NULL) {
        open = find_open(program, operation->p1);
        if (!operation->runs_once && open != NULL && clr_vdbe_op_is(open, "OpenRead"))
            return true;
    }
    return false;
}
