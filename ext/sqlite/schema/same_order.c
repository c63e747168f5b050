#include "sqlite/schema/same_order.h"

#include "sqlite/schema/bytecode.h"

#include <stdlib.h>
#include <string.h>

/* The b-trees that programs open, by their databases and root pages. What sorts has none: sorters,
   and ephemeral tables of keys, are 0, and indexes for a run -1. */
struct trees {
    int count;
    int64_t *list;
};

static int compare_trees(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Adds the b-trees of a program. Returns SQLITE_OK or SQLITE_NOMEM. */
static int add_trees(const struct clr_bytecode *program, struct trees *trees)
{
    int64_t *grown;
    int i;

    grown = sqlite3_realloc64(trees->list,
                              (sqlite3_uint64)(trees->count + program->count + 1) * sizeof *grown);
    for (i = 0; i < program->count && grown != NULL; i++) {
        const struct clr_vdbe_op *operation = &program->operations[i];

        if (clr_vdbe_op_is(operation, "OpenRead") || clr_vdbe_op_is(operation, "ReopenIdx"))
            grown[trees->count++] = ((int64_t)operation->p3 << 32) + operation->p2;
        else if (clr_vdbe_op_is(operation, "OpenAutoindex"))
            grown[trees->count++] = -1;
        else if (clr_vdbe_op_is(operation, "SorterOpen") ||
                 (clr_vdbe_op_is(operation, "OpenEphemeral") && operation->p4[0] == 'k'))
            grown[trees->count++] = 0;
    }
    if (grown != NULL)
        trees->list = grown;
    return grown == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static bool are_equal(struct trees *a, struct trees *b)
{
    if (a->count != b->count)
        return false;
    qsort(a->list, (size_t)a->count, sizeof *a->list, compare_trees);
    qsort(b->list, (size_t)b->count, sizeof *b->list, compare_trees);
    return memcmp(a->list, b->list, (size_t)a->count * sizeof *a->list) == 0;
}

/* Returns the number of the next permutation from one on, by which a compound's rows are compared:
   it is which columns the terms of its ORDER BY are. */
static int next_permutation(const struct clr_bytecode *program, int at)
{
    while (at < program->count && !clr_vdbe_op_is(&program->operations[at], "Permutation"))
        at++;
    return at;
}

/* Whether the names in compounds' ORDER BY are those of the same columns: a name that is none of an
   arm's columns may be a column of its table. */
static bool are_ordered_alike(const struct clr_bytecode *a, const struct clr_bytecode *b)
{
    int i = next_permutation(a, 0), k = next_permutation(b, 0);

    while (i < a->count && k < b->count && strcmp(a->operations[i].p4, b->operations[k].p4) == 0) {
        i = next_permutation(a, i + 1);
        k = next_permutation(b, k + 1);
    }
    return i >= a->count && k >= b->count;
}

/* Whether a program reads all columns of the virtual tables, and those that the statement's own
   does: from 3.39 on SQLite has NULLs in the place of a subquery's columns that nothing reads,
   unless that groups, and an automatic index is in the order of such a column, too. */
static bool are_all_read(int columns, const struct clr_bytecode *plain,
                         const struct clr_bytecode *other)
{
    return clr_bytecode_count(other, "VColumn") >= clr_bytecode_count(plain, "VColumn") + columns;
}

int clr_same_order(sqlite3 *db, const char *plain, const char *changed,
                   const struct clr_replaced *replaced)
{
    struct trees before = {.list = NULL}, after = {.list = NULL};
    struct clr_bytecode program = {.count = 0}, other = {.count = 0}, own;
    int rc = clr_bytecode_read(db, &program, "%s", plain), i;

    if (rc == SQLITE_OK)
        rc = clr_bytecode_read(db, &other, "%s", changed);
    if (rc == SQLITE_OK)
        rc = add_trees(&program, &before);
    if (rc == SQLITE_OK)
        rc = add_trees(&other, &after);
    for (i = 0; i < replaced->count && rc == SQLITE_OK; i++) {
        rc = clr_bytecode_read(db, &own, "%s", replaced->selects[i]);
        if (rc == SQLITE_OK)
            rc = add_trees(&own, &after);
        clr_bytecode_free(&own);
    }
    if (rc == SQLITE_OK &&
        (!are_equal(&before, &after) ||
         (replaced->are_joined && !(are_all_read(replaced->columns, &program, &other) &&
                                    clr_bytecode_joins_alike(&program, &other))) ||
         (replaced->are_named && !are_ordered_alike(&program, &other)) ||
         (replaced->are_sets && !clr_bytecode_sets_are_binary(&program))))
        rc = SQLITE_NOTFOUND;
    clr_bytecode_free(&program);
    clr_bytecode_free(&other);
    sqlite3_free(before.list);
    sqlite3_free(after.list);
    return rc == SQLITE_OK || rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}
